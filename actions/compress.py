"""``compress``: keep the mutually supporting snippets for the final answer."""

from __future__ import annotations

from ..generation.tasks import CompressTask
from .operation import Operation, Process
from .state import EvidenceState


class Compress(Operation):
    """Ask the generator for the snippets that the answer needs.

    Args:
        in_control: let a controller pick it, once; the paper runs it after acquisition only, and so does the default.
        max_snippets: most snippets to keep (paper: 8; 12 for MuSiQue).
        max_tokens: most tokens they may have together (paper: 256; 384 for MuSiQue).
    """

    name = "compress"

    def __init__(self, in_control: bool = False, max_snippets: int = 8, max_tokens: int = 256) -> None:
        self.in_control = in_control
        self.max_snippets = max_snippets
        self.max_tokens = max_tokens

    def valid(self, state: EvidenceState) -> bool:
        """Valid once, when evidence exists, and only where a controller may pick it."""
        return self.in_control and bool(state.held) and state.snippets is None

    def run(self, state: EvidenceState) -> Process:
        """Compress the context."""
        made = yield CompressTask(state.question.text, state.context, self.max_snippets, self.max_tokens)
        return state.changed(snippets=made.snippets, compressed_version=state.evidence_version)
