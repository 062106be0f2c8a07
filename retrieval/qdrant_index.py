"""The vectors of a corpus in a collection of a Qdrant server."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import BackendUnavailableError, EvidenceGymError, ManifestMismatchError, RequestFailedError
from ..data.manifests import unmet
from ..data.records import content_hash
from .embeddings import Embeddings
from .qdrant_settings import IN_PROCESS, QdrantSettings
from .vector_index import best_rows

KIND = "evidencegym vectors"
FORMAT = 1
_CHUNK = 256
_SPARE = 8

Progress = Callable[[str, int, int], None]


def connect(settings: QdrantSettings) -> Any:
    """Return a client of the server.

    Raises:
        BackendUnavailableError: if the extra is not installed.
        ConfigError: if the server's URL is none.
    """
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise BackendUnavailableError(
            "Qdrant needs its client: pip install 'evidencegym[qdrant]', or choose another retriever"
        ) from error
    if settings.address == IN_PROCESS:
        return QdrantClient(IN_PROCESS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of keys without TLS, which is right on a machine's own port
        return QdrantClient(
            url=settings.address,
            api_key=settings.key or None,
            prefer_grpc=bool(settings.grpc_port),
            grpc_port=settings.grpc_port or 6334,
            timeout=settings.timeout,
            check_compatibility=False,
        )


class QdrantIndex:
    """Finds the nearest vectors by inner product in a collection; scores are computed here, from the vectors.

    Args:
        embeddings: the vectors that the collection holds.
        settings: where it is and how it is searched.
        client: of the server.
        collection: its name.
    """

    def __init__(self, embeddings: Embeddings, settings: QdrantSettings, client: Any, collection: str) -> None:
        self.embeddings = embeddings
        self.settings = settings
        self.collection = collection
        self._client = client

    def __reduce__(self) -> Any:
        """Send where it is to another process."""
        return open_collection, (self.embeddings, self.settings)

    def nearest(self, queries: NDArray[np.float32], k: int) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return the rows of the best ``k`` vectors of each query and their scores, best first, ties by row.

        Args:
            queries: (queries, dimension) float32.
            k: at least 1.

        Raises:
            RequestFailedError: if the server does not answer, or holds other passages.
        """
        wanted = min(k, len(self.embeddings.ids))
        with _failing(RequestFailedError, f"Qdrant at {self.settings.address} failed"):
            found = self._client.query_batch_points(self.collection, requests=self._requests(queries, wanted))
        ids = (np.array([point.id for point in response.points], np.uint64) for response in found)
        return [best_rows(self.embeddings, query, self._rows(own), wanted) for query, own in zip(queries, ids)]

    def _requests(self, queries: NDArray[np.float32], k: int) -> list[Any]:
        from qdrant_client.models import QueryRequest, SearchParams

        chosen = self.settings
        limit = k + _SPARE if chosen.exact else max(k + _SPARE, k * chosen.refine)
        params = SearchParams(hnsw_ef=max(chosen.effort, limit), exact=chosen.exact)
        limit = min(len(self.embeddings.ids), limit)
        return [QueryRequest(query=query, limit=limit, params=params, with_payload=False) for query in queries.tolist()]

    def _rows(self, ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        rows = self.embeddings.find(ids)
        if bool(np.any(rows < 0)):
            raise RequestFailedError(f"the collection {self.collection} holds other passages; delete it")
        return rows


def open_collection(
    embeddings: Embeddings, settings: QdrantSettings, progress: Progress | None = None, client: Any = None
) -> QdrantIndex:
    """Return the collection of these vectors; where it is missing or not whole, it is filled.

    Passages are sent in their order, 256 a call, each under its id: a call that was killed is taken up where it stood,
    and what is sent twice is held once.

    Args:
        embeddings: the vectors.
        settings: where the server is.
        progress: called as vectors are sent.
        client: of the server; None for one that the settings name.

    Raises:
        BackendUnavailableError: if the extra is not installed, no server answers, or it refuses.
        ConfigError: if the server's URL is none.
        ManifestMismatchError: if the collection named holds something else.
    """
    client = client or connect(settings)
    name = settings.collection or f"evidencegym-{content_hash(embeddings.fingerprint, repr(settings.built))}"
    made_from = {"kind": KIND, "format": FORMAT, "vectors": embeddings.fingerprint, **settings.built}
    with _failing(
        BackendUnavailableError,
        f"no use of Qdrant at {settings.address}; start a server there (docker run -p 6333:6333 qdrant/qdrant), or "
        f"name another with --retrieval.qdrant.url, and its key in {settings.key_variable}; what was sent is kept",
    ):
        if not client.collection_exists(name):
            _create(client, name, embeddings, settings, made_from)
        _check(client, name, made_from)
        _fill(client, name, embeddings, progress)
    return QdrantIndex(embeddings, settings, client, name)


def _create(
    client: Any, name: str, embeddings: Embeddings, settings: QdrantSettings, made_from: dict[str, Any]
) -> None:
    from qdrant_client import models

    byte = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
    client.create_collection(
        name,
        vectors_config=models.VectorParams(
            size=embeddings.matrix.shape[1], distance=models.Distance.DOT, on_disk=settings.compressed
        ),
        hnsw_config=models.HnswConfigDiff(m=settings.neighbours),
        quantization_config=models.ScalarQuantization(scalar=byte) if settings.compressed else None,
        shard_number=settings.shards,
        replication_factor=settings.replicas,
        metadata=made_from,
    )


def _check(client: Any, name: str, made_from: dict[str, Any]) -> None:
    found = client.get_collection(name).config.metadata or {}
    if other := unmet(found, made_from):
        raise ManifestMismatchError(
            f"the collection {name} was made from another {', '.join(other)}, or by a server before 1.16, which keeps "
            "no metadata; name another with --retrieval.qdrant.collection, or delete it"
        )


def _fill(client: Any, name: str, embeddings: Embeddings, progress: Progress | None) -> None:
    from qdrant_client.models import Batch

    count = len(embeddings.ids)
    held = client.count(name, exact=True).count
    for first in range(held // _CHUNK * _CHUNK if held < count else count, count, _CHUNK):
        part = slice(first, first + _CHUNK)
        points = Batch(ids=embeddings.ids[part].tolist(), vectors=np.asarray(embeddings.matrix[part]).tolist())
        client.upsert(name, points=points, wait=True)
        if progress:
            progress("sending vectors to Qdrant", min(first + _CHUNK, count), count)
    held = client.count(name, exact=True).count
    if held != count:
        raise ManifestMismatchError(f"the collection {name} holds {held} passages, expected {count}; delete it")


@contextmanager
def _failing(kind: type[EvidenceGymError], message: str) -> Iterator[None]:
    """Turn whatever the client raises into an error of the house."""
    from grpc import RpcError
    from httpx import HTTPError
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except (ApiException, RpcError, HTTPError, OSError) as error:
        raise kind(f"{message} ({_said(error)})") from error


def _said(error: BaseException) -> str:
    told = getattr(error, "details", None)
    return " ".join(str(told() if callable(told) else error).split())[:300]
