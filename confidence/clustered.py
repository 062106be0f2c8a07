"""Shares of things that come in clusters, such as chunks of a question, with sampling errors over the clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..data.errors import ConfigError
from ..data.resamples import resample_counts

RESAMPLES = 2000


class Share(NamedTuple):
    """A share in [0, 1] with its sampling error; all nan where there is nothing to have a share of.

    Attributes:
        share: the share over everything.
        low: lower end of the 95 % percentile interval.
        high: its upper end.
        error: standard error.
    """

    share: float
    low: float
    high: float
    error: float


def clustered_share(parts: Sequence[int], totals: Sequence[int], seed: int = 0, resamples: int = RESAMPLES) -> Share:
    """Return sum of parts over sum of totals, with a bootstrap over whole clusters (Field & Welsh 2007).

    Where every cluster has the same share the interval has no width; a binomial bound says more there.

    Args:
        parts: (clusters,) how many of each cluster count, 0 to its total.
        totals: (clusters,) the size of each; empty clusters are drawn, too, and add nothing.
        seed: seed of the resampling.
        resamples: number of resamples, at least 1.

    Raises:
        ConfigError: if a part is negative or larger than its total, or the two differ in length.
    """
    some, every = np.asarray(parts, np.float64), np.asarray(totals, np.float64)
    if some.shape != every.shape or np.any((some < 0) | (some > every)):
        raise ConfigError("each cluster needs a part between 0 and its total, one part and one total a cluster")
    if not every.sum():
        return Share(*[float("nan")] * 4)
    columns = np.stack([some, every], axis=1)
    sums = np.concatenate([counts @ columns for counts in resample_counts(len(some), seed, resamples)])
    drawn = sums[sums[:, 1] > 0]
    shares = drawn[:, 0] / drawn[:, 1]
    low, high = np.quantile(shares, [0.025, 0.975])
    return Share(float(some.sum() / every.sum()), float(low), float(high), float(shares.std()))


def upper_bound(successes: int, trials: int, level: float = 0.95) -> float:
    """Return the one-sided upper bound of a probability from independent trials (Clopper & Pearson 1934)."""
    from scipy.stats import beta

    if successes >= trials:
        return 1.0
    return float(beta.ppf(level, successes + 1, trials - successes))
