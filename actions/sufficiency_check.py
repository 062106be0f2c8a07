"""``sufficiency_check``: ask whether the evidence answers the question."""

from __future__ import annotations

from ..generation.tasks import JudgeTask
from .operation import Operation, Process
from .state import EvidenceState


class SufficiencyCheck(Operation):
    """Ask the generator for a verdict; if the evidence does not suffice, record what is missing."""

    name = "sufficiency_check"

    def valid(self, state: EvidenceState) -> bool:
        """Evidence exists, and it changed since the last probe."""
        return bool(state.held) and state.probed_version != state.evidence_version

    def run(self, state: EvidenceState) -> Process:
        """Probe the evidence."""
        verdict = yield JudgeTask(state.question.text, state.context)
        return state.changed(
            gap="" if verdict.sufficient else verdict.missing,
            sufficient=verdict.sufficient,
            sufficiency=verdict.probability,
            probed_version=state.evidence_version,
        )
