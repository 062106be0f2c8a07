"""A lock on a folder, so that two processes do not write one run at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DataError

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of ``folder`` while the block runs; it goes with the process, however that ends.

    Where the operating system has no ``flock`` nothing is locked.

    Raises:
        DataError: if another process holds it, or the folder cannot be written.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror})", folder) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError("another process is writing this run; wait for it, or use another folder", folder) from None
        yield
