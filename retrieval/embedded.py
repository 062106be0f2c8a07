"""A retriever with the vectors of its passages beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from .base import Hit, Retriever
from .embeddings import Embeddings
from .encoder import Encoder


class EmbeddedRetriever(Retriever):
    """Searches as another retriever does, and knows the vectors of passages and queries.

    Args:
        base: searches.
        encoder: embeds queries.
        embeddings: the vectors of the base's passages, of the same encoder.
    """

    def __init__(self, base: Retriever, encoder: Encoder, embeddings: Embeddings) -> None:
        self.base = base
        self._encoder = encoder
        self.embeddings = embeddings
        self.concurrency, self.max_batch = base.concurrency, base.max_batch

    @property
    def fingerprint(self) -> str:
        """That of the base: vectors change no search."""
        return self.base.fingerprint

    @property
    def encoder(self) -> str:
        """The encoder's fingerprint."""
        return self.embeddings.encoder

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return the base's hits."""
        return self.base.search(queries, k, pools)

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages with this title."""
        return self.base.titled(title, pool)

    def about(self, name: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages about a name."""
        return self.base.about(name, pool)

    def rarity(self, term: str, pool: str = "") -> float:
        """Return how rare a term is."""
        return self.base.rarity(term, pool)

    def vectors(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return the unit vectors of passages.

        Raises:
            ManifestMismatchError: if one is not of this corpus.
        """
        return self.embeddings.of(passages)

    def vector(self, query: str) -> NDArray[np.float32]:
        """Return the unit vector of a query."""
        return self._encoder.query(query)
