"""The compiled walk through trees: sixteen at a time, since each step waits for memory and sixteen waits overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LANES = 16
"""How many walks go side by side; twice the eight of the helpers."""

BLOCK = 256
"""How many rows pass through all trees before the next: they stay in the cache, too."""

# Eight bytes a node: right child = node + skip; a leaf compares with nan, which no number is below, and skips nothing.
# The slot after a leaf holds its value, which so lies in the cache line that the walk has just read.
SLOT = np.dtype([("threshold", "f4"), ("feature", "u2"), ("skip", "u2")])
_MOST = int(np.iinfo(np.uint16).max)


class Packed(NamedTuple):
    """Trees as the kernels read them.

    Attributes:
        nodes: (slots,) of :data:`SLOT`.
        values: (slots,) float64, the same memory.
        starts: (trees, up to a multiple of LANES,) uint32, the slot of each root; what fills up adds nothing to a sum.
    """

    nodes: NDArray[Any]
    values: NDArray[np.float64]
    starts: NDArray[np.uint32]


def packed(
    feature: NDArray[np.int32], right: NDArray[np.int32], value: NDArray[np.float64], roots: NDArray[np.int32]
) -> Packed | None:
    """Return the nodes in eight bytes each, or None where a tree is too large for that.

    Thresholds are rounded down to float32, which changes no comparison with a float32 number.
    """
    leaf = feature < 0
    places: NDArray[np.uint32] = np.arange(len(feature), dtype=np.uint32)
    places[1:] += np.cumsum(leaf[:-1], dtype=np.uint32)
    nodes = np.zeros(len(feature) + int(leaf.sum()) + 2, SLOT)
    values = nodes.view(np.float64)
    if not _pack(feature, right, value, places, nodes, values):
        return None
    starts = np.full(-(-len(roots) // LANES) * LANES, len(nodes) - 2, np.uint32)
    starts[: len(roots)] = places[roots]
    return Packed(nodes, values, starts)


@njit(cache=True, nogil=True)
def _pack(feature, right, value, places, nodes, values):  # type: ignore[no-untyped-def]
    """Fill ``nodes``; return whether every number fits. The last leaf is -0.0: what is added to it stays as it is."""
    for node in range(len(feature)):
        at = places[node]
        if feature[node] < 0:
            nodes[at].threshold = np.nan
            values[at + 1] = value[node]
            continue
        skip = places[right[node]] - at
        if skip > _MOST or feature[node] > _MOST:
            return False
        near = np.float32(value[node])
        low = np.nextafter(near, np.float32(-np.inf)) if near > value[node] else near
        nodes[at].threshold, nodes[at].feature, nodes[at].skip = low, feature[node], skip
    nodes[len(nodes) - 2].threshold = np.nan
    values[len(nodes) - 1] = -0.0
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
def _step(nodes, at, rows, r):  # type: ignore[no-untyped-def]
    """Return the child by arithmetic, since a branch on data is mispredicted half the time."""
    right = np.uint64(not rows[r, nodes[at].feature] <= nodes[at].threshold)
    return at + right * np.uint64(nodes[at].skip) + (np.uint64(1) - right)


@njit(cache=True, nogil=True, inline="always")
def _steps(nodes, at, rows, r, one):  # type: ignore[no-untyped-def]
    """Take a step of eight walks: of one row where ``one`` is 0, of eight rows from ``r`` on where it is 1."""
    a, b, c, d, e, f, g, h = at
    two, three, four = one + one, one + one + one, one + one + one + one
    return (
        _step(nodes, a, rows, r),
        _step(nodes, b, rows, r + one),
        _step(nodes, c, rows, r + two),
        _step(nodes, d, rows, r + three),
        _step(nodes, e, rows, r + four),
        _step(nodes, f, rows, r + four + one),
        _step(nodes, g, rows, r + four + two),
        _step(nodes, h, rows, r + four + three),
    )


@njit(cache=True, nogil=True, inline="always")
def _going(nodes, at):  # type: ignore[no-untyped-def]
    """Return 0 where all eight walks stand in leaves."""
    a, b, c, d, e, f, g, h = at
    first = nodes[a].skip | nodes[b].skip | nodes[c].skip | nodes[d].skip
    return first | nodes[e].skip | nodes[f].skip | nodes[g].skip | nodes[h].skip


@njit(cache=True, nogil=True, inline="always")
def _begun(starts, t):  # type: ignore[no-untyped-def]
    """Return the roots of eight trees."""
    a, b, c, d = np.uint64(starts[t]), np.uint64(starts[t + 1]), np.uint64(starts[t + 2]), np.uint64(starts[t + 3])
    t += 4
    e, f, g, h = np.uint64(starts[t]), np.uint64(starts[t + 1]), np.uint64(starts[t + 2]), np.uint64(starts[t + 3])
    return a, b, c, d, e, f, g, h


@njit(cache=True, nogil=True)
def walk_trees(nodes, values, starts, rows, base, divide_by, out):  # type: ignore[no-untyped-def]
    """Predict row by row, sixteen trees side by side; sums are taken in the order of the trees."""
    same, one = np.uint64(0), np.uint64(1)
    for row in range(rows.shape[0]):
        total, r = base, np.uint64(row)
        for t in range(0, len(starts), LANES):
            low, high = _begun(starts, t), _begun(starts, t + 8)
            going = True
            while going:
                for _ in range(3):
                    low = _steps(nodes, low, rows, r, same)
                    high = _steps(nodes, high, rows, r, same)
                going = (_going(nodes, low) | _going(nodes, high)) != 0
            for leaf in low:
                total += values[leaf + one]
            for leaf in high:
                total += values[leaf + one]
        out[row] = total / divide_by


@njit(cache=True, nogil=True)
def walk_rows(nodes, values, starts, rows, base, divide_by, out):  # type: ignore[no-untyped-def]
    """Predict tree by tree, sixteen rows side by side: a tree stays in the cache while many rows pass through it.

    The number of rows is a multiple of sixteen.
    """
    one, eight = np.uint64(1), np.uint64(8)
    for begin in range(0, rows.shape[0], BLOCK):
        end = min(begin + BLOCK, rows.shape[0])
        for row in range(begin, end):
            out[row] = base
        for start in starts:
            root = np.uint64(start)
            for row in range(begin, end, LANES):
                r = np.uint64(row)
                low = high = (root, root, root, root, root, root, root, root)
                going = True
                while going:
                    for _ in range(3):
                        low = _steps(nodes, low, rows, r, one)
                        high = _steps(nodes, high, rows, r + eight, one)
                    going = (_going(nodes, low) | _going(nodes, high)) != 0
                for lane in range(8):
                    out[row + lane] += values[low[lane] + one]
                    out[row + 8 + lane] += values[high[lane] + one]
        for row in range(begin, end):
            out[row] /= divide_by


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
