"""What every controller keeps: valid operations only, no influence of batching, determinism."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evidencegym.actions.operation_set import PRESETS
from evidencegym.controllers.base import Controller
from evidencegym.controllers.epsilon import EpsilonController
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, InvalidOperationError
from evidencegym.envs.features import FeatureMap
from tests.controllers.models import FEATURES, OPERATIONS, forest, network
from tests.training.world_rows import fitted

CONTROLLERS = [
    "uniform",
    "uniform avoiding stop",
    "fixed-k",
    "forest",
    "forest with cost",
    "forest with veto",
    "policy network",
    "epsilon-greedy",
    "fitted to one_step",
    "fitted to q_lambda",
    "fitted to fitted_q",
]
STOP = OPERATIONS.index("stop_answer")
RETRIEVE = OPERATIONS.index("retrieve_more")


@lru_cache(maxsize=16)
def controller(name: str) -> Controller:
    made: dict[str, Any] = {
        "uniform": lambda: UniformController(4),
        "uniform avoiding stop": lambda: UniformController(4, avoid=[STOP]),
        "fixed-k": lambda: FixedKController(FEATURES, OPERATIONS, 2),
        "forest": forest,
        "forest with cost": lambda: forest(cost_weight=0.3),
        "forest with veto": lambda: forest(continuation=True),
        "policy network": network,
        "epsilon-greedy": lambda: EpsilonController(forest(), 0.3, 4, avoid=[STOP]),
        **{f"fitted to {targets}": partial(fitted, targets) for targets in ("one_step", "q_lambda", "fitted_q")},
    }
    found = made[name]()
    assert isinstance(found, Controller)
    return found


def batch(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int8], list[str]]:
    random = np.random.default_rng(seed)
    low, high = FeatureMap(OPERATIONS).low, FeatureMap(OPERATIONS).high
    features = random.uniform(low, np.minimum(high, 6), (n, len(FEATURES))).astype(np.float32)
    mask = (random.random((n, len(OPERATIONS))) < 0.4).astype(np.int8)
    mask[np.arange(n), random.integers(len(OPERATIONS), size=n)] = 1
    return features, mask, [f"q{seed}:{i}" for i in range(n)]


@pytest.mark.parametrize("name", CONTROLLERS)
@settings(deadline=None, max_examples=20)
@given(n=st.integers(1, 40), seed=st.integers(0, 1000))
def test_only_valid_operations_are_chosen_and_batching_changes_none(name: str, n: int, seed: int) -> None:
    features, mask, keys = batch(n, seed)
    chosen = controller(name).decide(features, mask, keys)
    assert chosen.operations.dtype == np.int64 and chosen.operations.shape == (n,)
    assert np.all(mask[np.arange(n), chosen.operations] == 1)
    single = [controller(name).act(features[i : i + 1], mask[i : i + 1], keys[i : i + 1])[0] for i in range(n)]
    assert single == chosen.operations.tolist()
    order = np.random.default_rng(seed).permutation(n)
    shuffled = controller(name).act(features[order], mask[order], [keys[i] for i in order])
    assert np.array_equal(shuffled, chosen.operations[order])
    if chosen.values is not None:
        assert chosen.values.shape == mask.shape
        assert np.array_equal(np.isnan(chosen.values), mask == 0)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_inputs_are_left_as_they_are(name: str) -> None:
    features, mask, keys = batch(20, 1)
    before = features.copy(), mask.copy()
    first = controller(name).act(features, mask, keys)
    assert np.array_equal(features, before[0]) and np.array_equal(mask, before[1])
    assert np.array_equal(first, controller(name).act(features, mask, keys))


@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_all_zero_mask_is_an_error(name: str) -> None:
    features, mask, keys = batch(3, 2)
    mask[1] = 0
    with pytest.raises(InvalidOperationError, match="a mask is all zero"):
        controller(name).act(features, mask, keys)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_an_empty_batch_has_no_decisions(name: str) -> None:
    features, mask, _ = batch(1, 3)
    assert controller(name).act(features[:0], mask[:0], []).shape == (0,)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_where_stopping_is_the_only_way_it_is_taken(name: str) -> None:
    features, _, keys = batch(10, 4)
    mask = np.zeros((10, len(OPERATIONS)), np.int8)
    mask[:, STOP] = 1
    assert controller(name).act(features, mask, keys).tolist() == [STOP] * 10


def frequencies(made: UniformController, mask: Sequence[int], n: int = 6000) -> NDArray[np.int64]:
    masks = np.tile(np.array(mask, np.int8), (n, 1))
    chosen = made.act(np.zeros((n, len(FEATURES)), np.float32), masks, [f"question {i}:0" for i in range(n)])
    return np.bincount(chosen, minlength=len(mask))


@pytest.mark.parametrize("mask", [(1, 1, 1, 1, 1, 1, 1), (0, 1, 0, 1, 0, 1, 0), (1, 0, 0, 0, 0, 0, 1)])
def test_uniform_is_uniform(mask: tuple[int, ...]) -> None:
    counts = frequencies(UniformController(0), mask)
    expected = 6000 / sum(mask)
    chi_square = sum((count - expected) ** 2 / expected for count, bit in zip(counts, mask) if bit)
    assert chi_square < 25 and all(count == 0 for count, bit in zip(counts, mask) if not bit)


def test_uniform_avoids_what_it_shall() -> None:
    counts = frequencies(UniformController(0, avoid=[STOP]), [1] * 7)
    assert counts[STOP] == 0 and counts.min() == 0 and sorted(counts)[1] > 800


def test_seeds_and_keys_make_streams_of_their_own() -> None:
    features, mask, keys = (
        np.zeros((300, len(FEATURES)), np.float32),
        np.ones((300, 7), np.int8),
        [str(i) for i in range(300)],
    )
    choices = [UniformController(seed).act(features, mask, keys).tolist() for seed in (0, 1, 0)]
    assert choices[0] == choices[2] and choices[0] != choices[1]
    assert len(set(UniformController(0).act(features, mask, ["same"] * 300).tolist())) == 1


def with_retrievals(*counts: int) -> NDArray[np.float32]:
    features = np.zeros((len(counts), len(FEATURES)), np.float32)
    features[:, FEATURES.index("retrievals")] = counts
    return features


def test_fixed_k_retrieves_k_times_and_stops() -> None:
    made = FixedKController(FEATURES, OPERATIONS, 2)
    mask = np.ones((4, len(OPERATIONS)), np.int8)
    assert made.act(with_retrievals(0, 1, 2, 3), mask, [""] * 4).tolist() == [RETRIEVE, RETRIEVE, STOP, STOP]


def test_fixed_k_where_its_choice_is_not_valid() -> None:
    made = FixedKController(FEATURES, OPERATIONS, 2)
    mask = np.zeros((4, len(OPERATIONS)), np.int8)
    mask[0, STOP] = mask[1, RETRIEVE] = 1
    mask[2, [1, 3]] = mask[3, [2, 3]] = 1
    assert made.act(with_retrievals(0, 2, 0, 5), mask, [""] * 4).tolist() == [STOP, RETRIEVE, 1, 2]


def test_fixed_k_refuses_what_it_cannot_use() -> None:
    with pytest.raises(ConfigError, match="k must be at least 1, found 0"):
        FixedKController(FEATURES, OPERATIONS, 0)
    with pytest.raises(ConfigError, match="retrieve_more"):
        FixedKController(FEATURES, ("gap_query", "stop_answer"), 2)
    with pytest.raises(ConfigError, match="retrievals"):
        FixedKController(("steps",), PRESETS["paper"], 2)
