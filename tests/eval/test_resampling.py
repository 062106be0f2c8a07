"""Resampling of many columns at once, against known values and against the tests of one column."""

import numpy as np
import pytest

from evidencegym.eval.resampling import bootstrap_columns, holm, sign_flip_p
from evidencegym.eval.statistics import bootstrap_mean, permutation_p


def test_holm_gives_the_values_computed_by_hand() -> None:
    # sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04, made monotone: .04 .06 .06 .06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2] and holm([]) == []


def test_intervals_are_those_of_one_column_at_a_time() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, (200, 2))
    for column, found in enumerate(bootstrap_columns(values)):
        assert found == pytest.approx(tuple(bootstrap_mean(values[:, column])), abs=0.01)
    assert bootstrap_columns(values) == bootstrap_columns(values)
    assert bootstrap_columns(values, seed=1) != bootstrap_columns(values)


def test_a_constant_column_has_no_spread_and_no_questions_give_nan() -> None:
    assert bootstrap_columns(np.full((5, 1), 0.5), resamples=50)[0] == pytest.approx((0.5, 0.5, 0.5))
    assert np.isnan(bootstrap_columns(np.zeros((0, 1)))[0]).all()


def test_p_values_are_those_of_the_exact_test() -> None:
    # five differences of one sign: 2 of the 2**5 flips are as extreme
    assert sign_flip_p(np.ones((5, 1)))[0] == pytest.approx(2 / 32, abs=0.01)
    assert sign_flip_p(np.zeros((5, 1)), resamples=99) == [1.0]
    values = np.random.default_rng(2).normal(0.15, 1.0, (150, 1))
    assert sign_flip_p(values)[0] == pytest.approx(permutation_p(values[:, 0], np.zeros(150)), abs=0.02)
