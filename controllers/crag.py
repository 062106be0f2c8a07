"""CRAG as a fixed pipeline: retrieve, judge and correct, answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.bounds import require_least
from .schedules import Columns, Schedule, Wish


class CRAGController(Schedule):
    """Runs ``retrieve_more``, then ``corrective_gate``, then stops.

    After *Corrective Retrieval Augmented Generation* (arXiv 2401.15884). Kept: one retrieval with the question, one
    judgement of it, and the correction that it asks for; nothing decides whether to do it or to go on. Simplified:

    1. The evaluator and the source of other documents are the task's, which all methods share.
    2. What the gate searches for elsewhere is said in :mod:`evidencegym.actions.corrective_gate`.
    3. With ``k`` above 1 the question's ranking is followed further before the gate, which the original does not do.

    Args:
        feature_names: names of the features.
        operations: names of the operation set, ``corrective_gate`` among them.
        k: retrievals before the gate, at least 1.

    Raises:
        ConfigError: if a feature or an operation is missing, or ``k`` is below 1.
    """

    needs = ("corrective_gate",)
    reads = ("retrievals", "count_corrective_gate")

    def __init__(self, feature_names: Sequence[str], operations: Sequence[str], k: int = 1) -> None:
        super().__init__(feature_names, operations)
        self.k = k
        require_least(self, "crag", k=1)

    def wishes(self, features: Columns) -> list[Wish]:
        """Want the retrievals, then the gate, once."""
        gated = features["count_corrective_gate"] > 0
        more = (features["retrievals"] < self.k) & ~gated
        return [Wish("retrieve_more", more), Wish("corrective_gate", ~gated & ~more), Wish("stop_answer")]
