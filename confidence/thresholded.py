"""An evaluator whose verdicts hang on thresholds that are given, not on its own."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.records import content_hash
from .base import EvaluateTask, Evaluator
from .verdicts import Thresholds


class ThresholdedEvaluator(Evaluator):
    """Scores as another evaluator does.

    Args:
        base: gives the scores.
        thresholds: the verdicts hang on these.
    """

    def __init__(self, base: Evaluator, thresholds: Thresholds) -> None:
        self.base = base
        self.thresholds = thresholds
        self.concurrency, self.max_batch = base.concurrency, base.max_batch

    @property
    def fingerprint(self) -> str:
        """A hash of evaluator and thresholds."""
        return content_hash("thresholds", self.base.fingerprint, repr(tuple(self.thresholds or ())))

    def score(self, tasks: Sequence[EvaluateTask]) -> list[tuple[float, ...]]:
        """Return the other's scores."""
        return self.base.score(tasks)
