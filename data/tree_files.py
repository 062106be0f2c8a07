"""What is saved of tree ensembles in preorder: the tests, the thresholds, the leaves; the rest follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_LEAF = np.iinfo(np.uint8).max


def narrow(
    feature: NDArray[np.int32], right: NDArray[np.int32], value: NDArray[np.float64], roots: NDArray[np.int32]
) -> dict[str, NDArray[Any]] | None:
    """Return ``tests`` (uint8), ``thresholds`` (float32 where exact, else float64) and ``leaves`` (float64).

    None where that would lose anything: nodes that are not whole trees one after the other, or 255 features and more.
    """
    if len(feature) and feature.max() >= _LEAF:
        return None
    tests = np.where(feature < 0, _LEAF, feature).astype(np.uint8)
    found = followed(tests)
    if found is None or not np.array_equal(found[0], right) or not np.array_equal(found[1], roots):
        return None
    thresholds = value[feature >= 0]
    short = thresholds.astype(np.float32)
    exact = np.array_equal(short.astype(np.float64), thresholds)
    return {"tests": tests, "thresholds": short if exact else thresholds, "leaves": value[feature < 0]}


def widened(
    tests: NDArray[Any], thresholds: NDArray[Any], leaves: NDArray[Any]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]] | None:
    """Return feature, right, value and roots of what :func:`narrow` gave, or None where the arrays do not fit."""
    sound = tests.dtype == np.uint8 and thresholds.dtype in (np.float32, np.float64) and leaves.dtype == np.float64
    if not sound or not tests.ndim == thresholds.ndim == leaves.ndim == 1:
        return None
    inner = tests != _LEAF
    found = followed(tests)
    if found is None or len(thresholds) != np.count_nonzero(inner) or len(leaves) != len(tests) - len(thresholds):
        return None
    feature, value = np.empty(len(tests), np.int32), np.empty(len(tests), np.float64)
    _fill(np.ascontiguousarray(tests), np.ascontiguousarray(thresholds), np.ascontiguousarray(leaves), feature, value)
    return feature, found[0], value, found[1]


def followed(tests: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Return the right child of each node (0 in a leaf) and the roots, or None where a tree breaks off."""
    right, waiting = np.zeros(len(tests), np.int32), np.empty(len(tests) + 1, np.int32)
    trees = _follow(np.ascontiguousarray(tests), right, waiting)
    return None if trees < 0 else (right, waiting[:trees][::-1].copy())


@njit(cache=True, nogil=True)
def _follow(tests, right, waiting):  # type: ignore[no-untyped-def]
    """From the last node to the first, let each test take the two subtrees that wait; return how many are left."""
    held = 0
    for node in range(len(tests) - 1, -1, -1):
        if tests[node] != _LEAF:
            if held < 2:
                return -1
            right[node] = waiting[held - 2]
            held -= 2
        waiting[held] = node
        held += 1
    return held


@njit(cache=True, nogil=True)
def _fill(tests, thresholds, leaves, feature, value):  # type: ignore[no-untyped-def]
    """Give each node its feature (-1 in a leaf) and the next threshold or leaf; their counts are checked before."""
    inner = 0
    for node in range(len(tests)):
        if tests[node] == _LEAF:
            feature[node], value[node] = -1, leaves[node - inner]
        else:
            feature[node], value[node] = tests[node], thresholds[inner]
            inner += 1
