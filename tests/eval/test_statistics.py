"""Intervals and paired tests, against hand-written ones and known cases."""

import itertools

import numpy as np
import pytest

from evidencegym.eval.statistics import Interval, bootstrap_mean, paired_difference, permutation_p

SAMPLE = np.random.default_rng(0).normal(0.3, 1.0, 80)


def test_the_interval_is_that_of_a_hand_written_bootstrap() -> None:
    random = np.random.default_rng(99)
    means = [random.choice(SAMPLE, len(SAMPLE)).mean() for _ in range(9999)]
    low, high = np.percentile(means, [2.5, 97.5])
    found = bootstrap_mean(SAMPLE, seed=1)
    assert found.mean == pytest.approx(SAMPLE.mean())
    assert found.low == pytest.approx(low, abs=0.02) and found.high == pytest.approx(high, abs=0.02)


def test_nineteen_of_twenty_intervals_cover_the_mean() -> None:
    random = np.random.default_rng(3)
    found = [bootstrap_mean(random.normal(0.5, 1, 60), seed=n, resamples=500) for n in range(300)]
    assert 0.90 <= np.mean([interval.low <= 0.5 <= interval.high for interval in found]) <= 0.98


def test_levels_are_nested_and_seeds_decide() -> None:
    wide, narrow = bootstrap_mean(SAMPLE, level=0.99), bootstrap_mean(SAMPLE, level=0.5)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    assert bootstrap_mean(SAMPLE, seed=5) == bootstrap_mean(SAMPLE, seed=5) != bootstrap_mean(SAMPLE, seed=6)
    assert bootstrap_mean(SAMPLE[::-1], seed=5).mean == pytest.approx(bootstrap_mean(SAMPLE, seed=5).mean)


@pytest.mark.parametrize("values", [[0.25] * 7, [1.0], [0.0, 0.0]])
def test_constant_values_have_an_interval_of_no_width(values: list[float]) -> None:
    assert bootstrap_mean(np.array(values)) == Interval(values[0], values[0], values[0])


def test_no_values_have_no_mean() -> None:
    assert np.isnan(bootstrap_mean(np.array([]))).all()


def test_two_values() -> None:
    found = bootstrap_mean(np.array([0.0, 1.0]))
    assert found == Interval(0.5, 0.0, 1.0)


def test_a_paired_difference_is_that_of_the_pairs() -> None:
    random = np.random.default_rng(4)
    b = random.random(50)
    a = b + 0.1
    assert paired_difference(a, b) == bootstrap_mean(a - b)
    assert paired_difference(a, b).low == pytest.approx(0.1) == pytest.approx(paired_difference(a, b).high)
    shuffled = paired_difference(a, random.permutation(b))
    assert shuffled.high - shuffled.low > 0.05
    back = paired_difference(b, a)
    assert back.mean == pytest.approx(-0.1)


def test_permutation_of_equal_data_is_one() -> None:
    assert permutation_p(SAMPLE, SAMPLE) == 1.0
    assert permutation_p(np.array([]), np.array([])) == 1.0


def test_permutation_of_few_pairs_is_exact() -> None:
    a, b = np.array([3.0, 1.0, 2.5, 4.0, 0.5]), np.array([1.0, 2.0, 0.0, 1.0, 0.0])
    difference = a - b
    means = [np.mean(difference * signs) for signs in itertools.product((1, -1), repeat=5)]
    expected = np.mean([abs(mean) >= abs(difference.mean()) - 1e-12 for mean in means])
    assert permutation_p(a, b) == pytest.approx(expected)
    assert permutation_p(b, a) == pytest.approx(expected)


def test_permutation_of_many_pairs() -> None:
    random = np.random.default_rng(5)
    a = random.normal(0, 1, 100)
    assert permutation_p(a, a + 1 + random.normal(0, 0.1, 100)) < 0.001
    assert permutation_p(a, random.permutation(a)) > 0.3
    b = a + random.normal(0.2, 1, 100)
    assert permutation_p(a, b, seed=1) == permutation_p(a, b, seed=1) != permutation_p(a, b, seed=2)
