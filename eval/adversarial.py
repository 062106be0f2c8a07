"""How retrieval bears misleading passages: scores of each question's best passages, compared pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.adversarial import Injection, gold_passages
from ..data.answer_scores import exact_match, token_f1
from ..data.errors import ConfigError
from ..data.records import Record
from ..generation.base import Generator
from ..generation.tasks import Answer, AnswerTask
from ..retrieval.base import Hit, Retriever
from .statistics import Interval, bootstrap_columns, holm, sign_flip_p

K = 5
METRICS = ("precision", "ndcg", "mrr", "adversarial")
"""Precision@5, NDCG@5, reciprocal rank of the first gold passage among five, share of the five that is misleading."""
ANSWERS = ("f1", "em", "misled")
"""Token F1 and exact match with the references, and whether the answer is a false one that was planted."""
_BATCH = 64


class Difference(NamedTuple):
    """One metric of a system against a reference, question by question.

    Attributes:
        reference: mean of the reference.
        system: mean of the system.
        difference: system minus reference, with its paired bootstrap interval.
        p: two-sided p value of a paired permutation test.
        adjusted: p adjusted by Holm's procedure over all metrics and systems that were compared.
        more: questions on which the system's value is higher.
        less: questions on which it is lower.
    """

    reference: float
    system: float
    difference: Interval
    p: float
    adjusted: float
    more: int
    less: int


def hit_scores(hits: Sequence[Hit], gold: AbstractSet[str], adversarial: AbstractSet[str]) -> tuple[float, ...]:
    """Return the ``METRICS`` of one ranking, each in [0, 1]; of longer ones the best five count.

    Relevance is binary, and by passage id, since misleading passages share titles with gold ones. Places that the
    ranking leaves empty count as irrelevant and not misleading.

    Args:
        hits: best first.
        gold: ids of the gold passages, at least one.
        adversarial: ids of the misleading ones.

    Raises:
        ConfigError: if there is no gold passage.
    """
    if not gold:
        raise ConfigError("a ranking is scored against at least one gold passage, found none: leave the question out")
    found = [hit.passage.id in gold for hit in hits[:K]]
    ideal = sum(_gain(rank) for rank in range(min(K, len(gold))))
    ndcg = sum(_gain(rank) for rank, right in enumerate(found) if right) / ideal
    first = next((1 / (rank + 1) for rank, right in enumerate(found) if right), 0.0)
    return sum(found) / K, ndcg, first, sum(hit.passage.id in adversarial for hit in hits[:K]) / K


def _gain(rank: int) -> float:
    return 1 / log2(rank + 2)


def best_hits(retriever: Retriever, records: Sequence[Record]) -> list[list[Hit]]:
    """Return the best five passages for each question as it is asked."""
    found: list[list[Hit]] = []
    size = min(_BATCH, retriever.max_batch or _BATCH)
    for first in range(0, len(records), size):
        batch = [record.question for record in records[first : first + size]]
        found += retriever.search([question.text for question in batch], K, [question.key for question in batch])
    return found


def measured(found: Sequence[Sequence[Hit]], records: Sequence[Record], injection: Injection) -> NDArray[np.float64]:
    """Return (questions, metrics) float64, the ``METRICS`` of each question's ranking.

    Raises:
        ConfigError: if a question has no gold passage among its own.
    """
    gold = [{passage.id for passage in gold_passages(record)} for record in records]
    rows = [hit_scores(hits, own, injection.adversarial) for hits, own in zip(found, gold, strict=True)]
    return np.array(rows, np.float64).reshape(len(records), len(METRICS))


def answered(
    found: Sequence[Sequence[Hit]], records: Sequence[Record], injection: Injection, generator: Generator
) -> NDArray[np.float64]:
    """Return (questions, 3) float64, the ``ANSWERS`` of a generator that reads each question's five best passages."""
    tasks = [
        AnswerTask(record.question.text, tuple(hit.passage for hit in hits))
        for record, hits in zip(records, found, strict=True)
    ]
    size = min(_BATCH, generator.max_batch or _BATCH)
    given = [answer for i in range(0, len(tasks), size) for answer in generator.answer(tasks[i : i + size])]
    texts = [answer.text if isinstance(answer, Answer) else "" for answer in given]
    rows = [_answer_scores(text, record, injection) for text, record in zip(texts, records, strict=True)]
    return np.array(rows, np.float64).reshape(len(records), len(ANSWERS))


def _answer_scores(text: str, record: Record, injection: Injection) -> tuple[float, float, float]:
    references = record.gold.references if record.gold is not None else ()
    planted = injection.planted.get(record.uid, ())
    misled = bool(planted) and bool(exact_match(text, planted)) and not exact_match(text, references)
    return token_f1(text, references), exact_match(text, references), float(misled)


def differences(
    reference: NDArray[np.float64],
    systems: Mapping[str, NDArray[np.float64]],
    metrics: Sequence[str] = METRICS,
    seed: int = 0,
) -> dict[str, dict[str, Difference]]:
    """Compare systems with a reference: system -> metric -> its difference.

    Args:
        reference: (questions, metrics).
        systems: name -> (questions, metrics), the same questions in the same order.
        metrics: names of the columns.
        seed: seed of bootstrap and permutations.

    Raises:
        ConfigError: if the shapes differ.
    """
    odd = [name for name, values in systems.items() if values.shape != reference.shape]
    if odd or reference.ndim != 2 or reference.shape[1] != len(metrics):
        raise ConfigError(f"expected {len(metrics)} columns over the same questions of {', '.join(odd) or 'all'}")
    if not systems:
        return {}
    apart = np.concatenate([values - reference for values in systems.values()], axis=1)
    intervals, p = bootstrap_columns(apart, seed), sign_flip_p(apart, seed)
    adjusted = holm(p)
    columns = iter(range(apart.shape[1]))
    made: dict[str, dict[str, Difference]] = {}
    for name, values in systems.items():
        made[name] = {}
        for place, metric in enumerate(metrics):
            at = next(columns)
            means = float(reference[:, place].mean()), float(values[:, place].mean())
            changed = int((apart[:, at] > 0).sum()), int((apart[:, at] < 0).sum())
            made[name][metric] = Difference(*means, intervals[at], p[at], adjusted[at], *changed)
    return made
