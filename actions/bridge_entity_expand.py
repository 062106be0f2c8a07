"""``bridge_entity_expand``: search around a bridge entity."""

from __future__ import annotations

from .operation import Process, Retrieval
from .state import EvidenceState


class BridgeEntityExpand(Retrieval):
    """Fetch the passage whose title is the first unexpanded candidate, then search for "candidate + question"."""

    name = "bridge_entity_expand"

    def valid(self, state: EvidenceState) -> bool:
        """At least one candidate has not been expanded, and budget remains."""
        if self.ranked:
            return state.may_retrieve and state.ranking is not None and bool(state.ranking.proposals)
        return state.may_retrieve and bool(state.next_candidate)

    def run(self, state: EvidenceState) -> Process:
        """Expand the first unexpanded candidate, or make the search that the ranker proposes."""
        if self.ranked and state.ranking is not None:
            entity, query, gain = state.ranking.proposals[0]
            hits = yield self.request(state, query)
            after = yield from self.collected(state, query, hits, gain=gain)
            return after.changed(expanded=(*state.expanded, entity))
        candidate = state.next_candidate
        query = f"{candidate} {state.question.text}"
        hits = yield self.request(state, query, title=candidate)
        return self.received(state, query, hits).changed(expanded=(*state.expanded, candidate))
