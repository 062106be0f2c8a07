"""Misleading passages: copies of gold passages that name something else, put into a corpus with types of source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import NamedTuple

from .errors import ConfigError
from .records import Gold, Passage, Record, content_hash
from .replacements import Replacements
from .text import content_words, name_spans

MISLEADING = ("ai_generated", "user_generated", "blog")
"""Types of source that misleading passages come from, in turn."""

TRUSTED: Mapping[str, int] = MappingProxyType(
    {"peer_reviewed": 2, "government": 3, "established_news": 5, "organization_report": 5}
)
"""Weights of the types of source that most genuine passages come from; an assumption."""

DOUBTED: Mapping[str, int] = MappingProxyType({"blog": 2, "user_generated": 2, "unknown": 1})
"""Weights of the types of low trust that the other genuine passages come from; an assumption."""


@dataclass(frozen=True)
class Injection:
    """A corpus with misleading passages in it.

    Attributes:
        passages: all of them, sorted by id.
        types: the type of source of each, by passage id.
        adversarial: ids of the misleading ones.
        planted: question uid -> what its misleading passages name in the place of the answer, one or more names.
    """

    passages: tuple[Passage, ...]
    types: Mapping[str, str]
    adversarial: frozenset[str]
    planted: Mapping[str, tuple[str, ...]]


def inject(
    passages: Iterable[Passage],
    records: Sequence[Record],
    seed: int,
    copies: int = 2,
    share: float = 1.0,
    borrowed: float = 0.5,
    doubted: float = 0.1,
) -> Injection:
    """Put misleading passages into a corpus; what is made of one question does not depend on the others.

    Of a sample of the questions, drawn by a hash, the gold passages are copied in turn, those that name the answer
    first, each round with another false answer. A copy ends with a sentence that holds words of the question and a
    false answer of the same kind (see ``replacements``), and has the false answer wherever the true one stood; where
    the true one stands in no gold passage (yes, no, a comparison), the last name of the passage is replaced.

    Args:
        passages: the genuine corpus.
        records: questions with gold; their passages are in the corpus.
        seed: seed of every choice.
        copies: misleading passages a question, at least 1.
        share: share of the questions that are attacked, in [0, 1].
        borrowed: share of the question's words that are not stop words and that a copy adds, in [0, 1]; the first ones.
        doubted: share of the genuine passages that come from a type of low trust, in [0, 1].

    Raises:
        ConfigError: if a number is out of range.
    """
    shares = share, borrowed, doubted
    if copies < 1 or not all(0 <= one <= 1 for one in shares):
        raise ConfigError(f"expected at least 1 copy and shares in [0, 1], found {copies} and {shares}")
    genuine = {passage.id: passage for passage in passages}
    names = Replacements(genuine[key] for key in sorted(genuine))
    # In the order of their ids, so that one copy of two questions has one type.
    attacked = [r for r in sorted(records, key=lambda r: r.uid) if _unit("attacked", r.uid, seed) < share]
    copied = [copy for record in attacked for copy in _copies(record, names, seed, copies, borrowed)]
    new = [copy for copy in copied if copy.passage.id not in genuine]
    both = genuine | {copy.passage.id: copy.passage for copy in new}
    types = {key: genuine_type(key, seed, doubted) for key in genuine}
    types |= {copy.passage.id: copy.kind for copy in reversed(new)}
    planted = {
        uid: tuple(dict.fromkeys(copy.false for copy in own)) for uid, own in groupby(new, lambda copy: copy.uid)
    }
    ordered = tuple(both[key] for key in sorted(both))
    return Injection(ordered, types, frozenset(both.keys() - genuine.keys()), planted)


def genuine_type(passage: str, seed: int, doubted: float = 0.1) -> str:
    """Return the type of source of a genuine passage, drawn by hashes of its id: see ``TRUSTED`` and ``DOUBTED``."""
    weights = DOUBTED if _unit("doubted", passage, seed) < doubted else TRUSTED
    point = _unit("genuine", passage, seed) * sum(weights.values())
    return next(kind for kind, bound in zip(weights, accumulate(weights.values())) if point < bound)


def gold_passages(record: Record) -> list[Passage]:
    """Return the gold passages among a question's own, in their order; by title only those of its own context."""
    if record.gold is None:
        return []
    gold = record.gold
    if gold.match_support_by == "title":
        return [passage for passage in record.context if passage.title in gold.support_titles]
    return [passage for passage in record.context if passage.id in gold.support_ids]


class _Copy(NamedTuple):
    uid: str
    false: str
    passage: Passage
    kind: str


def _copies(record: Record, names: Replacements, seed: int, count: int, borrowed: float) -> Iterator[_Copy]:
    """Yield copies of a question's gold passages; none where the corpus has no other name of the answer's kind."""
    gold, found = record.gold, gold_passages(record)
    if gold is None or not found:
        return
    own = sorted(found, key=lambda passage: not _named(gold.answers, passage))
    start = int(content_hash("misleading", str(seed), record.uid), 16)
    for number in range(count):
        false = _false_answer(record, gold, own, names, f"{seed} {record.uid} {number // len(own)}")
        if false:
            passage = _copy(record, gold, own[number % len(own)], false, borrowed)
            yield _Copy(record.uid, false, passage, MISLEADING[(start + number) % len(MISLEADING)])


def _named(answers: Sequence[str], passage: Passage) -> bool:
    return any(_pattern(answer).search(passage.text) for answer in answers)


def _false_answer(record: Record, gold: Gold, own: Sequence[Passage], names: Replacements, key: str) -> str:
    """Return what is named in the place of the answer; empty where the corpus has nothing of its kind."""
    true = gold.answers[0] if gold.answers and _named(gold.answers, own[0]) else _last_name(own[0])
    shown = "\n".join((record.question.text, *gold.answers, *(passage.title for passage in own)))
    return names.other(true, shown, key) if true else ""


def _last_name(passage: Passage) -> str:
    found = [name for sentence in passage.sentences for name in name_spans(sentence) if name not in passage.title]
    return found[-1] if found else ""


def _copy(record: Record, gold: Gold, passage: Passage, false: str, borrowed: float) -> Passage:
    """Return a gold passage that says something else, and ends with words of the question."""
    wrong = gold.answers if _named(gold.answers, passage) else tuple(filter(None, [_last_name(passage)]))
    sentences = list(passage.sentences)
    for true in sorted(wrong, key=lambda answer: (-len(answer), answer)):
        sentences = [_pattern(true).sub(lambda _: false, sentence) for sentence in sentences]
    asked = content_words(record.question.text)
    taken = " ".join(asked[: round(borrowed * len(asked))])
    return Passage.of(passage.title, (*sentences, f"On {taken}: {false}." if taken else f"{false}."))


def _pattern(name: str) -> re.Pattern[str]:
    """Return what finds a name as a whole; nothing for an empty one."""
    return re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)" if name.strip() else r"(?!)")


def _unit(purpose: str, key: str, seed: int) -> float:
    """Return a number in [0, 1) by a hash."""
    return int(content_hash(purpose, str(seed), key), 16) / (1 << 64)
