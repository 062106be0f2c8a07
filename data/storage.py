"""Folders of plain arrays with a JSON manifest, written whole or not at all; nothing is ever unpickled."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DataError
from .folders import writing
from .manifests import MANIFEST, differing, read_manifest, to_json, unmet

__all__ = [
    "ARRAYS",
    "MANIFEST",
    "differing",
    "load_folder",
    "read_manifest",
    "save_folder",
    "to_json",
    "unmet",
    "write_bytes",
    "write_text",
]

ARRAYS = "arrays.npz"

# What a damaged archive provokes, depending on where the damage lies.
_DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    RuntimeError,
    KeyError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
)


def write_text(file: Path, text: str) -> None:
    """Write a file whole: to a temporary neighbour first, then in its place.

    Raises:
        DataError: if the disk is full or the folder cannot be written; the old file is then unchanged.
    """
    write_bytes(file, text.encode("utf-8"))


def write_bytes(file: Path, content: bytes) -> None:
    """Write a file whole, as :func:`write_text` does."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror}); what was there before is unchanged", file) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def save_folder(
    folder: Path, arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any], deflated: bool = True
) -> None:
    """Write ``arrays`` and ``manifest`` into ``folder``; the same content gives the same bytes.

    Args:
        folder: the folder to write.
        arrays: what to write, by name.
        manifest: what it is; its ``kind`` is needed.
        deflated: whether the arrays are compressed, which makes small files that load slowly.

    Raises:
        ConfigError: if the folder holds anything but a saved one of the manifest's ``kind``.
        DataError: if it cannot be written; a folder that was there before is then unchanged.
    """
    with writing(folder, str(manifest["kind"])) as new:
        _write_arrays(new / ARRAYS, arrays, zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED)
        (new / MANIFEST).write_text(to_json(manifest), encoding="utf-8")


def _write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]], method: int) -> None:
    """Write an .npz file with fixed time stamps, which ``numpy.savez`` does not promise."""
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, np.ascontiguousarray(arrays[name]), allow_pickle=False)


def load_folder(folder: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read what :func:`save_folder` wrote.

    Args:
        folder: the folder.
        kind: the manifest's ``kind`` that is expected.

    Raises:
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if the folder holds something else.
    """
    manifest = read_manifest(folder, kind)
    file = folder / ARRAYS
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}, manifest
    except FileNotFoundError:
        raise DataError(f"no such file; a saved {kind} has {MANIFEST} and {ARRAYS}", file) from None
    except _DAMAGE as error:
        raise DataError(f"damaged arrays ({error}); save or copy the {kind} again", file) from error
