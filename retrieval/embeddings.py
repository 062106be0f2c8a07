"""The vectors of a corpus on disk: built in batches that a crash does not lose, then mapped into memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import DataError, ManifestMismatchError
from ..data.locks import LOCK, locked
from ..data.manifests import MANIFEST, unmet
from ..data.records import Passage, content_hash
from .encoder import Encoder, passage_text
from .index_files import open_array, save_array, seal, unseal

KIND = "passage vectors"
FORMAT = 1
_CHUNK = 512
_DONE = "done.json"


class Embeddings:
    """The unit vectors of passages.

    Args:
        ids: (passages,) uint64, the passages' ids as numbers, ascending.
        matrix: (passages, dimension) float32, in that order.
        fingerprint: of encoder and passages.
        encoder: fingerprint of the encoder alone.
        folder: where they are saved.
    """

    def __init__(
        self, ids: NDArray[np.uint64], matrix: NDArray[np.float32], fingerprint: str, encoder: str, folder: Path
    ) -> None:
        self.ids = ids
        self.matrix = matrix
        self.fingerprint = fingerprint
        self.encoder = encoder
        self.folder = folder.absolute()  # a worker may run in another folder

    def __reduce__(self) -> Any:
        """Send the folder, not the vectors, to another process."""
        return load_embeddings, (self.folder,)

    def rows(self, passages: Sequence[Passage]) -> NDArray[np.int64]:
        """Return the row of each passage.

        Raises:
            ManifestMismatchError: if a passage is not of this corpus.
        """
        found = self.find(_numbers(passages))
        missing = np.flatnonzero(found < 0)
        if len(missing):
            title = passages[int(missing[0])].title
            raise ManifestMismatchError(f"the vectors do not hold the passage {title!r}; embed the corpus again")
        return found

    def find(self, ids: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the row of each id, -1 where it is not of this corpus."""
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[rows] == ids, rows, -1).astype(np.int64)

    def of(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return (passages, dimension) unit vectors.

        Raises:
            ManifestMismatchError: if a passage is not of this corpus.
        """
        return np.asarray(self.matrix[self.rows(passages)])


def embed(
    passages: Sequence[Passage],
    encoder: Encoder,
    folder: Path,
    progress: Callable[[str, int, int], None] | None = None,
) -> Embeddings:
    """Return the vectors of a corpus: those in the folder if they are its own, else made anew and saved there.

    They are made in chunks of 512 passages; a call that was killed is taken up where it stood.

    Args:
        passages: the corpus, sorted by id; at least one.
        encoder: embeds them.
        folder: where they are, or will be.
        progress: called with what is done, how many passages, and of how many.

    Raises:
        DataError: if there is no passage, another process is embedding into the folder, or it cannot be written.
        ManifestMismatchError: if the folder holds the vectors of another corpus or encoder, or damaged ones.
    """
    if not passages:
        raise DataError("there is no passage to embed")
    ids = _numbers(passages)
    if bool(np.any(ids[1:] <= ids[:-1])):
        raise DataError("the passages to embed must be sorted by id, each once")
    made_from = {
        "encoder": encoder.fingerprint,
        "corpus": content_hash(ids.tobytes().hex()),
        "passages": len(passages),
        "dimension": encoder.dimension,
    }
    if not (folder / MANIFEST).exists():
        _build(passages, ids, encoder, folder, made_from, progress)
    return load_embeddings(folder, made_from)


def load_embeddings(folder: Path, made_from: dict[str, Any] | None = None) -> Embeddings:
    """Map saved vectors into memory.

    Args:
        folder: where :func:`embed` left them.
        made_from: what they must have been made from; None for no matter what.

    Raises:
        DataError: if there are none.
        ManifestMismatchError: if they are damaged, or made from something else.
    """
    manifest = unseal(folder, KIND, sizes_only=frozenset({"vectors.npy"}))
    if other := unmet(manifest, {"format": FORMAT, **(made_from or {})}):
        raise ManifestMismatchError(f"{folder}: holds vectors of another {', '.join(other)}; use another folder")
    try:
        count, dimension = int(manifest["passages"]), int(manifest["dimension"])
        encoder, corpus = str(manifest["encoder"]), str(manifest["corpus"])
        vectors = open_array(folder / "vectors.npy", np.float32, mapped=True).reshape(count, dimension)
    except (KeyError, ValueError) as error:
        raise ManifestMismatchError(f"{folder}: the vectors are damaged ({error}); embed the corpus again") from error
    ids = open_array(folder / "ids.npy", np.uint64, mapped=True)
    if len(ids) != count:
        raise ManifestMismatchError(f"{folder}: files of different corpora are mixed; embed the corpus again")
    return Embeddings(ids, vectors, content_hash(encoder, corpus), encoder, folder)


def _build(
    passages: Sequence[Passage],
    ids: NDArray[np.uint64],
    encoder: Encoder,
    folder: Path,
    made_from: dict[str, Any],
    progress: Callable[[str, int, int], None] | None,
) -> None:
    """Fill ``folder``'s hidden neighbour, which takes its place in the end."""
    building = folder.parent / f".{folder.name}.building"
    with locked(building):
        vectors, done = _begun(building, made_from)
        width = encoder.dimension
        while done < len(passages):
            chunk = passages[done : done + _CHUNK]
            vectors[done * width : (done + len(chunk)) * width] = _embedded(chunk, encoder).ravel()
            vectors.flush()
            done += len(chunk)
            _note(building, made_from, done)
            if progress:
                progress("embedding passages", done, len(passages))
        del vectors
        save_array(building / "ids.npy", ids)
        (building / _DONE).unlink()
        (building / LOCK).unlink(missing_ok=True)
        seal(building, {"kind": KIND, "format": FORMAT, **made_from})
        building.rename(folder)


def _begun(building: Path, made_from: dict[str, Any]) -> tuple[np.memmap[Any, np.dtype[np.float32]], int]:
    """Return the vectors begun, and how many there are; those made from something else are begun anew."""
    file, length = building / "vectors.npy", made_from["passages"] * made_from["dimension"]
    try:
        noted = json.loads((building / _DONE).read_text(encoding="utf-8"))
        if noted["made_from"] == made_from:
            opened = np.lib.format.open_memmap(file, mode="r+")
            if opened.shape == (length,) and opened.dtype == np.float32:
                return opened, int(noted["done"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(length,)), 0


def _note(building: Path, made_from: dict[str, Any], done: int) -> None:
    new = building / f"{_DONE}.new"
    new.write_text(json.dumps({"made_from": made_from, "done": done}), encoding="utf-8")
    new.replace(building / _DONE)


def _embedded(passages: Sequence[Passage], encoder: Encoder) -> NDArray[np.float32]:
    return encoder.passages([passage_text(passage) for passage in passages])


def _numbers(passages: Sequence[Passage]) -> NDArray[np.uint64]:
    return np.array([int(passage.id, 16) for passage in passages], np.uint64)
