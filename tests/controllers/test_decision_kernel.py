"""The compiled parts of a decision do what numpy does, and look at no bounds that were not checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evidencegym.controllers.action_rows import action_rows, count_columns, valid_rows
from evidencegym.controllers.base import best_valid
from evidencegym.controllers.forest import cost_matrix
from evidencegym.data.errors import InvalidOperationError, ManifestMismatchError
from tests.controllers.models import COSTS, FEATURES, OPERATIONS, forest

COUNTS, PRIORS = count_columns(FEATURES, OPERATIONS), cost_matrix(COSTS)


def states(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    random = np.random.default_rng(seed)
    features = random.uniform(0, 6, (n, len(FEATURES))).astype(np.float32)
    return features, (random.random((n, len(OPERATIONS))) < 0.5).astype(np.int8)


@settings(deadline=None, max_examples=30)
@given(n=st.integers(0, 20), seed=st.integers(0, 1000))
def test_the_rows_of_valid_operations_are_those_of_each_operation(n: int, seed: int) -> None:
    features, mask = states(n, seed)
    at, operations = np.nonzero(mask)
    expected = action_rows(features[at], operations, COUNTS, PRIORS)
    found = valid_rows(features, mask, COUNTS, PRIORS)
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()
    values = forest().values(features, mask)
    assert np.array_equal(values[at, operations], forest().trees.predict(expected))
    assert np.array_equal(np.isnan(values), mask == 0)


def test_any_layout_of_features_and_mask_gives_the_same() -> None:
    features, mask = states(9, 1)
    mask[:, 0] = 1
    expected = forest().decide(features, mask, [""] * 9)
    for other in (
        np.asfortranarray(mask),
        mask.astype(bool),
        mask.astype(np.int64),
        np.repeat(mask, 2, axis=1)[:, ::2],
    ):
        found = forest().decide(np.asfortranarray(features), other, [""] * 9)
        assert np.array_equal(found.operations, expected.operations)
        assert np.array_equal(found.values, expected.values, equal_nan=True)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=200)
@given(data=st.data(), n=st.integers(1, 6), width=st.integers(1, 7))
def test_the_highest_valid_value_is_chosen_and_the_lowest_id_of_equal_ones(
    data: st.DataObject, n: int, width: int
) -> None:
    few = st.sampled_from([-1.0, 0.0, -0.0, 0.5, float("inf")])
    values = np.array(data.draw(st.lists(few, min_size=n * width, max_size=n * width))).reshape(n, width)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n * width, max_size=n * width))).reshape(n, width)
    mask[:, data.draw(st.integers(0, width - 1))] = True
    chosen = best_valid(values, mask.astype(np.int8))
    assert chosen.tolist() == np.argmax(np.where(mask, values, -np.inf), axis=1).tolist()


def test_numbers_that_are_none_lead_to_no_invalid_operation() -> None:
    nan, low = np.nan, -np.inf
    values = np.array([[0.0, low, low], [nan, 1.0, 2.0], [3.0, nan, 4.0], [3.0, nan, nan]])
    mask = np.array([[0, 1, 1], [0, 1, 1], [1, 1, 1], [1, 0, 1]], np.int8)
    assert best_valid(values, mask).tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("shape", [(2, 7), (3, 6), (3, 8), (7,), (1, 3, 7)])
def test_a_mask_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    features, _ = states(3, 0)
    mask = np.ones(shape, np.int8)
    with pytest.raises(InvalidOperationError, match=r"expected a mask of shape \(3, 7\), found"):
        forest().values(features, mask)
    with pytest.raises(InvalidOperationError, match=r"expected a mask of shape \(3, 7\), found"):
        best_valid(np.zeros((3, 7)), mask)


@pytest.mark.parametrize("columns", [0, 5, int(COUNTS.max()), len(FEATURES) - 1, len(FEATURES) + 1])
def test_features_of_another_width_are_refused(columns: int) -> None:
    with pytest.raises(ManifestMismatchError):
        forest().values(np.zeros((2, columns), np.float32), np.ones((2, len(OPERATIONS)), np.int8))
