"""Shares of clusters: intervals over clusters, and the exact bound."""

import numpy as np
import pytest

from evidencegym.confidence.clustered import clustered_share, upper_bound
from evidencegym.data.errors import ConfigError


def test_the_share_is_that_of_all_things() -> None:
    found = clustered_share([1, 0, 4], [1, 5, 4])
    assert found.share == 0.5
    assert 0 <= found.low < 0.5 < found.high <= 1


def test_the_error_is_the_linearised_one() -> None:
    random = np.random.default_rng(0)
    totals = random.integers(1, 9, 400)
    parts = random.binomial(totals, random.beta(2, 1, 400))
    share = parts.sum() / totals.sum()
    linear = np.sqrt(((parts - share * totals) ** 2).sum()) / totals.sum()
    found = clustered_share(list(parts), list(totals), seed=1)
    assert found.error == pytest.approx(linear, rel=0.08)
    assert found.high - found.low == pytest.approx(2 * 1.96 * linear, rel=0.1)


def test_chunks_that_go_together_say_less_than_independent_ones() -> None:
    together = clustered_share([4, 0] * 50, [4, 4] * 50)
    alone = clustered_share([1, 0] * 200, [1] * 400)
    assert together.share == alone.share == 0.5
    assert together.error == pytest.approx(2 * alone.error, rel=0.1)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    covered = []
    for run in range(300):
        size = random.integers(1, 6, 80)
        chance = random.beta(4, 1, 80)
        found = clustered_share(list(random.binomial(size, chance)), list(size), run, resamples=300)
        covered.append(found.low <= 0.8 <= found.high)
    assert 0.90 <= np.mean(covered) <= 0.98


def test_seeds_decide_and_empty_clusters_add_nothing() -> None:
    parts, totals = [1, 2, 0, 3, 0, 0], [2, 2, 1, 3, 0, 4]
    assert clustered_share(parts, totals, 5) == clustered_share(parts, totals, 5) != clustered_share(parts, totals, 6)
    assert clustered_share([0, 2], [0, 2]).share == 1.0


@pytest.mark.parametrize(("parts", "totals"), [([], []), ([0, 0], [0, 0])])
def test_nothing_has_no_share(parts: list[int], totals: list[int]) -> None:
    assert np.isnan(clustered_share(parts, totals)).all()


@pytest.mark.parametrize(("parts", "totals"), [([2], [1]), ([-1], [1]), ([1], [1, 1])])
def test_parts_that_do_not_fit(parts: list[int], totals: list[int]) -> None:
    with pytest.raises(ConfigError, match="part between 0 and its total"):
        clustered_share(parts, totals)


def test_the_upper_bound_is_where_so_few_successes_become_unlikely() -> None:
    from scipy.stats import binom

    bound = upper_bound(17, 40)
    assert binom.cdf(17, 40, bound) == pytest.approx(0.05)
    assert upper_bound(0, 59) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert upper_bound(40, 40) == 1.0
