"""The forest controller: its values, the weight of costs, ties, and the continuation model's veto."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencegym.controllers.action_rows import action_rows, count_columns, row_names
from evidencegym.controllers.base import best_valid
from evidencegym.controllers.continuation import ContinuationModel
from evidencegym.controllers.forest import ForestController, cost_matrix
from evidencegym.data.errors import ConfigError, InvalidOperationError, ManifestMismatchError
from tests.controllers.models import COSTS, FEATURES, OPERATIONS, forest, leaf, trees

WIDTH = len(row_names(FEATURES, OPERATIONS))
STOP = OPERATIONS.index("stop_answer")
ALL = np.ones((1, len(OPERATIONS)), np.int8)


def features(n: int = 1, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(0, 6, (n, len(FEATURES))).astype(np.float32)


def test_a_row_holds_features_identity_prior_count_and_expected_cost() -> None:
    state = features(2)
    counts = count_columns(FEATURES, OPERATIONS)
    rows = action_rows(state, np.array([3, 0]), counts, cost_matrix(COSTS))
    assert rows.shape == (2, WIDTH) and rows.dtype == np.float32
    named = dict(zip(row_names(FEATURES, OPERATIONS), rows[0]))
    assert np.array_equal(rows[:, : len(FEATURES)], state)
    assert [named[f"is_{name}"] for name in OPERATIONS] == [0, 0, 0, 1, 0, 0, 0]
    assert named["prior_count"] == state[0, FEATURES.index("count_rewrite_query")]
    assert named["expected_tokens"] == np.float32(0.33)
    assert (named["expected_generator_calls"], named["expected_retrievals"]) == (3, 1.5)


def test_values_are_the_forest_s_minus_lambda_times_cost() -> None:
    state, mask = features(5), np.ones((5, 7), np.int8)
    plain, costly = forest(), forest(cost_weight=0.5)
    for operation in range(7):
        rows = action_rows(state, np.full(5, operation), count_columns(FEATURES, OPERATIONS), cost_matrix(COSTS))
        expected = plain.trees.predict(rows)
        assert np.array_equal(plain.values(state, mask)[:, operation], expected)
        penalty = 0.5 * (COSTS[operation]["prompt_tokens"] + COSTS[operation]["completion_tokens"]) / 1000
        assert np.allclose(costly.values(state, mask)[:, operation], expected - penalty, atol=1e-12)


def test_lambda_moves_the_choice_to_what_is_cheap() -> None:
    state, mask = features(200), np.ones((200, 7), np.int8)
    mean_id = [forest(cost_weight=weight).act(state, mask, [""] * 200).mean() for weight in (0.0, 1.0, 100.0)]
    assert mean_id[0] > mean_id[1] > mean_id[2] == 0


def test_named_weights_say_which_costs_count() -> None:
    base = forest()
    retrievals = ForestController(base.trees, FEATURES, OPERATIONS, COSTS, None, 2.0, {"retrievals": 0.25})
    difference = base.values(features(), ALL) - retrievals.values(features(), ALL)
    assert np.allclose(difference[0], [2.0 * 0.25 * i / 2 for i in range(7)], atol=1e-12)


def test_ties_go_to_the_lowest_id() -> None:
    flat = forest(values=leaf(WIDTH, 0.5))
    mask = np.array([[1] * 7, [0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1]], np.int8)
    assert flat.act(features(3), mask, [""] * 3).tolist() == [0, 2, 5]
    values = np.array([[1.0, 3.0, 3.0], [np.nan, 2.0, 2.0]])
    assert best_valid(values, np.array([[1, 1, 1], [0, 1, 1]], np.int8)).tolist() == [1, 1]
    with pytest.raises(InvalidOperationError, match="all zero"):
        best_valid(values, np.array([[0, 0, 0], [0, 1, 1]], np.int8))


def vetoing(gain: float, threshold: float = 0.25) -> ForestController:
    rows = forest(values=leaf(WIDTH, 0.5))
    model = ContinuationModel(leaf(len(FEATURES), gain), threshold)
    return ForestController(rows.trees, FEATURES, OPERATIONS, COSTS, model)


def test_a_predicted_gain_above_the_threshold_vetoes_stopping() -> None:
    mask = np.zeros((1, 7), np.int8)
    mask[0, [STOP, 6]] = 1
    assert vetoing(0.2).act(features(), mask, [""]) == [STOP]
    assert vetoing(0.25).act(features(), mask, [""]) == [STOP]
    assert vetoing(0.3).act(features(), mask, [""]) == [6]
    assert vetoing(0.3).decide(features(), mask, [""]).values is not None


def test_the_veto_is_void_where_stopping_is_the_only_way() -> None:
    mask = np.zeros((2, 7), np.int8)
    mask[0, STOP] = mask[1, STOP] = mask[1, 0] = 1
    assert vetoing(9.0).act(features(2), mask, [""] * 2).tolist() == [STOP, 0]
    allowed = ContinuationModel(leaf(3, 1.0), 0.0).veto(np.zeros((2, 3), np.float32), mask, STOP)
    assert allowed.tolist() == [[0, 0, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0, 0]]
    assert mask[1, STOP] == 1


def test_the_values_name_what_was_vetoed_too() -> None:
    found = vetoing(9.0).decide(features(), ALL, [""])
    assert found.values is not None and not np.isnan(found.values).any()
    assert found.operations[0] != STOP


def test_a_forest_of_other_rows_is_refused() -> None:
    with pytest.raises(ManifestMismatchError, match=f"reads 5 numbers a row, the features give {WIDTH}"):
        ForestController(trees(5, 0), FEATURES, OPERATIONS, COSTS)
    with pytest.raises(ConfigError, match=r"must not be negative, found -0\.1"):
        forest(cost_weight=-0.1)
    with pytest.raises(ManifestMismatchError, match="expected costs of 7 operations, found 6"):
        ForestController(trees(WIDTH, 0), FEATURES, OPERATIONS, COSTS[:-1])
    with pytest.raises(ManifestMismatchError, match="continuation model reads 4"):
        ForestController(trees(WIDTH, 0), FEATURES, OPERATIONS, COSTS, ContinuationModel(trees(4, 0)))


def test_the_fingerprint_depends_on_everything_that_decides() -> None:
    made = [
        forest(),
        forest(seed=1),
        forest(cost_weight=0.1),
        forest(continuation=True),
        vetoing(0.1),
        vetoing(0.1, 0.5),
    ]
    assert len({controller.fingerprint for controller in made}) == len(made)
    assert forest().fingerprint == forest().fingerprint
