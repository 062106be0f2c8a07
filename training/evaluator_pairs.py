"""Pairs of question and passage that an evaluator is trained on, labelled from gold support."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..data.errors import ConfigError
from ..data.records import Passage, Record, content_hash
from ..data.support_scores import supports_held

RELEVANT, IRRELEVANT = 1.0, -1.0
"""The labels of CRAG's regression (``train_evaluator.py``)."""


class Pair(NamedTuple):
    """A question, a passage, and whether it supports the answer: 1 or -1."""

    question: str
    passage: Passage
    label: float


def support_pairs(records: Iterable[Record], negatives: int = 0, seed: int = 0) -> list[Pair]:
    """Return pairs of each question with the passages of its own context, without repetition.

    A passage that the gold names as support is relevant: by its title in HotpotQA and 2WikiMultiHopQA, by its id in
    MuSiQue, and in PopQA if its title is that of the question's subject (CRAG's rule). All others are irrelevant, which
    some of them only are for lack of annotation.

    Args:
        records: questions with gold and context; the order of the pairs is theirs, and that of the context.
        negatives: at most so many irrelevant passages a question, drawn without replacement by a generator of the
            question's own, so that one question's draw does not depend on the others; 0 takes all, as CRAG does.
        seed: seed of the draws.

    Raises:
        ConfigError: if ``negatives`` is below 0, or one of the two labels does not occur.
    """
    if negatives < 0:
        raise ConfigError(f"negatives must be at least 0, which takes all, found {negatives}")
    pairs = [pair for record in records for pair in _pairs(record, negatives, seed)]
    relevant = sum(pair.label == RELEVANT for pair in pairs)
    if not 0 < relevant < len(pairs):
        raise ConfigError(
            "expected questions with gold whose contexts hold supporting and other passages, found "
            f"{relevant} supporting and {len(pairs) - relevant} other ones"
        )
    return pairs


def pairs_hash(pairs: Iterable[Pair]) -> str:
    """Return a hash of pairs in their order, sentences as they are cut included."""
    return content_hash(*(repr((p.question, p.passage.title, p.passage.sentences, p.label)) for p in pairs))


def _pairs(record: Record, negatives: int, seed: int) -> list[Pair]:
    passages = list(dict.fromkeys(record.context))
    relevant = [_relevant(record, passage) for passage in passages]
    kept = _kept(relevant, negatives, record, seed)
    labels = [RELEVANT if found else IRRELEVANT for found in relevant]
    return [Pair(record.question.text, passages[place], labels[place]) for place in kept]


def _relevant(record: Record, passage: Passage) -> bool:
    return record.gold is not None and supports_held(record.gold, (passage,)) > 0


def _kept(relevant: Sequence[bool], negatives: int, record: Record, seed: int) -> list[int]:
    if record.gold is None:
        return []
    others = [place for place, found in enumerate(relevant) if not found]
    if negatives and len(others) > negatives:
        rng = np.random.default_rng([seed, int(content_hash("negatives", record.question.key), 16)])
        others = [int(place) for place in rng.choice(others, negatives, replace=False)]
    return sorted([place for place, found in enumerate(relevant) if found] + others)
