"""Recordings as lines of JSON, to share and to read."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..data.errors import DataError
from .recording_store import FORMAT, Backend, Recording
from .recording_values import Entry

KIND = "evidencegym recording"
_BATCH = 1000


def export_recording(recording: Recording, file: str | Path) -> int:
    """Write a recording as JSON lines, compressed where the name ends in ``.gz``; equal content gives equal bytes.

    The first line says what the file is; each backend is followed by its entries, in the order of their keys.

    Returns:
        How many entries were written.

    Raises:
        DataError: if the file cannot be written; what was there before is then unchanged.
    """
    count = 0
    with _writing(Path(file)) as out:
        _line(out, {"kind": KIND, "format": FORMAT})
        for backend in recording.backends():
            _line(out, {"backend": backend._asdict()})
            for entry in recording.entries(backend.fingerprint):
                parts = {"request": json.loads(entry.request), "response": json.loads(entry.response)}
                _line(out, {"task": entry.kind, **parts})
                count += 1
    return count


def import_recording(recording: Recording, file: str | Path) -> int:
    """Add what :func:`export_recording` wrote to a recording; what is there already stays as it is.

    Returns:
        How many entries were new.

    Raises:
        DataError: if the file cannot be read or a line is damaged; the lines before it may have been added.
    """
    source = Path(file)
    new, backend, waiting = 0, None, list[Entry]()
    for number, line in _lines(source):
        try:
            if "backend" in line:
                new += _put(recording, backend, waiting)
                backend = Backend(**line["backend"])
            else:
                waiting.append(Entry(line["task"], _canonical(line["request"]), _canonical(line["response"])))
            if len(waiting) >= _BATCH:
                new += _put(recording, backend, waiting)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not a line of a recording ({error})", source, number) from error
    return new + _put(recording, backend, waiting)


def _put(recording: Recording, backend: Backend | None, waiting: list[Entry]) -> int:
    """Write the entries that wait, and empty their list."""
    if not waiting:
        return 0
    if backend is None:
        raise ValueError("an entry before any backend")
    entries = list(waiting)
    waiting.clear()
    return recording.put(backend, entries)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _line(out: IO[bytes], value: Mapping[str, Any]) -> None:
    out.write(_canonical(value).encode("ascii") + b"\n")


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    """Yield the lines after the first with their numbers."""
    number = 0
    try:
        with gzip.open(file) if file.name.endswith(".gz") else file.open("rb") as lines:
            for number, text in enumerate(lines, 1):
                line = json.loads(text)
                if number == 1 and (line.get("kind"), line.get("format")) != (KIND, FORMAT):
                    raise DataError(f"expected an exported recording of format {FORMAT}, found something else", file)
                if number > 1:
                    yield number, line
    except (OSError, EOFError, ValueError, AttributeError) as error:
        raise DataError(f"cannot be read as an exported recording ({error})", file, number + 1) from error


@contextmanager
def _writing(file: Path) -> Iterator[IO[bytes]]:
    """Give a neighbour of the file to write into; it takes the file's place when all went well."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as raw:
            if file.name.endswith(".gz"):
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
                    yield out  # type: ignore[misc]
            else:
                yield raw
        temporary.replace(file)
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror or error})", file) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
