"""Folders of plain arrays with a JSON manifest, written whole or not at all; nothing is ever unpickled."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import DataError, ManifestMismatchError

ARRAYS = "arrays.npz"
MANIFEST = "manifest.json"


def to_json(value: Any) -> str:
    """Return ``value`` as JSON whose bytes depend on nothing but the value: sorted keys, one final newline."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


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
        temporary.unlink(missing_ok=True)
        raise DataError(f"cannot write ({error.strerror}); what was there before is unchanged", file) from error


def save_folder(folder: Path, arrays: Mapping[str, NDArray[Any]], manifest: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``manifest`` into ``folder``; the same content gives the same bytes.

    Raises:
        DataError: if it cannot be written; a folder that was there before is then unchanged.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror})", folder) from error
    try:
        _write_arrays(temporary / ARRAYS, arrays)
        write_text(temporary / MANIFEST, to_json(manifest))
        if folder.exists():
            shutil.rmtree(folder)
        temporary.chmod(0o755)
        temporary.rename(folder)
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror})", folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz file with fixed time stamps, which ``numpy.savez`` does not promise."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
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
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise DataError(f"damaged arrays ({error}); save or copy the {kind} again", file) from error


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """Read the manifest of a saved folder.

    Raises:
        DataError: if it is missing or not JSON.
        ManifestMismatchError: if it is of another kind.
    """
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"no such file; expected the folder of a saved {kind}", file) from None
    except (ValueError, OSError) as error:
        raise DataError(f"not a readable manifest ({error})", file) from error
    found = manifest.get("kind") if isinstance(manifest, dict) else None
    if found != kind:
        raise ManifestMismatchError(f"{folder}: expected a saved {kind}, found {found or 'something else'}")
    return dict(manifest)
