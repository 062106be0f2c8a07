"""How the evidence overlaps with the question, and how its passages refer to one another.

A passage is read once a question, and what passages show together is kept: a state costs what its last arrival added.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from ..actions.bridge import passage_names
from ..actions.state import EvidenceState
from ..data.records import Passage
from ..data.text import normalise_title, spaced, subject_of, words
from .question_shape import question_shape


class Overlap(NamedTuple):
    """Overlap of question and evidence.

    Attributes:
        covered: share of the question's content words that stand in the evidence.
        uncovered: number of those that do not.
        best: largest share in one passage.
        mean: mean share in a passage.
        newest: largest share in a passage of the last arrival.
        names_held: names of the question that are titles held.
        names_missing: names of the question that stand nowhere in the evidence.
        links: titles held that another held passage mentions.
        titles_asked: titles held that the question mentions.
        titles: distinct titles held.
        words: words in the evidence.
        candidate: share of the content words in the best sentence that mentions the next candidate.
    """

    covered: float
    uncovered: int
    best: float
    mean: float
    newest: float
    names_held: int
    names_missing: int
    links: int
    titles_asked: int
    titles: int
    words: int
    candidate: float


class _Sight(NamedTuple):
    """What one passage shows of a question; the question's words and names are bits, numbered in its own order."""

    covered: int
    titled: int
    named: int
    share: float
    title: str
    title_asked: bool
    mentions: frozenset[str]
    length: int


class _Evidence(NamedTuple):
    """What passages show together; ``mentions`` leaves out a passage's mention of its own title."""

    covered: int = 0
    titled: int = 0
    named: int = 0
    shares: tuple[float, ...] = ()
    titles: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    titles_asked: int = 0
    mentions: tuple[frozenset[str], ...] = ()
    length: int = 0

    def joined(self, new: _Sight) -> _Evidence:
        """Return what these passages and a new one show."""
        title = new.title
        linked = self.linked | (self.titles & new.mentions)
        if title not in linked and any(title in mentions for mentions in self.mentions):
            linked |= {title}
        return _Evidence(
            self.covered | new.covered,
            self.titled | new.titled,
            self.named | new.named,
            (*self.shares, new.share),
            self.titles | {title},
            linked,
            self.titles_asked + (new.title_asked and title not in self.titles),
            (*self.mentions, new.mentions),
            self.length + new.length,
        )


@lru_cache(maxsize=100_000)
def _sight(question: str, passage: Passage) -> _Sight:
    shape = question_shape(question)
    tokens = words(f"{passage.title} . {passage.text}")
    vocabulary, text = frozenset(tokens), f" {' '.join(tokens)} "
    covered = [word in vocabulary for word in shape.content]
    title = normalise_title(subject_of(passage.title))
    return _Sight(
        covered=_bits(covered),
        titled=_bits([normalise_title(name) == title for name in shape.names]),
        named=_bits([spaced(name) in text for name in shape.names]),
        share=sum(covered) / max(1, len(covered)),
        title=title,
        title_asked=bool(title) and spaced(title) in spaced(question),
        mentions=frozenset(map(normalise_title, passage_names(passage))) - {title},
        length=len(tokens),
    )


def _bits(flags: list[bool]) -> int:
    return sum(flag << place for place, flag in enumerate(flags))


_KEPT = 10_000
_kept: dict[tuple[str, tuple[Passage, ...]], _Evidence] = {}


def _evidence(question: str, passages: tuple[Passage, ...], newest: int) -> _Evidence:
    """Return what ``passages`` show; the last ``newest`` are added to what was kept of those before them."""
    found = _kept.get((question, passages))
    if found is None:
        earlier = passages[: len(passages) - newest]
        start = _kept.get((question, earlier))
        found = _Evidence() if start is None else start
        for passage in passages if start is None else passages[len(earlier) :]:
            found = found.joined(_sight(question, passage))
        if len(_kept) >= _KEPT:
            _kept.clear()
        _kept[question, passages] = found
    return found


def forget_evidence() -> None:
    """Drop what was kept of passages held together; no result depends on it, only how long it takes."""
    _kept.clear()


@lru_cache(maxsize=200_000)
def _mention_share(question: str, passage: Passage, name: str) -> float:
    """Return the share of the question's content words in the best sentence that mentions ``name``."""
    content = question_shape(question).content
    shares = [
        sum(word in tokens for word in content) / max(1, len(content))
        for sentence in passage.sentences
        if name in sentence
        for tokens in [set(words(sentence))]
    ]
    return max(shares, default=0.0)


def overlap(state: EvidenceState) -> Overlap:
    """Return the overlap of a state's question and held passages."""
    question, passages = state.question.text, state.passages
    shape = question_shape(question)
    known = _evidence(question, passages, state.newest)
    n, covered, shares = len(shape.content), known.covered.bit_count(), known.shares
    name = state.next_candidate
    sentences = map(_mention_share, repeat(question), passages, repeat(name)) if name else ()
    return Overlap(
        covered / max(1, n),
        n - covered,
        max(shares, default=0.0),
        sum(shares) / max(1, len(shares)),
        max(shares[len(shares) - state.newest :], default=0.0),
        known.titled.bit_count(),
        len(shape.names) - known.named.bit_count(),
        len(known.linked),
        known.titles_asked,
        len(known.titles),
        known.length,
        max(sentences, default=0.0),
    )
