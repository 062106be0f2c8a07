"""``gap_query``: search for what the probe found missing."""

from __future__ import annotations

from .operation import Process, Retrieval
from .state import EvidenceState


class GapQuery(Retrieval):
    """Search with the missing-information text written by the last probe."""

    name = "gap_query"

    def valid(self, state: EvidenceState) -> bool:
        """A gap is recorded that has not been searched already (the latter is our choice), and budget remains."""
        return state.may_retrieve and bool(state.gap) and state.gap not in state.queries

    def run(self, state: EvidenceState) -> Process:
        """Search for the gap."""
        hits = yield self.request(state, state.gap)
        return (yield from self.collected(state, state.gap, hits))
