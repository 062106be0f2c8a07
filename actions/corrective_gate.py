"""``corrective_gate``: judge the evidence; refine it, replace it from elsewhere, or both (CRAG, 2401.15884)."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ..confidence.base import EvaluateTask
from ..confidence.refinement import filtered, strips_task
from ..confidence.verdicts import Verdict
from ..data.errors import RequestFailedError
from ..generation.tasks import RewriteTask
from ..retrieval.base import Hit
from ..retrieval.external import ExternalSearch
from .gate_settings import GateSettings
from .operation import Operation, Process, Request
from .pool import TARGETED_DEPTH, chosen, pooled, rank_task
from .state import EvidenceState, Gate

_UNCOMPRESSED: dict[str, Any] = {"snippets": None, "compressed_version": -1}
"""Snippets were chosen from what the gate has cut or discarded."""


class CorrectiveGate(Operation):
    """Let the evaluator judge what is held.

    Correct: the documents are refined into strips. Incorrect: they are discarded, and others are searched for
    elsewhere. Ambiguous: both kinds are kept, and refined together. What is discarded stays seen; a verdict never ends
    an episode.

    Deviations from the paper:

    1. The gate may run whenever the evidence has changed, on all that is held, not once after one retrieval.
    2. The first search elsewhere is for the question; further ones are for a rewriting of it or, where a ranker
       chooses, for the search that it proposes. The paper asks a language model for keywords.
    3. Without anywhere else to search nothing is discarded, nor where the search elsewhere fails and brings nothing.

    Args:
        settings: see :class:`GateSettings`.
        ranked: let the engine's ranker choose among what was found elsewhere, and what to search for.
    """

    name = "corrective_gate"

    def __init__(self, settings: GateSettings | None = None, ranked: bool = False) -> None:
        self.settings = settings or GateSettings()
        self.ranked = ranked

    def valid(self, state: EvidenceState) -> bool:
        """Evidence exists and changed since the last gate, and where the gate may search elsewhere, budget remains."""
        if not state.held or (state.gate is not None and state.gate.version == state.evidence_version):
            return False
        return not self.settings.budget or state.external < self.settings.budget

    def run(self, state: EvidenceState) -> Process:
        """Evaluate, correct, refine."""
        judged = yield EvaluateTask(state.question.text, state.question.key, state.passages)
        after = state
        if judged.verdict is not Verdict.CORRECT and self.settings.budget:
            after = yield from self._corrected(state, judged.verdict is Verdict.INCORRECT)
        after = yield from self._refined(after)
        brought = sum(item.passage.id not in state.seen for item in after.held)
        discarded = len(state.held) + brought - len(after.held)
        gate = Gate(judged.verdict.value, judged.scores, after.evidence_version, brought, discarded)
        return after.changed(gate=gate)

    def _corrected(self, state: EvidenceState, discard: bool) -> Process:
        """Search elsewhere, for more or for a replacement; what is held stays where no replacement could be had."""
        before = (yield from self._discarded(state)) if discard else state
        after = yield from self._elsewhere(before)
        if discard and not after.held and len(after.failures) > len(state.failures):
            return state.changed(external=after.external, elsewhere=after.elsewhere, failures=after.failures)
        return after

    def _discarded(self, state: EvidenceState) -> Process:
        """Give up everything held."""
        after = state.discarded()
        if not self.ranked:
            return after
        ranking = yield rank_task(after)
        return after.changed(ranking=ranking)

    def _elsewhere(self, state: EvidenceState) -> Process:
        """Search elsewhere, as often as settings and budget allow and there is something to search for."""
        for _ in range(min(self.settings.searches, self.settings.budget - state.external)):
            query = yield from self._query(state)
            if not query or not state.room:
                break
            depth = TARGETED_DEPTH if self.ranked else state.room + len(state.seen)
            state = state.searched_elsewhere(query)
            try:
                hits = yield ExternalSearch(query, depth, state.question.text)
            except RequestFailedError as error:
                return state.failed(self.name, str(error))
            state = yield from self._received(state, query, hits)
        return state

    def _query(self, state: EvidenceState) -> Generator[Request, Any, str]:
        """Return the next query, empty where there is none that was not asked elsewhere."""
        if state.question.text not in state.elsewhere:
            return state.question.text
        if self.ranked and state.ranking is not None:
            proposed = (proposal.query for proposal in state.ranking.proposals)
            return next((query for query in proposed if query not in state.elsewhere), "")
        rewriting = yield RewriteTask(state.question.text, state.context, state.elsewhere)
        return "" if rewriting.query in state.elsewhere else str(rewriting.query)

    def _received(self, state: EvidenceState, query: str, hits: list[Hit]) -> Process:
        """Return the state with the best unseen passages from elsewhere added, each with its source.

        Those that are not taken do not enter the pool: no other operation brings what lies elsewhere.
        """
        if not self.ranked:
            return state.received_elsewhere(self.name, query, state.unseen(hits))
        found = pooled(state.found, hits, query == state.question.text, 0.5)
        ranking = yield rank_task(state, found)
        sources = {hit.passage: hit.source for hit in hits}
        best = [
            hit._replace(source=sources[hit.passage]) for hit in chosen(found, ranking.scores) if hit.passage in sources
        ]
        after = state.received_elsewhere(self.name, query, state.unseen(best))
        known = {item.passage for item in state.found} | set(after.passages)
        after = after.changed(found=tuple([item for item in found if item.passage in known]))
        ranking = yield rank_task(after)
        return after.changed(ranking=ranking)

    def _refined(self, state: EvidenceState) -> Process:
        """Cut what is held into strips and keep the best."""
        settings = self.settings.refinement
        strips, task = strips_task(state.question.text, state.question.key, state.passages, settings)
        if not strips:
            return state.changed(refined=(), **_UNCOMPRESSED)
        judged = yield task
        kept: dict[str, tuple[int, ...]] = {passage.id: () for passage in state.passages}
        for strip in filtered(strips, judged.scores, settings):
            kept[strip.document.id] += strip.sentences
        return state.changed(refined=tuple(kept.items()), **_UNCOMPRESSED)
