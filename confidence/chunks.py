"""The scored chunks of a calibration question: which document they come from, and how much of the answer they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..data.annotations import require_annotated
from ..data.records import Gold, Passage, Record
from ..data.support_scores import supports_held, supports_total
from ..retrieval.base import Hit, Retriever
from .base import EvaluateTask, Evaluator
from .rouge import rouge_l

T = TypeVar("T")
_BATCH = 256


@dataclass(frozen=True, slots=True)
class ScoredChunks:
    """The chunks that were retrieved for one question; the three tuples are parallel.

    Attributes:
        uid: the record's.
        scores: raw, higher is better.
        right: whether a chunk comes from a supporting document.
        overlaps: RougeL in [0, 1] with the reference answer, the best of its aliases.
    """

    uid: str
    scores: tuple[float, ...]
    right: tuple[bool, ...]
    overlaps: tuple[float, ...]

    def correct(self, least_overlap: float) -> tuple[bool, ...]:
        """Say of each chunk whether it comes from a right document and overlaps at least so much."""
        return tuple(right and overlap >= least_overlap for right, overlap in zip(self.right, self.overlaps))


def calibration_records(records: Iterable[Record]) -> list[Record]:
    """Return the questions that have a source document and a reference answer; unanswerable ones are left out.

    Raises:
        ConfigError: if a question has no gold.
    """
    listed = list(records)
    require_annotated(listed, "calibrate conformal confidence on")
    return [r for r in listed if r.gold is not None and r.gold.references and supports_total(r.gold)]


def search_chunks(records: Sequence[Record], retriever: Retriever, k: int) -> list[list[Hit]]:
    """Return at most ``k`` hits for each question, searched with its own text."""
    found: list[list[Hit]] = []
    for part in _batches(records, retriever.max_batch):
        texts, pools = [r.question.text for r in part], [r.question.key for r in part]
        found += retriever.search(texts, k, pools)
    return found


def retrieved_chunks(records: Sequence[Record], found: Iterable[Sequence[Hit]]) -> list[ScoredChunks]:
    """Return the chunks of each question with the retriever's scores."""
    return [
        scored_chunks(record, [hit.passage for hit in hits], [hit.score for hit in hits])
        for record, hits in zip(records, found, strict=True)
    ]


def evaluated_chunks(
    records: Sequence[Record], found: Sequence[Sequence[Hit]], evaluator: Evaluator
) -> list[ScoredChunks]:
    """Return the chunks of each question with an evaluator's scores, in [-1, 1]."""
    made: list[ScoredChunks] = []
    for part in _batches(list(zip(records, found, strict=True)), evaluator.max_batch):
        texts = [tuple(hit.passage for hit in hits) for _, hits in part]
        tasks = [EvaluateTask(r.question.text, r.question.key, own) for (r, _), own in zip(part, texts)]
        scores = evaluator.score(tasks)
        made += [scored_chunks(r, own, given) for (r, _), own, given in zip(part, texts, scores, strict=True)]
    return made


def scored_chunks(record: Record, passages: Sequence[Passage], scores: Sequence[float]) -> ScoredChunks:
    """Return the chunks of one question, which has gold."""
    gold = record.gold or Gold("", ())
    right = tuple(supports_held(gold, [passage]) > 0 for passage in passages)
    overlaps = tuple(max((rouge_l(p.text, a) for a in gold.references), default=0.0) for p in passages)
    return ScoredChunks(record.uid, tuple(map(float, scores)), right, overlaps)


def _batches(items: Sequence[T], limit: int | None) -> Iterable[Sequence[T]]:
    size = min(limit or _BATCH, _BATCH)
    return (items[first : first + size] for first in range(0, len(items), size))
