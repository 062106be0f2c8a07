"""Retrieval by vectors on a Qdrant server, for corpora that one machine does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.records import Passage
from .base import Retriever
from .dense import DenseRetriever
from .embeddings import Embeddings
from .encoder import Encoder
from .qdrant_index import QdrantIndex
from .qdrant_settings import IN_PROCESS


class QdrantRetriever(DenseRetriever):
    """Finds the passages whose vectors are nearest to the query's, on a server; an empty query finds nothing.

    Queries are embedded here and go to the server in batches, of which several are under way together.

    Args:
        base: holds the passages; knows titles and rarities.
        passages: the base's passages, sorted by id.
        encoder: embeds queries.
        embeddings: the passages' vectors, of the same encoder.
        index: searches the collection.
    """

    def __init__(
        self,
        base: Retriever,
        passages: Sequence[Passage],
        encoder: Encoder,
        embeddings: Embeddings,
        index: QdrantIndex,
    ) -> None:
        super().__init__(base, passages, encoder, embeddings, index)
        if index.settings.address != IN_PROCESS:
            self.concurrency = index.settings.concurrency
            self.max_batch = index.settings.batch
