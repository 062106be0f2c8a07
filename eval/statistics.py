"""Intervals and paired tests over questions, seeded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

_BATCH = 500


class Interval(NamedTuple):
    """A mean with its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap_mean(values: NDArray[np.float64], seed: int = 0, level: float = 0.95, resamples: int = 9999) -> Interval:
    """Return the mean of one value a question with its percentile bootstrap interval (Efron & Tibshirani 1993).

    Args:
        values: (questions,); for a paired comparison the differences question by question.
        seed: seed of the resampling.
        level: coverage of the interval.
        resamples: number of resamples.
    """
    mean = float(np.mean(values)) if len(values) else float("nan")
    if len(values) < 2 or bool(np.all(values == values[0])):
        return Interval(mean, mean, mean)
    result = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        confidence_level=level,
        method="percentile",
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    interval = result.confidence_interval
    return Interval(mean, float(interval.low), float(interval.high))


def paired_difference(
    a: NDArray[np.float64], b: NDArray[np.float64], seed: int = 0, level: float = 0.95, resamples: int = 9999
) -> Interval:
    """Return the mean of a - b with its paired bootstrap interval; both hold the same questions in the same order."""
    return bootstrap_mean(np.asarray(a, np.float64) - np.asarray(b, np.float64), seed, level, resamples)


def permutation_p(a: NDArray[np.float64], b: NDArray[np.float64], seed: int = 0, resamples: int = 9999) -> float:
    """Return the two-sided p value of a paired sign-flip permutation test of equal means."""
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    if not len(difference) or not np.any(difference):
        return 1.0
    result = stats.permutation_test(
        (difference,),
        np.mean,
        permutation_type="samples",
        n_resamples=resamples,
        batch=_BATCH,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)
