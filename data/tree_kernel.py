"""The compiled walk through trees: eight at a time, since each step waits for memory and eight waits overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Eight bytes a node: right child = node + skip; a leaf compares with nan, which no number is below, and skips nothing.
PACKED = np.dtype([("threshold", "f4"), ("feature", "u2"), ("skip", "u2")])
_MOST = int(np.iinfo(np.uint16).max)


def packed(feature: NDArray[np.int32], right: NDArray[np.int32], value: NDArray[np.float64]) -> NDArray[Any] | None:
    """Return the nodes in eight bytes each, or None where a tree is too large for that.

    Thresholds are rounded down to float32, which changes no comparison with a float32 number.
    """
    nodes = np.zeros(len(feature), PACKED)
    fits = _pack(feature, right, rounded_down(np.where(feature < 0, 0, value)), nodes)
    return nodes if fits else None


@njit(cache=True, nogil=True)
def _pack(feature, right, threshold, nodes):  # type: ignore[no-untyped-def]
    """Fill ``nodes``; return whether every number fits."""
    for node in range(len(feature)):
        nodes[node].threshold = np.nan
        if feature[node] >= 0:
            skip = right[node] - node
            if skip > _MOST or feature[node] > _MOST:
                return False
            nodes[node].threshold, nodes[node].feature, nodes[node].skip = threshold[node], feature[node], skip
    return True


def rounded_down(value: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 number that is not above each value."""
    with np.errstate(over="ignore"):
        near: NDArray[np.float32] = value.astype(np.float32)
    if not np.any(near > value):
        return near
    return np.where(near > value, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float32)


@njit(cache=True, nogil=True)
def inside(feature, right, roots, n_features):  # type: ignore[no-untyped-def]
    """Return whether a walk stays inside: each test has two later nodes and a feature, each root is a node."""
    nodes = len(feature)
    fits = nodes == 0 or feature[nodes - 1] < 0
    for node in range(nodes):
        fits &= (feature[node] < 0) | ((feature[node] < n_features) & (node + 1 < right[node]) & (right[node] < nodes))
    for root in roots:
        fits &= (root >= 0) & (root < nodes)
    return fits


@njit(cache=True, nogil=True, inline="always")
def _step(nodes, at, x):  # type: ignore[no-untyped-def]
    """Return the child by arithmetic, since a branch on data is mispredicted half the time."""
    right = np.uint64(not x <= nodes[at].threshold)
    return at + right * np.uint64(nodes[at].skip) + (np.uint64(1) - right)


@njit(cache=True, nogil=True)
def walk_trees(nodes, value, roots, rows, base, divide_by, out):  # type: ignore[no-untyped-def]
    """Predict row by row, eight trees side by side; sums are taken in the order of the trees."""
    last = len(roots) - len(roots) % 8
    for r in range(rows.shape[0]):
        x = rows[r]
        total = base
        for t in range(0, last, 8):
            a, b, c, d = np.uint64(roots[t]), np.uint64(roots[t + 1]), np.uint64(roots[t + 2]), np.uint64(roots[t + 3])
            e, f, g, h = (
                np.uint64(roots[t + 4]),
                np.uint64(roots[t + 5]),
                np.uint64(roots[t + 6]),
                np.uint64(roots[t + 7]),
            )
            moved = True
            while moved:
                before = a + b + c + d + e + f + g + h
                for _ in range(3):
                    a = _step(nodes, a, x[nodes[a].feature])
                    b = _step(nodes, b, x[nodes[b].feature])
                    c = _step(nodes, c, x[nodes[c].feature])
                    d = _step(nodes, d, x[nodes[d].feature])
                    e = _step(nodes, e, x[nodes[e].feature])
                    f = _step(nodes, f, x[nodes[f].feature])
                    g = _step(nodes, g, x[nodes[g].feature])
                    h = _step(nodes, h, x[nodes[h].feature])
                # Nodes only ever grow, so an equal sum means that all eight stand in leaves.
                moved = a + b + c + d + e + f + g + h != before
            total += value[a]
            total += value[b]
            total += value[c]
            total += value[d]
            total += value[e]
            total += value[f]
            total += value[g]
            total += value[h]
        for t in range(last, len(roots)):
            total += value[_leaf(nodes, np.uint64(roots[t]), x)]
        out[r] = total / divide_by


@njit(cache=True, nogil=True)
def walk_rows(nodes, value, roots, rows, base, divide_by, out):  # type: ignore[no-untyped-def]
    """Predict tree by tree, eight rows side by side: a tree stays in the cache while many rows pass through it."""
    last = rows.shape[0] - rows.shape[0] % 8
    out[:] = base
    for t in range(len(roots)):
        root = np.uint64(roots[t])
        for r in range(0, last, 8):
            a = b = c = d = e = f = g = h = root
            moved = True
            while moved:
                before = a + b + c + d + e + f + g + h
                for _ in range(3):
                    a = _step(nodes, a, rows[r, nodes[a].feature])
                    b = _step(nodes, b, rows[r + 1, nodes[b].feature])
                    c = _step(nodes, c, rows[r + 2, nodes[c].feature])
                    d = _step(nodes, d, rows[r + 3, nodes[d].feature])
                    e = _step(nodes, e, rows[r + 4, nodes[e].feature])
                    f = _step(nodes, f, rows[r + 5, nodes[f].feature])
                    g = _step(nodes, g, rows[r + 6, nodes[g].feature])
                    h = _step(nodes, h, rows[r + 7, nodes[h].feature])
                moved = a + b + c + d + e + f + g + h != before
            out[r] += value[a]
            out[r + 1] += value[b]
            out[r + 2] += value[c]
            out[r + 3] += value[d]
            out[r + 4] += value[e]
            out[r + 5] += value[f]
            out[r + 6] += value[g]
            out[r + 7] += value[h]
        for r in range(last, rows.shape[0]):
            out[r] += value[_leaf(nodes, root, rows[r])]
    for r in range(rows.shape[0]):
        out[r] /= divide_by


@njit(cache=True, nogil=True, inline="always")
def _leaf(nodes, node, x):  # type: ignore[no-untyped-def]
    at = node
    while True:
        step = np.uint64(1) if x[nodes[at].feature] <= nodes[at].threshold else np.uint64(nodes[at].skip)
        if step == 0:
            return at
        at += step


@njit(cache=True, nogil=True)
def walk_wide(feature, right, value, roots, rows, base, divide_by, out):  # type: ignore[no-untyped-def]
    """Predict float64 rows, and trees too large to be packed."""
    for r in range(rows.shape[0]):
        total = base
        for t in range(len(roots)):
            at = roots[t]
            while feature[at] >= 0:
                at = at + 1 if rows[r, feature[at]] <= value[at] else right[at]
            total += value[at]
        out[r] = total / divide_by
