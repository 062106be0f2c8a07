"""``bridge_entity_expand``: search around a bridge entity."""

from __future__ import annotations

from dataclasses import replace

from .operation import Process, Retrieval
from .state import EvidenceState


class BridgeEntityExpand(Retrieval):
    """Fetch the passage whose title is the first unexpanded candidate, then search for "candidate + question"."""

    name = "bridge_entity_expand"

    def valid(self, state: EvidenceState) -> bool:
        """At least one candidate has not been expanded, and budget remains."""
        return state.may_retrieve and bool(state.next_candidate)

    def run(self, state: EvidenceState) -> Process:
        """Expand the first unexpanded candidate."""
        candidate = state.next_candidate
        query = f"{candidate} {state.question.text}"
        hits = yield self.request(state, query, title=candidate)
        return replace(self.received(state, query, hits), expanded=(*state.expanded, candidate))
