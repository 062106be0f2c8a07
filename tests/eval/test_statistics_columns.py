"""Resampling of many columns at once, against known values and against the tests of one column."""

from math import erfc, sqrt

import numpy as np
import pytest

from evidencegym.eval.statistics import bootstrap_columns, bootstrap_mean, holm, sign_flip_p


def test_holm_gives_the_values_computed_by_hand() -> None:
    # sorted .01 .02 .03 .04, times 4 3 2 1: .04 .06 .06 .04, made monotone: .04 .06 .06 .06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2] and holm([]) == []


def test_intervals_are_those_of_one_column_at_a_time() -> None:
    values = np.random.default_rng(1).normal(0.3, 1.0, (200, 2))
    for column, found in enumerate(bootstrap_columns(values)):
        assert found == pytest.approx(tuple(bootstrap_mean(values[:, column])))
    assert bootstrap_columns(values) == bootstrap_columns(values)
    assert bootstrap_columns(values, seed=1) != bootstrap_columns(values)


def test_a_constant_column_has_no_spread_and_no_questions_give_nan() -> None:
    assert bootstrap_columns(np.full((5, 1), 0.5), resamples=50)[0] == pytest.approx((0.5, 0.5, 0.5))
    assert np.isnan(bootstrap_columns(np.zeros((0, 1)))[0]).all()


def test_p_values_of_few_rows_are_exact() -> None:
    # five differences of one sign: 2 of the 2**5 flips are as extreme
    assert sign_flip_p(np.ones((5, 1))) == [2 / 32]
    assert sign_flip_p(np.zeros((5, 1)), resamples=99) == [1.0]
    values = np.random.default_rng(2).normal(0.15, 1.0, (11, 3))
    exact, drawn = sign_flip_p(values), sign_flip_p(values, resamples=2047)
    assert exact == pytest.approx(drawn, abs=0.04) and exact != drawn


def test_p_values_of_many_rows_are_those_of_a_normal_distribution() -> None:
    values = np.random.default_rng(2).normal(0.15, 1.0, (150, 1))
    z = abs(values.sum()) / np.sqrt((values**2).sum())
    assert sign_flip_p(values)[0] == pytest.approx(erfc(z / sqrt(2)), abs=0.02)
