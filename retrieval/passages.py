"""Passages in a file, one JSON object a line, read one by one when they are needed."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import index
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.records import Passage
from .blobs import Blob, parted

_KEPT = 50_000


def in_order(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the passages sorted by id, each id once; of equal ids the one with the most sentences is kept."""
    kept: dict[str, Passage] = {}
    for passage in passages:
        other = kept.setdefault(passage.id, passage)
        if other is not passage and _fineness(passage) > _fineness(other):
            kept[passage.id] = passage
    return tuple(kept[key] for key in sorted(kept))


def _fineness(passage: Passage) -> tuple[int, tuple[str, ...], str]:
    return len(passage.sentences), passage.sentences, passage.title


def to_line(passage: Passage) -> bytes:
    """Return a passage as a JSON object in UTF-8, closed by a line end."""
    fields = {"id": passage.id, "title": passage.title, "sentences": passage.sentences}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def from_line(line: bytes) -> Passage:
    """Return the passage that :func:`to_line` wrote."""
    fields = json.loads(line.decode("utf-8", "surrogatepass"))
    return Passage(fields["id"], fields["title"], tuple(fields["sentences"]))


def corpus_digest(passages: Iterable[Passage]) -> str:
    """Return 32 hexadecimal digits that depend on everything in the passages, in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for passage in passages:
        digest.update(to_line(passage))
    return digest.hexdigest()


class StoredPassages(Sequence[Passage]):
    """Passages of a saved index; those read last are kept in memory.

    Args:
        lines: the file's content.
        ends: (passages,) int64; where each line ends.
        checks: (passages,) uint32; CRC-32 of each line, compared when the line is read.

    Raises:
        ManifestMismatchError: if the arrays do not fit the lines; later, if a line that is read is damaged.
    """

    def __init__(self, lines: Blob, ends: NDArray[np.int64], checks: NDArray[np.uint32]) -> None:
        if len(ends) != len(checks) or not parted(lines, ends):
            raise ManifestMismatchError("the passages of the index are damaged; build it again")
        self._lines = lines
        self._ends = ends
        self._checks = checks
        self._at = lru_cache(maxsize=_KEPT)(self._read)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> Passage: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Passage]: ...
    def __getitem__(self, at: Any) -> Passage | Sequence[Passage]:
        if isinstance(at, slice):
            return tuple(self._at(i) for i in range(*at.indices(len(self))))
        place = index(at)
        if not -len(self) <= place < len(self):
            raise IndexError(f"passage {place} of {len(self)}")
        return self._at(place % len(self))

    def _read(self, place: int) -> Passage:
        start = int(self._ends[place - 1]) if place else 0
        line = self._lines[start : int(self._ends[place])]
        if zlib.crc32(line) != self._checks[place]:
            raise ManifestMismatchError(f"line {place + 1} of the index's passages is damaged; build the index again")
        return from_line(line)
