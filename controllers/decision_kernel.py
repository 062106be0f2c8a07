"""The compiled parts of a decision beside the forest: for one state, calls of numpy would cost as much as the trees."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fill_rows(features, mask, counts, expected_costs, rows):  # type: ignore[no-untyped-def]
    """Write one row for each valid operation of each state, as ``action_rows`` does; ``rows`` has just room for them.

    Args:
        features: (batch, features) float32.
        mask: (batch, operations) int8.
        counts: (operations,) column of each operation's prior count.
        expected_costs: (operations, cost features).
        rows: (valid operations of all states, features + operations + 1 + cost features) float32.
    """
    width, prior, row = features.shape[1], features.shape[1] + len(counts), 0
    for state in range(mask.shape[0]):
        for operation in range(mask.shape[1]):
            if mask[state, operation] == 0:
                continue
            rows[row, :width] = features[state]
            rows[row, width:prior] = 0
            rows[row, width + operation] = 1
            rows[row, prior] = features[state, counts[operation]]
            rows[row, prior + 1 :] = expected_costs[operation]
            row += 1


@njit(cache=True, nogil=True)
def spread(predicted, mask, values):  # type: ignore[no-untyped-def]
    """Write the predictions of :func:`fill_rows`'s rows to their places in (batch, operations), nan elsewhere."""
    row = 0
    for state in range(mask.shape[0]):
        for operation in range(mask.shape[1]):
            values[state, operation] = np.nan
            if mask[state, operation] != 0:
                values[state, operation] = predicted[row]
                row += 1


@njit(cache=True, nogil=True)
def choose(values, mask, chosen):  # type: ignore[no-untyped-def]
    """Write the valid operation of the highest value of each row, the lowest of equal ones, a nan before all.

    Return whether every row has a valid operation.
    """
    complete = True
    for state in range(mask.shape[0]):
        best = -1
        for operation in range(mask.shape[1]):
            if mask[state, operation] != 0:
                value = values[state, operation]
                top = values[state, best]
                if best < 0 or value > top or (np.isnan(value) and not np.isnan(top)):
                    best = operation
        complete &= best >= 0
        chosen[state] = best
    return complete
