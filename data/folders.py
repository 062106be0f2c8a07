"""Folders written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import ConfigError, DataError, ManifestMismatchError
from .manifests import read_manifest


@contextmanager
def writing(folder: Path, kind: str) -> Iterator[Path]:
    """Give a temporary neighbour of ``folder`` to write into; it takes the folder's place when all went well.

    Args:
        folder: the folder to write; one of the same kind that is there is replaced.
        kind: what the manifest will call itself.

    Raises:
        ConfigError: if ``folder`` holds anything else.
        DataError: if it cannot be written; what was there before is then unchanged.
    """
    _may_replace(folder, kind)
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        new = temporary / "new"
        new.mkdir()
        yield new
        _sync(new)
        _exchange(folder, new, temporary / "old")
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror or error})", folder) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _may_replace(folder: Path, kind: str) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists() or folder.is_symlink():
        try:
            read_manifest(folder, kind)
        except (DataError, ManifestMismatchError):
            raise ConfigError(f"{folder} exists and is not a saved {kind}: choose another folder") from None


def _exchange(folder: Path, new: Path, old: Path) -> None:
    replaced = folder.exists()
    if replaced:
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if replaced:
            old.rename(folder)
        raise


def _sync(folder: Path) -> None:
    for file in folder.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
