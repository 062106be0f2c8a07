"""Intervals and paired tests over questions, seeded; of many columns at once, so that all see the same resamples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.resamples import batch_sizes, resample_counts

Column = NDArray[np.float64]
Columns = NDArray[np.float64]
RESAMPLES = 9999
_TINY = 1e-12


class Interval(NamedTuple):
    """A mean with its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap_columns(
    values: Columns, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES
) -> list[Interval]:
    """Return the mean of each column with its percentile bootstrap interval over the rows (Efron & Tibshirani 1993).

    A column of equal values has an interval of no width; without rows everything is nan.

    Args:
        values: (questions, columns) float64; for paired comparisons the differences question by question.
        seed: seed of the resampling.
        level: coverage of the intervals.
        resamples: number of resamples, at least 1.
    """
    if not len(values):
        return [Interval(float("nan"), float("nan"), float("nan"))] * values.shape[1]
    means = np.concatenate([counts @ values / len(values) for counts in resample_counts(len(values), seed, resamples)])
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [_interval(column, low, high) for column, low, high in zip(values.T, *ends)]


def bootstrap_mean(values: Column, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES) -> Interval:
    """Return what :func:`bootstrap_columns` does for one column, (questions,)."""
    [found] = bootstrap_columns(np.asarray(values, np.float64)[:, None], seed, level, resamples)
    return found


def paired_difference(a: Column, b: Column, seed: int = 0, level: float = 0.95, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of a - b with its paired bootstrap interval; both hold the same questions in the same order."""
    return bootstrap_mean(np.asarray(a, np.float64) - np.asarray(b, np.float64), seed, level, resamples)


def sign_flip_p(differences: Columns, seed: int = 0, resamples: int = RESAMPLES) -> list[float]:
    """Return for each column the two-sided p value of a paired permutation test of mean zero (random sign flips).

    p = (1 + flips at least as extreme) / (1 + resamples), which is never 0 (Phipson & Smyth 2010). Where there are no
    more flips than ``resamples``, all are made, and p is exact.

    Args:
        differences: (questions, columns) float64.
        seed: seed of the flips.
        resamples: number of flips, at least 1.
    """
    n = len(differences)
    observed = np.abs(differences.sum(axis=0)) - _TINY
    exact = n < resamples.bit_length() and 2**n <= resamples
    extreme = np.full(differences.shape[1], 0 if exact else 1)
    for signs in _all_signs(n) if exact else _signs(n, seed, resamples):
        extreme += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return [float(p) for p in extreme / (2**n if exact else 1 + resamples)]


def permutation_p(a: Column, b: Column, seed: int = 0, resamples: int = RESAMPLES) -> float:
    """Return the p value of :func:`sign_flip_p` for a - b, (questions,) each."""
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    return sign_flip_p(difference[:, None], seed, resamples)[0]


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


def _interval(column: Column, low: float, high: float) -> Interval:
    """Return the interval of a column; rounding gives one of equal values no width."""
    if column.min() == column.max():
        return Interval(*[float(column[0])] * 3)
    return Interval(float(column.mean()), float(low), float(high))


def _signs(n: int, seed: int, resamples: int) -> Iterator[Columns]:
    """Yield (batch, n) signs of random flips."""
    rng = np.random.default_rng(seed)
    for size in batch_sizes(n, resamples):
        yield (rng.integers(0, 2, (size, n)) * 2 - 1).astype(np.float64)


def _all_signs(n: int) -> Iterator[Columns]:
    """Yield (2**n, n) the signs of all flips."""
    yield ((np.arange(2**n)[:, None] >> np.arange(n) & 1) * 2 - 1).astype(np.float64)
