"""One retriever for the question's own ranking, another for targeted queries."""

from __future__ import annotations

from ..data.records import content_hash
from .base import Retriever
from .delegating import DelegatingRetriever


class RoutedRetriever(DelegatingRetriever):
    """Sends the question's own searches to its base and all others elsewhere; both search one corpus.

    Args:
        base: ranks the passages for the question itself; knows titles, rarities and vectors.
        targeted: serves the queries of the other operations.
    """

    def __init__(self, base: Retriever, targeted: Retriever) -> None:
        super().__init__(base)
        self.targeted = targeted
        self.concurrency = max(base.concurrency, targeted.concurrency)
        limits = [limit for limit in (base.max_batch, targeted.max_batch) if limit is not None]
        self.max_batch = min(limits, default=None)

    @property
    def fingerprint(self) -> str:
        """A hash of both."""
        return content_hash("routed", self.base.fingerprint, self.targeted.fingerprint)

    def serving(self, targeted: bool) -> Retriever:
        """Return what serves a kind of search."""
        return self.targeted if targeted else self.base
