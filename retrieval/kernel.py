"""The compiled part of BM25: adds up impacts and keeps the best ``k``, ties broken by passage number."""

from __future__ import annotations

import numpy as np
from numba import njit

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def best(impacts, numbers, starts, words, queries, scores, touched, out_numbers, out_scores, counts):  # type: ignore[no-untyped-def]
    """Find the best passages of each query, at equal scores those with smaller numbers.

    Args:
        impacts: (postings,) float32, positive; what the word adds to the passage's score.
        numbers: (postings,) int32; passage numbers.
        starts: (words + 1,) int64; first posting of each word.
        words: (n,) int32; word ids of all queries, one after the other.
        queries: (queries + 1,) int64; where each query starts in ``words``.
        scores: (passages,) float32; scratch, all zero before and after.
        touched: (passages + 1,) int32; scratch.
        out_numbers: (queries, k) int32; out, passage numbers, best first.
        out_scores: (queries, k) float32; out.
        counts: (queries,) int64; out, how many passages of each row were found.
    """
    heap = np.empty(out_numbers.shape[1], np.uint64)
    for q in range(len(counts)):
        found = 0
        for w in range(queries[q], queries[q + 1]):
            word = words[w]
            for p in range(starts[word], starts[word + 1]):
                number = numbers[p]
                before = scores[number]
                touched[found] = number
                found += before == 0
                scores[number] = before + impacts[p]
        counts[q] = _select(scores, touched[:found], heap)
        _unpack(heap[: counts[q]], out_numbers[q], out_scores[q])


@njit(cache=True, nogil=True)
def _select(scores, touched, heap):  # type: ignore[no-untyped-def]
    """Leave the greatest keys in ``heap``, descending, set the scores to zero, and return how many keys there are.

    A key holds the bits of a positive score above the complement of the number: a greater key is better.
    """
    bits = scores.view(np.uint32)
    kept = min(len(touched), len(heap))
    for i in range(kept):
        number = touched[i]
        heap[i] = _key(bits[number], number)
        bits[number] = 0
    for i in range(kept // 2 - 1, -1, -1):
        _sift(heap, i, kept, heap[i])
    for i in range(kept, len(touched)):
        number = touched[i]
        value = bits[number]
        bits[number] = 0
        if value >= heap[0] >> _HALF and _key(value, number) > heap[0]:
            _sift(heap, 0, kept, _key(value, number))
    for last in range(kept - 1, 0, -1):
        key = heap[last]
        heap[last] = heap[0]
        _sift(heap, 0, last, key)
    return kept


@njit(cache=True, nogil=True)
def _key(value, number):  # type: ignore[no-untyped-def]
    return (np.uint64(value) << _HALF) | (_LOW - np.uint64(number))


@njit(cache=True, nogil=True)
def _unpack(keys, out_numbers, out_scores):  # type: ignore[no-untyped-def]
    out_bits = out_scores.view(np.uint32)
    for i in range(len(keys)):
        out_numbers[i] = np.int32(_LOW - (keys[i] & _LOW))
        out_bits[i] = np.uint32(keys[i] >> _HALF)


@njit(cache=True, nogil=True)
def _sift(heap, at, size, key):  # type: ignore[no-untyped-def]
    """Put ``key`` into the min-heap ``heap[:size]`` at ``at`` or below."""
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key


@njit(cache=True, nogil=True)
def sound(impacts, numbers, starts, passages):  # type: ignore[no-untyped-def]
    """Return whether ``best`` may follow these arrays: every index inside, every impact positive and finite."""
    if len(starts) == 0 or len(impacts) != len(numbers) or starts[0] != 0 or starts[-1] != len(numbers):
        return False
    fits = True
    for word in range(len(starts) - 1):
        fits &= starts[word] <= starts[word + 1]
    for p in range(len(numbers)):
        fits &= (0 <= numbers[p] < passages) & (0 < impacts[p] < np.inf)
    return fits
