"""Indices of vectors, by FAISS."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import BackendUnavailableError, ConfigError, ManifestMismatchError
from ..data.folders import writing
from ..data.manifests import MANIFEST, unmet
from .dense_settings import DenseSettings
from .embeddings import Embeddings
from .index_files import seal, unseal

KIND = "dense index"
FORMAT = 1
_BLAS_THRESHOLD = 3_072
_TRAINING = 64
_ADDED = 65_536


def faiss() -> Any:
    """Return the library.

    Raises:
        BackendUnavailableError: if it is not installed.
    """
    try:
        import faiss as library
    except ImportError as error:
        raise BackendUnavailableError(
            "a dense index needs FAISS: pip install 'evidencegym[cpu]', or faiss-gpu where there is a GPU"
        ) from error
    return library


class VectorIndex:
    """Finds the nearest vectors by inner product; scores are exact, whatever the kind.

    Args:
        embeddings: the vectors.
        settings: the kind of index.
        approximate: a FAISS index of the same vectors; None for an exact search.
        folder: where that one is saved.
    """

    def __init__(
        self, embeddings: Embeddings, settings: DenseSettings, approximate: Any = None, folder: Path = Path()
    ) -> None:
        self.embeddings = embeddings
        self.settings = settings
        self._library = faiss()
        # By default FAISS scans query by query up to batches of hundreds.
        self._library.cvar.distance_compute_blas_threshold = _BLAS_THRESHOLD
        self._approximate = approximate
        self._folder = folder.absolute()

    def __reduce__(self) -> Any:
        """Send the folder, not the index, to another process."""
        return open_index, (self.embeddings, self.settings, self._folder)

    def nearest(self, queries: NDArray[np.float32], k: int) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Return the rows of the best ``k`` vectors of each query and their scores, best first, ties by row.

        Args:
            queries: (queries, dimension) float32.
            k: at least 1.
        """
        if not len(queries):
            return []
        wanted = min(k, len(self.embeddings.ids))
        rows = self._candidates(queries, wanted)
        return [best_rows(self.embeddings, query, own[own >= 0], wanted) for query, own in zip(queries, rows)]

    def _candidates(self, queries: NDArray[np.float32], k: int) -> NDArray[np.int64]:
        """Return rows that hold the best ``k``; some more, since the library cuts ties anywhere."""
        count = len(self.embeddings.ids)
        if self._approximate is None:
            matrix = np.asarray(self.embeddings.matrix)
            metric = self._library.METRIC_INNER_PRODUCT
            found = self._library.knn(queries, matrix, min(count, k + 8), metric=metric)[1]
        elif isinstance(self._approximate, self._library.IndexIVF):
            found = self._probed(queries, min(count, k * self.settings.refine))
        else:
            found = self._approximate.search(queries, min(count, k * self.settings.refine))[1]
        rows: NDArray[np.int64] = found
        return rows

    def _probed(self, queries: NDArray[np.float32], k: int) -> Any:
        """Search inverted lists, which are chosen one query at a time: in a batch the choice is rounded otherwise."""
        index = self._approximate
        chosen = [index.quantizer.search(query[None], min(index.nprobe, index.nlist)) for query in queries]
        scores, lists = (np.concatenate(column) for column in zip(*chosen))
        return index.search_preassigned(queries, k, lists, scores)[1]


