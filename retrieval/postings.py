"""The inverted index of BM25: which passages hold a word, and what the word adds to their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from .kernel import best, sound
from .term_lists import TermLists

_FOUND_AT_ONCE = 1 << 20


class Postings:
    """Impacts of words on passages, by word; searched in a compiled kernel.

    Args:
        impacts: (postings,) float32, positive.
        numbers: (postings,) int32; the passage of each posting.
        starts: (words + 1,) int64; the first posting of each word.
        passages: number of passages, below 2 ** 31.

    Raises:
        ManifestMismatchError: if an index points outside the arrays, so that a damaged file is never followed.
    """

    def __init__(self, impacts: NDArray[Any], numbers: NDArray[Any], starts: NDArray[Any], passages: int) -> None:
        self.impacts = _frozen(impacts, np.float32)
        self.numbers = _frozen(numbers, np.int32)
        self.starts = _frozen(starts, np.int64)
        self.passages = passages
        self._scratch: list[tuple[NDArray[np.float32], NDArray[np.int32]]] = []
        if not sound(self.impacts, self.numbers, self.starts, passages):
            raise ManifestMismatchError(
                "the arrays of the BM25 index are damaged: an index points outside them; build it again"
            )
        self._best([[]], 1)  # compiles the kernel now, so that the first search is as fast as the others

    @classmethod
    def build(cls, documents: TermLists, words: int, k1: float, b: float) -> Postings:
        """Index term numbers below ``words`` with bm25s, in Lucene's variant."""
        if words == 0:
            return cls(np.zeros(0), np.zeros(0), np.zeros(1), len(documents))
        from bm25s import BM25

        indexer = BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
        arrays = indexer.build_index_from_ids(range(words), documents, show_progress=False)
        return cls(arrays["data"], arrays["indices"], arrays["indptr"], len(documents))

    def frequency(self, word: int) -> int:
        """Return how many passages hold a word; none hold an unknown one, -1."""
        return int(self.starts[word + 1] - self.starts[word]) if word >= 0 else 0

    def best(self, queries: Sequence[Sequence[int]], k: int) -> Iterator[tuple[list[int], list[float]]]:
        """Yield, for each query (a list of word ids), its best ``k`` passage numbers and their scores, best first."""
        width = min(k, self.passages)
        step = max(1, _FOUND_AT_ONCE // width)
        for first in range(0, len(queries), step):
            yield from self._best(queries[first : first + step], width)

    def _best(self, queries: Sequence[Sequence[int]], width: int) -> Iterable[tuple[list[int], list[float]]]:
        words = np.array(list(chain.from_iterable(queries)), np.int32)
        ends = np.array(list(accumulate(map(len, queries), initial=0)), np.int64)
        found = np.empty((len(queries), width), np.int32)
        values = np.empty((len(queries), width), np.float32)
        counts = np.empty(len(queries), np.int64)
        scores, touched = self._borrow()
        best(self.impacts, self.numbers, self.starts, words, ends, scores, touched, found, values, counts)
        self._scratch.append((scores, touched))
        return [(n[:c], v[:c]) for n, v, c in zip(found.tolist(), values.tolist(), counts.tolist())]

    def _borrow(self) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Take scratch arrays that no other thread holds; list.pop is atomic."""
        try:
            return self._scratch.pop()
        except IndexError:
            return np.zeros(self.passages, np.float32), np.empty(self.passages + 1, np.int32)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_scratch": []}


def _frozen(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a plain, contiguous, read-only array: one compiled version serves built and memory-mapped ones."""
    plain = np.ascontiguousarray(np.asarray(array), dtype).view()
    plain.flags.writeable = False
    return plain
