"""``rewrite_query``: reformulate the query from the evidence, then search."""

from __future__ import annotations

from ..generation.tasks import RewriteTask
from .operation import Process, Retrieval
from .state import EvidenceState


class RewriteQuery(Retrieval):
    """Ask the generator for a new query and search with it."""

    name = "rewrite_query"

    def valid(self, state: EvidenceState) -> bool:
        """Something has been retrieved, budget remains, and no rewriting of this evidence was barren (our choice)."""
        return state.may_retrieve and bool(state.held) and self.name not in state.barren

    def run(self, state: EvidenceState) -> Process:
        """Rewrite, then search; without a new query nothing is searched and the operation counts as barren."""
        rewriting = yield RewriteTask(state.question.text, state.context, state.queries)
        if not rewriting.query or rewriting.query in state.queries:
            return state.changed(barren=(*state.barren, self.name), newest=0)
        hits = yield self.request(state, rewriting.query)
        return (yield from self.collected(state, rewriting.query, hits))
