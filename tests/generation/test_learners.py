"""The learners: associations that are learned, trees equal to scikit-learn's, one-class data."""

import numpy as np
import pytest

from evidencegym.generation.cross import ChoiceSet, cross_scores, fit_cross
from evidencegym.generation.learners import boosted, joined, logistic, sample


def test_associations_tell_which_cue_answers_which_question() -> None:
    cues = np.array([[11, 13], [17, 13]])
    asks = {0: np.array([3, 5, 0]), 1: np.array([7, 5, 0])}
    sets = [ChoiceSet(asks[i % 2], cues, np.eye(2)[i % 2], np.zeros(2)) for i in range(40)]
    table = fit_cross(sets, seed=1)
    assert cross_scores(table, asks[0], cues).argmax() == 0
    assert cross_scores(table, asks[1], cues).argmax() == 1
    assert np.array_equal(table, fit_cross(sets, seed=1))
    assert cross_scores(table, asks[0], np.zeros((0, 2), np.int64)).shape == (0,)


def test_no_associations_are_learned_from_nothing() -> None:
    assert not fit_cross([], seed=1).any()


def test_boosting_separates_and_repeats() -> None:
    rows = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    labels = rows[:, 0] > 0
    model = boosted(rows, labels, seed=2)
    assert np.mean((model.predict(rows) > 0) == labels) > 0.95
    assert np.array_equal(model.predict(rows), boosted(rows, labels, seed=2).predict(rows))


@pytest.mark.parametrize(("labels", "sign"), [([True] * 4, 1), ([False] * 4, -1)])
def test_one_class_gives_a_constant(labels: list[bool], sign: int) -> None:
    rows = np.zeros((4, 2), np.float32)
    assert np.all(boosted(rows, np.array(labels), 0).predict(rows) * sign > 0)
    weights = logistic(rows.astype(np.float64), np.array(labels), intercept=True)
    assert weights[-1] * sign > 0 and not weights[:-1].any()


def test_no_rows_give_a_model_all_the_same() -> None:
    model = boosted(joined([], 3), np.zeros(0, bool), 0)
    assert model.predict(np.zeros((1, 3))).shape == (1,)
    assert logistic(np.zeros((0, 2)), np.zeros(0, bool), intercept=False).tolist() == [0.0, 0.0]


def test_a_sample_keeps_the_right_and_the_hardest_wrong() -> None:
    right = np.zeros(200, bool)
    right[[5, 150]] = True
    cross = np.arange(200.0)
    chosen = sample(right, cross, np.random.default_rng(0))
    assert len(chosen) == len(set(chosen.tolist())) == 42
    assert {5, 150, 199, 198, 180} <= set(chosen.tolist())
