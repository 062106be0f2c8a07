"""From settings to the retriever of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..data.errors import ConfigError
from ..data.records import content_hash
from .base import Retriever
from .bm25 import BM25Retriever
from .dense import DenseRetriever
from .dense_settings import DenseSettings
from .embedded import EmbeddedRetriever
from .embeddings import Embeddings
from .encoder import Encoder
from .encoder_settings import NONE, EncoderSettings, embedded
from .fusion import FUSIONS
from .hybrid import HybridRetriever
from .prior_settings import PriorSettings
from .priors import with_priors
from .qdrant import QdrantRetriever
from .qdrant_index import open_collection
from .qdrant_settings import QdrantSettings
from .routed import RoutedRetriever
from .source_types import SourceTypes
from .vector_index import open_index

SAME = "same"
QDRANT = "qdrant"
PRIORS = "priors"
RETRIEVERS = ("bm25", "dense", "hybrid", QDRANT)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RetrievalSettings:
    """What searches.

    Attributes:
        frontier: bm25, dense, hybrid (both, fused) or qdrant (dense, on a server); ranks the passages for the question
            itself.
        targeted: serves the queries of the other operations: same, or one of them (the paper's is dense).
        fusion: of hybrid: rrf (reciprocal ranks) or weighted (scaled scores).
        dense_weight: of the dense ranking in the fusion, beside 1 for BM25, positive.
        dense: how vectors are searched.
        qdrant: where a Qdrant server is, and how it searches.
        priors: whether hits are weighted by the type of their source.

    Raises:
        ConfigError: if there is no such retriever or fusion, or the weight is not positive.
    """

    frontier: str = "bm25"
    targeted: str = SAME
    fusion: str = "rrf"
    dense_weight: float = 1.0
    dense: DenseSettings = field(default=DenseSettings())
    qdrant: QdrantSettings = field(default=QdrantSettings())
    priors: PriorSettings = field(default=PriorSettings())

    def __post_init__(self) -> None:
        for name, known in (("frontier", RETRIEVERS), ("targeted", (SAME, *RETRIEVERS)), ("fusion", tuple(FUSIONS))):
            if getattr(self, name) not in known:
                raise ConfigError(f"unknown retrieval.{name} {getattr(self, name)!r}; there are: {', '.join(known)}")
        if self.dense_weight <= 0:
            raise ConfigError(f"retrieval.dense_weight must be positive, found {self.dense_weight}")

    @property
    def kinds(self) -> tuple[str, str]:
        """The retriever of the question's own searches, and that of the targeted ones."""
        return self.frontier, self.frontier if self.targeted == SAME else self.targeted

    def source(self) -> dict[str, Any]:
        """Return what can change a result."""
        fused = {"fusion": self.fusion, "dense_weight": self.dense_weight}
        elsewhere = {QDRANT: self.qdrant.source()} if QDRANT in self.kinds else {}
        weighted = {PRIORS: self.priors.source()} if self.priors.enabled else {}
        named = {"frontier": self.frontier, "targeted": self.targeted}
        return {**named, **fused, "dense": self.dense.source(), **elsewhere, **weighted}

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> RetrievalSettings:
        """Return the settings that a manifest holds, BM25 where it holds none.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            given = dict(source or {})
            nested = {
                "dense": DenseSettings(**given.get("dense", {})),
                QDRANT: QdrantSettings(**given.get(QDRANT, {})),
                PRIORS: PriorSettings(**given.get(PRIORS, {})),
            }
            return cls(**{**given, **nested})
        except TypeError as error:
            raise ConfigError(f"the manifest names no retriever that can be used ({error})") from error


def choose_retriever(
    base: BM25Retriever,
    settings: RetrievalSettings,
    encoder: EncoderSettings,
    progress: Progress | None = None,
    types: SourceTypes | None = None,
) -> Retriever:
    """Return the retriever that the settings name, with the vectors of an encoder beside it where one is named.

    Args:
        base: BM25 over the corpus.
        settings: what searches.
        encoder: embeds passages and queries.
        progress: called as passages are embedded and indexed.
        types: the type of source of each passage, where the settings weigh by it.

    Raises:
        ConfigError: if vectors are to be searched and no encoder is named, there is no such model, or priors are wanted
            and no types given.
        BackendUnavailableError: if an extra is not installed, or no server answers.
        DataError: if vectors or index cannot be written.
        ManifestMismatchError: if a folder named holds those of something else.
    """
    return with_priors(_chosen(base, settings, encoder, progress), settings.priors, types, base)


def _chosen(
    base: BM25Retriever, settings: RetrievalSettings, encoder: EncoderSettings, progress: Progress | None
) -> Retriever:
    if encoder.model == NONE:
        if set(settings.kinds) != {"bm25"}:
            raise ConfigError("retrieval by vectors needs an encoder: name one with --encoder.model")
        return base
    loaded, vectors = embedded(base, encoder, progress)
    make = partial(_made, base=base, encoder=loaded, vectors=vectors, settings=settings, progress=progress)
    frontier, targeted = settings.kinds
    first = make(frontier)
    return first if targeted == frontier else RoutedRetriever(first, make(targeted))


def _made(
    kind: str,
    base: BM25Retriever,
    encoder: Encoder,
    vectors: Embeddings,
    settings: RetrievalSettings,
    progress: Progress | None,
) -> Retriever:
    lexical = EmbeddedRetriever(base, encoder, vectors)
    if kind == "bm25":
        return lexical
    if kind == QDRANT:
        collection = open_collection(vectors, settings.qdrant, progress)
        return QdrantRetriever(base, base.passages, encoder, vectors, collection)
    suffix = content_hash(repr(sorted(settings.dense.source().items())))[:8]
    folder = vectors.folder.parent / f"{vectors.folder.name}.{settings.dense.kind}-{suffix}"
    index = open_index(vectors, settings.dense, folder, progress)
    dense = DenseRetriever(base, base.passages, encoder, vectors, index)
    if kind == "dense":
        return dense
    return HybridRetriever((lexical, dense), settings.fusion, (1.0, settings.dense_weight))
