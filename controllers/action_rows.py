"""The rows that the action-value forest reads: features of the state, the operation, and its expected cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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


def count_columns(feature_names: Sequence[str], operations: Sequence[str]) -> NDArray[np.int64]:
    """Return (operations,) the column of each operation's prior count."""
    names = list(feature_names)
    return np.array([names.index(f"count_{name}") for name in operations], np.int64)
