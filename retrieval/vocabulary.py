"""The indexed terms: from the words of a query to their numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from .blobs import Blob, parted
from .tokens import plain_words, term

_UNKNOWN = -1
_MOST_KNOWN = 200_000


class Vocabulary:
    """Sorted terms; a term's number is its place.

    Args:
        terms: the terms in UTF-8, sorted, each closed by a line end.
        ends: (terms,) int64; where each term ends in ``terms``, its line end included.

    Raises:
        ManifestMismatchError: if ``ends`` does not fit ``terms``.
    """

    def __init__(self, terms: Blob, ends: NDArray[np.int64]) -> None:
        if not parted(terms, ends):
            raise ManifestMismatchError("the vocabulary of the index is damaged; build it again")
        self.terms = terms
        self.ends = ends
        self._known: dict[str, int] = {}

    @classmethod
    def of(cls, terms: Iterable[str]) -> Vocabulary:
        """Build a vocabulary of distinct terms, given in any order."""
        lines = [term.encode("utf-8") + b"\n" for term in sorted(terms)]
        return cls(b"".join(lines), np.cumsum([len(line) for line in lines], dtype=np.int64))

    def __len__(self) -> int:
        return len(self.ends)

    def ids(self, text: str) -> list[int]:
        """Return the numbers of the terms of ``text``, in order, repetitions kept, unknown terms left out."""
        known = self._known
        if len(known) > _MOST_KNOWN:
            known.clear()
        found = []
        for word in plain_words(text):
            number = known.get(word)
            if number is None:
                number = known[word] = self._number(term(word))
            if number != _UNKNOWN:
                found.append(number)
        return found

    def number(self, term: str) -> int:
        """Return the number of an index term, -1 where it is unknown."""
        return self._number(term)

    def _number(self, wanted: str) -> int:
        line = wanted.encode("utf-8") + b"\n"
        # Terms never hold a character below a line end, so that lines sort as terms do.
        place = bisect_left(range(len(self)), line, key=self._line)
        return place if wanted and place < len(self) and self._line(place) == line else _UNKNOWN

    def _line(self, number: int) -> bytes:
        start = int(self.ends[number - 1]) if number else 0
        return self.terms[start : self.ends[number]]
