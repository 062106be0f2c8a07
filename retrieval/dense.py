"""Retrieval by vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage, content_hash
from .base import Hit, Retriever
from .bm25 import check_search
from .embedded import EmbeddedRetriever
from .embeddings import Embeddings
from .encoder import Encoder

Rows = tuple[NDArray[np.int64], NDArray[np.float32]]


class Searched(Protocol):
    """The settings of an index."""

    def source(self) -> dict[str, Any]:
        """Return what can change a result."""


class Index(Protocol):
    """What finds the nearest vectors: an index here, or a server."""

    @property
    def settings(self) -> Searched:
        """How it searches."""

    def nearest(self, queries: NDArray[np.float32], k: int) -> list[Rows]:
        """Return the rows of the best ``k`` vectors of each query and their scores, best first, ties by row."""


class DenseRetriever(EmbeddedRetriever):
    """Finds the passages whose vectors are nearest to the query's; an empty query finds nothing.

    Args:
        base: holds the passages; knows titles and rarities.
        passages: the base's passages, sorted by id.
        encoder: embeds queries.
        embeddings: the passages' vectors, of the same encoder.
        index: searches them.
    """

    def __init__(
        self,
        base: Retriever,
        passages: Sequence[Passage],
        encoder: Encoder,
        embeddings: Embeddings,
        index: Index,
    ) -> None:
        super().__init__(base, encoder, embeddings)
        self._passages = passages
        self._index = index

    @property
    def fingerprint(self) -> str:
        """A hash of the base, the vectors and the settings of the index."""
        settings = repr(sorted(self._index.settings.source().items()))
        return content_hash("dense", self.base.fingerprint, self.embeddings.fingerprint, settings)

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query, best first, ties by passage id; scores are inner products.

        Args:
            queries: one text a search.
            k: at least 1.
            pools: ignored.

        Raises:
            ConfigError: if ``k`` is below 1 or ``queries`` is one string.
        """
        check_search(queries, k)
        asked = [query for query in dict.fromkeys(queries) if query.strip()]
        vectors = np.array([self.vector(query) for query in asked], np.float32)
        found = dict(zip(asked, self._index.nearest(vectors, int(k)))) if asked else {}
        return [self._hits(*found[query]) if query in found else [] for query in queries]

    def _hits(self, rows: np.ndarray, scores: np.ndarray) -> list[Hit]:
        pairs = zip(rows.tolist(), scores.tolist())
        return [Hit(self._passages[row], score, rank) for rank, (row, score) in enumerate(pairs)]
