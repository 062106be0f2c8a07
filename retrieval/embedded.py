"""A retriever with the vectors of its passages beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from .base import Retriever
from .delegating import DelegatingRetriever
from .embeddings import Embeddings
from .encoder import Encoder


class EmbeddedRetriever(DelegatingRetriever):
    """Searches as another retriever does, and knows the vectors of passages and queries.

    Its fingerprint is that of the base: vectors change no search.

    Args:
        base: searches.
        encoder: embeds queries.
        embeddings: the vectors of the base's passages, of the same encoder.
    """

    def __init__(self, base: Retriever, encoder: Encoder, embeddings: Embeddings) -> None:
        super().__init__(base)
        self._encoder = encoder
        self.embeddings = embeddings

    @property
    def encoder(self) -> str:
        """The encoder's fingerprint."""
        return self.embeddings.encoder

    def vectors(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return the unit vectors of passages.

        Raises:
            ManifestMismatchError: if one is not of this corpus.
        """
        return self.embeddings.of(passages)

    def vector(self, query: str) -> NDArray[np.float32]:
        """Return the unit vector of a query."""
        return self._encoder.query(query)