def best_rows(
    embeddings: Embeddings, query: NDArray[np.float32], rows: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the best ``k`` of some rows and their scores, best first, ties by row.

    They are scored with the vectors themselves, one query at a time, so that no batch changes a bit.

    Args:
        embeddings: the vectors.
        query: (dimension,) float32.
        rows: candidates, each once.
        k: at least 1.
    """
    ordered = np.sort(rows)
    vectors = np.asarray(embeddings.matrix[ordered])
    scores = (vectors * query).sum(1, dtype=np.float64).astype(np.float32)
    best = np.argsort(-scores, kind="stable")[:k]
    return ordered[best], scores[best]


def open_index(
    embeddings: Embeddings,
    settings: DenseSettings,
    folder: Path,
    progress: Callable[[str, int, int], None] | None = None,
) -> VectorIndex:
    """Return the index in the folder, or build it there; an exact one needs no folder.

    Args:
        embeddings: the vectors.
        settings: the kind of index.
        folder: where it is, or will be; mapped into memory.
        progress: called as vectors are added.

    Raises:
        BackendUnavailableError: if FAISS is not installed.
        ConfigError: if the settings do not fit the vectors.
        DataError: if the folder cannot be written.
        ManifestMismatchError: if it holds the index of other vectors or settings, or a damaged one.
    """
    if settings.kind == "flat":
        return VectorIndex(embeddings, settings)
    made_from = {"vectors": embeddings.fingerprint, **{f"dense.{k}": v for k, v in settings.source().items()}}
    if not (folder / MANIFEST).exists():
        built = _built(embeddings, settings, progress)
        with writing(folder, KIND) as new:
            faiss().write_index(built, str(new / "index.faiss"))
            seal(new, {"kind": KIND, "format": FORMAT, **made_from})
    manifest = unseal(folder, KIND, sizes_only=frozenset({"index.faiss"}))
    if other := unmet(manifest, {"format": FORMAT, **made_from}):
        raise ManifestMismatchError(f"{folder}: holds an index of other {', '.join(other)}; use another folder")
    approximate = _placed(_read(folder / "index.faiss", settings), settings)
    return VectorIndex(embeddings, settings, approximate, folder)


def _built(embeddings: Embeddings, settings: DenseSettings, progress: Callable[[str, int, int], None] | None) -> Any:
    library, (count, dimension) = faiss(), embeddings.matrix.shape
    if settings.kind == "hnsw":
        index = library.IndexHNSWSQ(
            dimension, library.ScalarQuantizer.QT_fp16, settings.neighbours, library.METRIC_INNER_PRODUCT
        )
    else:
        index = _inverted(count, dimension, settings)
    if not index.is_trained:
        index.train(_sample(embeddings, settings))
    for first in range(0, count, _ADDED):
        index.add(np.ascontiguousarray(embeddings.matrix[first : first + _ADDED]))
        if progress:
            progress(f"building the {settings.kind} index", min(first + _ADDED, count), count)
    return index


def _inverted(count: int, dimension: int, settings: DenseSettings) -> Any:
    if dimension % settings.bytes:
        raise ConfigError(f"dense.bytes must divide the dimension {dimension}, found {settings.bytes}")
    lists = _lists(count, settings)
    if count < lists or count < 256:
        raise ConfigError(f"an ivfpq index needs at least 256 passages and as many as lists ({lists}), found {count}")
    library = faiss()
    quantiser = library.IndexFlatIP(dimension)
    index = library.IndexIVFPQ(quantiser, dimension, lists, settings.bytes, 8, library.METRIC_INNER_PRODUCT)
    index.cp.seed = index.pq.cp.seed = settings.seed + 1234
    return index


def _lists(count: int, settings: DenseSettings) -> int:
    """Return the number of inverted lists for so many passages."""
    return settings.lists or max(1, round(4 * sqrt(count)))


def _sample(embeddings: Embeddings, settings: DenseSettings) -> NDArray[np.float32]:
    """Return the vectors to cluster: a seeded sample, at least enough for 256 centroids."""
    count = len(embeddings.ids)
    lists = _lists(count, settings)
    size = min(count, max(256, lists) * _TRAINING)
    chosen = np.sort(np.random.default_rng(settings.seed).choice(count, size, replace=False))
    return np.ascontiguousarray(embeddings.matrix[chosen])


def _read(file: Path, settings: DenseSettings) -> Any:
    library = faiss()
    try:
        index = library.read_index(str(file), library.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise ManifestMismatchError(f"{file} is damaged ({error}); delete the folder and build it again") from error
    if settings.kind == "hnsw":
        index.hnsw.efSearch = settings.effort
    else:
        index.nprobe = settings.probes
    return index


def _placed(index: Any, settings: DenseSettings) -> Any:
    """Return the index on all GPUs, where there are any and FAISS can use them for this kind."""
    library = faiss()
    if not settings.gpu or settings.kind == "hnsw" or not getattr(library, "get_num_gpus", int)():
        return index
    return library.index_cpu_to_all_gpus(index)
