"""``compress``: keep the mutually supporting snippets for the final answer."""

from __future__ import annotations

from collections.abc import Sequence

from ..confidence.refinement import RefinementSettings, filtered, strips_task
from ..confidence.strips import Strip
from ..data.text import words
from ..generation.tasks import CompressTask, Snippet
from .operation import Operation, Process
from .state import EvidenceState


class Compress(Operation):
    """Ask the generator for the snippets that the answer needs, or let the evaluator choose strips.

    Args:
        in_control: let a controller pick it, once; the paper runs it after acquisition only, and so does the default.
        max_snippets: most snippets to keep (paper: 8; 12 for MuSiQue).
        max_tokens: most tokens they may have together (paper: 256; 384 for MuSiQue).
        strips: how the evaluator's strips are made and filtered; None to ask the generator, as the paper does.
    """

    name = "compress"

    def __init__(
        self,
        in_control: bool = False,
        max_snippets: int = 8,
        max_tokens: int = 256,
        strips: RefinementSettings | None = None,
    ) -> None:
        self.in_control = in_control
        self.max_snippets = max_snippets
        self.max_tokens = max_tokens
        self.strips = strips

    def valid(self, state: EvidenceState) -> bool:
        """Valid once, when evidence exists, and only where a controller may pick it."""
        return self.in_control and bool(state.held) and state.snippets is None

    def run(self, state: EvidenceState) -> Process:
        """Compress what is read for the answer."""
        if self.strips is not None:
            return (yield from self._stripped(state, self.strips))
        made = yield CompressTask(state.question.text, state.reading, self.max_snippets, self.max_tokens)
        return state.changed(snippets=made.snippets, compressed_version=state.evidence_version)

    def _stripped(self, state: EvidenceState, settings: RefinementSettings) -> Process:
        """Keep the best strips, each sentence a snippet, as far as the words go."""
        strips, task = strips_task(state.question.text, state.question.key, state.reading, settings)
        snippets: tuple[Snippet, ...] = ()
        if strips:
            judged = yield task
            snippets = _fitting(filtered(strips, judged.scores, settings), self.max_snippets, self.max_tokens)
        return state.changed(snippets=snippets, compressed_version=state.evidence_version)


def _fitting(strips: Sequence[Strip], most: int, tokens: int) -> tuple[Snippet, ...]:
    """Return the sentences of the strips as snippets, in order, up to a number of snippets and of words."""
    made: list[Snippet] = []
    for strip in strips:
        for index in strip.sentences:
            text = f"{strip.document.title}: {strip.document.sentences[index].strip()}"
            tokens -= len(words(text))
            if tokens < 0 or len(made) == most:
                return tuple(made)
            made.append(Snippet(strip.document.id, text, index))
    return tuple(made)
