"""``retrieve_more``: go on in the ranking of the question itself."""

from __future__ import annotations

from ..retrieval.base import Search
from .operation import Process, Retrieval
from .pool import ASKED_DEPTH, subjects
from .state import EvidenceState


class RetrieveMore(Retrieval):
    """Advance the frontier of the initial ranking and append unseen documents."""

    name = "retrieve_more"

    def valid(self, state: EvidenceState) -> bool:
        """Frontier and retrieval budget remain."""
        return state.may_retrieve and not state.frontier_exhausted and state.frontier < state.caps.frontier

    def run(self, state: EvidenceState) -> Process:
        """Search with the question and take the first unseen passages behind the frontier."""
        if self.ranked:
            return (yield from self._ranked(state))
        query = state.question.text
        k = min(state.frontier + state.room + len(state.seen), state.caps.frontier)
        hits = yield Search(query, k, "", state.question.key)
        taken = state.unseen(hits[state.frontier :], self.deduplicate_titles)
        reached = taken[-1].rank + 1 if len(taken) == state.room else k
        after = state.received(self.name, query, taken)
        return after.changed(frontier=reached, frontier_exhausted=reached >= len(hits) and len(hits) < k)

    def _ranked(self, state: EvidenceState) -> Process:
        """Fill the pool from the question's ranking and take the best of the pool."""
        query = state.question.text
        depth = min(ASKED_DEPTH, state.caps.frontier)
        hits = yield Search(query, depth, "", state.question.key, subjects(state))
        after = yield from self.collected(state, query, hits, asked=True)
        return after.changed(frontier=min(state.frontier + after.newest, state.caps.frontier))
