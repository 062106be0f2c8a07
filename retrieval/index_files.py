"""Index folders: written whole or not at all, checked when they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import DataError, ManifestMismatchError
from ..data.manifests import MANIFEST, read_manifest, to_json


def seal(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write ``manifest`` with the size and the BLAKE2b digest of every file in ``folder``."""
    files = {file.name: {"bytes": file.stat().st_size, "blake2b": _digest(file)} for file in sorted(folder.iterdir())}
    (folder / MANIFEST).write_text(to_json({**manifest, "files": files}), encoding="utf-8")


def unseal(folder: Path, kind: str, sizes_only: frozenset[str]) -> dict[str, Any]:
    """Return the manifest of ``folder`` after a check of its files.

    Args:
        folder: the folder.
        kind: what the manifest must call itself.
        sizes_only: files whose digest is not compared, for those that are checked while they are read.

    Raises:
        DataError: if there is no manifest.
        ManifestMismatchError: if a file is missing or damaged, or the folder holds something else.
    """
    if not (folder / MANIFEST).is_file():
        raise DataError(f"no {MANIFEST} here; expected the folder of a saved {kind}", folder)
    try:
        manifest = read_manifest(folder, kind)
        files = {str(name): (int(f["bytes"]), str(f["blake2b"])) for name, f in manifest["files"].items()}
    except (DataError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise ManifestMismatchError(f"{folder / MANIFEST} is damaged ({error}); build the index again") from error
    for name, (size, digest) in files.items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != size or (name not in sizes_only and _digest(file) != digest):
            raise ManifestMismatchError(f"{file} is missing or damaged; build the index again")
    return manifest


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "blake2b").hexdigest()


def save_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array in numpy's own format."""
    np.save(file, array, allow_pickle=False)


def open_array(file: Path, dtype: Any, mapped: bool) -> NDArray[Any]:
    """Read a one-dimensional array of ``dtype``, memory-mapped if wanted; nothing is unpickled.

    Raises:
        ManifestMismatchError: if the file does not hold such an array.
    """
    try:
        array = np.asarray(np.load(file, mmap_mode="r" if mapped else None, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise ManifestMismatchError(f"{file} is missing or damaged ({error}); build the index again") from error
    if array.ndim != 1 or array.dtype != np.dtype(dtype):
        raise ManifestMismatchError(f"{file}: expected a row of {np.dtype(dtype)}, found {array.dtype} {array.shape}")
    return array
