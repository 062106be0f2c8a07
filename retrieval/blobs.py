"""Byte strings that are held in memory or mapped from a file."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Blob: TypeAlias = bytes | mmap.mmap


def open_blob(file: Path, mapped: bool) -> Blob:
    """Open a file for reading, memory-mapped if wanted (an empty file cannot be mapped and needs not be)."""
    with file.open("rb") as source:
        if mapped and file.stat().st_size:
            return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        return source.read()


def parted(blob: Blob, ends: NDArray[Any]) -> bool:
    """Return whether ``ends`` cuts ``blob`` into non-empty parts without a rest."""
    lengths = np.diff(ends, prepend=0)
    return bool(np.all(lengths > 0)) and (int(ends[-1]) if len(ends) else 0) == len(blob)
