"""``retrieve_more``: go on in the ranking of the question itself."""

from __future__ import annotations

from dataclasses import replace

from ..retrieval.base import Search
from .operation import Process, Retrieval
from .state import EvidenceState


class RetrieveMore(Retrieval):
    """Advance the frontier of the initial ranking and append unseen documents."""

    name = "retrieve_more"

    def valid(self, state: EvidenceState) -> bool:
        """Frontier and retrieval budget remain."""
        return state.may_retrieve and not state.frontier_exhausted and state.frontier < state.caps.frontier

    def run(self, state: EvidenceState) -> Process:
        """Search with the question and take the first unseen passages behind the frontier."""
        query = state.question.text
        k = min(state.frontier + state.room + len(state.seen), state.caps.frontier)
        hits = yield Search(query, k, "", state.question.key)
        taken = state.unseen(hits[state.frontier :], self.deduplicate_titles)
        reached = taken[-1].rank + 1 if len(taken) == state.room else k
        after = state.received(self.name, query, taken)
        return replace(after, frontier=reached, frontier_exhausted=reached >= len(hits) and len(hits) < k)
