"""Paired resampling of many columns at once: all methods see the same resamples, so their intervals are comparable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .statistics import Interval

Columns = NDArray[np.float64]
RESAMPLES = 9999
_BATCH = 1000
_TINY = 1e-12


def bootstrap_columns(
    values: Columns, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES
) -> list[Interval]:
    """Return the mean of each column with its percentile bootstrap interval over the rows (Efron & Tibshirani 1993).

    Args:
        values: (questions, columns) float64; for paired comparisons the differences question by question.
        seed: seed of the resampling.
        level: coverage of the intervals.
        resamples: number of resamples, at least 1.
    """
    n = len(values)
    if not n:
        return [Interval(float("nan"), float("nan"), float("nan"))] * values.shape[1]
    rng = np.random.default_rng(seed)
    even = np.full(n, 1 / n)
    means = [rng.multinomial(n, even, size) @ values / n for size in _sizes(resamples)]
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(float(m), float(a), float(b)) for m, a, b in zip(values.mean(axis=0), low, high)]


def sign_flip_p(differences: Columns, seed: int = 0, resamples: int = RESAMPLES) -> list[float]:
    """Return for each column the two-sided p value of a paired permutation test of mean zero (random sign flips).

    p = (1 + flips at least as extreme) / (1 + resamples), which is never 0 (Phipson & Smyth 2010).

    Args:
        differences: (questions, columns) float64.
        seed: seed of the flips.
        resamples: number of flips, at least 1.
    """
    n = len(differences)
    observed = np.abs(differences.sum(axis=0)) - _TINY
    rng = np.random.default_rng(seed)
    extreme = np.zeros(differences.shape[1])
    for size in _sizes(resamples):
        signs = rng.integers(0, 2, (size, n)) * 2.0 - 1.0
        extreme += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return [float(p) for p in (1 + extreme) / (1 + resamples)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for a family of tests by Holm's step-down procedure (Holm 1979), each in [0, 1].

    The i-th smallest of m is multiplied by m - i + 1; an adjusted value is never below one of a smaller p value.
    """
    order = sorted(range(len(p_values)), key=lambda place: (p_values[place], place))
    adjusted, reached = [0.0] * len(p_values), 0.0
    for done, place in enumerate(order):
        reached = max(reached, min(1.0, (len(order) - done) * p_values[place]))
        adjusted[place] = reached
    return adjusted


def _sizes(resamples: int) -> list[int]:
    return [min(_BATCH, resamples - first) for first in range(0, resamples, _BATCH)]
