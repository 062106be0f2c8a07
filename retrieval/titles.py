"""Look-up of passages by title, and by title without what stands in brackets at its end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.records import Passage, content_hash
from ..data.text import name_key, normalise_title, subject_of


class Titles:
    """Hashes of titles without their brackets, sorted, each with the number of its passage.

    Args:
        hashes: (passages,) uint64, ascending.
        numbers: (passages,) int32; ascending where hashes are equal.

    Raises:
        ManifestMismatchError: if the arrays are not such.
    """

    def __init__(self, hashes: NDArray[np.uint64], numbers: NDArray[np.int32]) -> None:
        inside = len(numbers) == len(hashes) and bool(np.all((numbers >= 0) & (numbers < len(numbers))))
        if not inside or bool(np.any(hashes[1:] < hashes[:-1])):
            raise ManifestMismatchError("the titles of the index are damaged; build it again")
        self.hashes = hashes
        self.numbers = numbers

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> Titles:
        """Build the look-up of passages that stand in order of their numbers."""
        hashes = np.array([_hash(_subject(passage.title)) for passage in passages], np.uint64)
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], order.astype(np.int32))

    def find(self, title: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return the passages with this title (case and spaces ignored), in order of their numbers."""
        wanted = normalise_title(title)
        return tuple(p for p in self._hashed(_subject(title), passages) if normalise_title(p.title) == wanted)

    def about(self, name: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return the passages whose title is ``name``, brackets and a leading "the" left out, by their numbers."""
        wanted = name_key(name)
        return tuple(p for p in self._hashed(wanted, passages) if _subject(p.title) == wanted)

    def _hashed(self, subject: str, passages: Sequence[Passage]) -> list[Passage]:
        key = np.uint64(_hash(subject))
        first, last = (int(np.searchsorted(self.hashes, key, side)) for side in ("left", "right"))
        return [passages[number] for number in self.numbers[first:last].tolist()]


def _subject(title: str) -> str:
    return name_key(subject_of(title))


def _hash(title: str) -> int:
    return int(content_hash("title", title), 16)
