"""The protocol that every evaluator follows, and the request that reaches it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..data.records import Passage
from .verdicts import Thresholds, Verdict


@dataclass(frozen=True, slots=True)
class EvaluateTask:
    """Score texts, documents or knowledge strips, for a question.

    Attributes:
        question: the question's text.
        pool: the question's key, for retrievers that hold one pool a question.
        texts: what to score; a strip is a passage with the title of its document and nothing but its own sentences.
        beside: the rest of the evidence, for evaluators that look for links to it; the paper's sees question and text
            alone.
    """

    question: str
    pool: str
    texts: tuple[Passage, ...]
    beside: tuple[Passage, ...] = ()


class Evaluation(NamedTuple):
    """What came of it.

    Attributes:
        scores: one for each text, in [-1, 1].
        verdict: by the evaluator's thresholds, on the texts together.
    """

    scores: tuple[float, ...]
    verdict: Verdict


class Evaluator(ABC):
    """Scores texts for a question; it sees what a state may hold, never gold.

    Attributes:
        concurrency: as a retriever's.
        max_batch: as a retriever's.
        thresholds: what its verdicts hang on; None where it was not calibrated.
    """

    concurrency: int = 0
    max_batch: int | None = None
    thresholds: Thresholds | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that can change a score or a verdict, thresholds included."""

    @abstractmethod
    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        """Return, for each task, one score in [-1, 1] for each of its texts; it depends on nothing but that task."""
