"""The rows that the action-value forest reads: features of the state, the operation, and its expected cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from .decision_kernel import fill_rows

COST_FEATURES = ("expected_tokens", "expected_generator_calls", "expected_retrievals")


def row_names(feature_names: Sequence[str], operations: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a row: the state's features, the operation's identity, its prior count, its expected cost."""
    identity = tuple(f"is_{name}" for name in operations)
    return (*feature_names, *identity, "prior_count", *COST_FEATURES)


def action_rows(
    features: NDArray[np.float32],
    operations: NDArray[np.int64],
    counts: NDArray[np.int64],
    expected_costs: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Return (rows, row_names) float32.

    Args:
        features: (rows, features), one state a row.
        operations: (rows,) action ids.
        counts: (operations,) column of each operation's prior count in ``features``.
        expected_costs: (operations, cost features), mean costs at training.
    """
    each, width, prior = np.arange(len(features)), features.shape[1], features.shape[1] + len(counts)
    rows: NDArray[np.float32] = np.zeros((len(features), prior + 1 + expected_costs.shape[1]), np.float32)
    rows[:, :width] = features
    rows[each, width + operations] = 1
    rows[:, prior] = features[each, counts[operations]]
    rows[:, prior + 1 :] = expected_costs[operations]
    return rows


def valid_rows(
    features: NDArray[np.float32],
    mask: NDArray[np.int8],
    counts: NDArray[np.int64],
    expected_costs: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Return the rows of all valid operations, state by state, in the order of their ids.

    Args:
        features: (batch, features), one state a row.
        mask: (batch, operations), contiguous.
        counts: as for :func:`action_rows`.
        expected_costs: as for :func:`action_rows`.

    Raises:
        ManifestMismatchError: if there is not one row of features a row of the mask, or a count has no column.
    """
    states = np.ascontiguousarray(features, np.float32)
    if states.ndim != 2 or len(states) != len(mask) or counts.max(initial=-1) >= states.shape[1]:
        raise ManifestMismatchError(f"features of shape {states.shape} do not go with a mask of shape {mask.shape}")
    width = states.shape[1] + len(counts) + 1 + expected_costs.shape[1]
    rows: NDArray[np.float32] = np.empty((np.count_nonzero(mask), width), np.float32)
    fill_rows(states, mask, counts, expected_costs, rows)
    return rows


def count_columns(feature_names: Sequence[str], operations: Sequence[str]) -> NDArray[np.int64]:
    """Return (operations,) the column of each operation's prior count."""
    names = list(feature_names)
    return np.array([names.index(f"count_{name}") for name in operations], np.int64)
