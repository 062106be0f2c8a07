"""How often each row is drawn in bootstrap resamples, in batches that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_CELLS = 2_000_000


def resample_counts(n: int, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Yield (batch, n) how often each row is drawn in each resample of n rows, at least 1."""
    rng = np.random.default_rng(seed)
    for size in batch_sizes(n, resamples):
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def batch_sizes(n: int, resamples: int) -> list[int]:
    """Return the sizes of batches of resamples of n rows that fit into some ten megabytes."""
    most = max(1, _CELLS // n)
    return [min(most, resamples - first) for first in range(0, resamples, most)]
