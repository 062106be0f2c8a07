"""How the evidence overlaps with the question, and how its passages refer to one another."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..actions.bridge import passage_names
from ..actions.state import EvidenceState
from ..data.records import Passage
from ..data.text import normalise_title, spaced, words
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


class _Bag(NamedTuple):
    vocabulary: frozenset[str]
    spaced: str
    length: int
    title: str
    names: frozenset[str]


@lru_cache(maxsize=100_000)
def _bag(passage: Passage) -> _Bag:
    tokens = words(f"{passage.title} . {passage.text}")
    names = frozenset(normalise_title(name) for name in passage_names(passage))
    title = normalise_title(passage.title.split(" (")[0])
    return _Bag(frozenset(tokens), f" {' '.join(tokens)} ", len(tokens), title, names)


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
    shape = question_shape(state.question.text)
    bags = [_bag(passage) for passage in state.passages]
    n = max(1, len(shape.content))
    per_passage = [sum(word in bag.vocabulary for word in shape.content) / n for bag in bags]
    covered = sum(any(word in bag.vocabulary for bag in bags) for word in shape.content)
    asked = spaced(state.question.text)
    titles = {bag.title for bag in bags}
    names = [spaced(name) for name in shape.names]
    return Overlap(
        covered=covered / n,
        uncovered=len(shape.content) - covered,
        best=max(per_passage, default=0.0),
        mean=sum(per_passage) / max(1, len(per_passage)),
        newest=max(per_passage[len(per_passage) - state.newest :], default=0.0),
        names_held=sum(normalise_title(name) in titles for name in shape.names),
        names_missing=sum(not any(name in bag.spaced for bag in bags) for name in names),
        links=sum(any(t in bag.names for bag in bags if bag.title != t) for t in titles),
        titles_asked=sum(spaced(t) in asked for t in titles if t),
        titles=len(titles),
        words=sum(bag.length for bag in bags),
        candidate=_candidate_share(state),
    )


def _candidate_share(state: EvidenceState) -> float:
    name = state.next_candidate
    if not name:
        return 0.0
    return max((_mention_share(state.question.text, passage, name) for passage in state.passages), default=0.0)
