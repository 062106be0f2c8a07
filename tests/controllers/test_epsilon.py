"""Epsilon-greedy exploration."""

import numpy as np
import pytest

from evidencegym.controllers.epsilon import EpsilonController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError
from tests.controllers.models import FEATURES, OPERATIONS, forest

STOP = OPERATIONS.index("stop_answer")
ROWS = np.random.default_rng(0).uniform(0, 6, (2000, len(FEATURES))).astype(np.float32)
MASK = np.ones((2000, len(OPERATIONS)), np.int8)
KEYS = [f"question {i}:0" for i in range(2000)]


def test_without_exploration_the_controller_chooses_among_what_is_not_avoided() -> None:
    assert np.array_equal(EpsilonController(forest(), 0.0).act(ROWS, MASK, KEYS), forest().act(ROWS, MASK, KEYS))
    without = MASK.copy()
    without[:, STOP] = 0
    found = EpsilonController(forest(), 0.0, avoid=[STOP]).act(ROWS, MASK, KEYS)
    assert np.array_equal(found, forest().act(ROWS, without, KEYS))


def test_with_exploration_alone_it_is_uniform() -> None:
    found = EpsilonController(forest(), 1.0, 5, avoid=[STOP]).act(ROWS, MASK, KEYS)
    assert np.array_equal(found, UniformController(5, avoid=[STOP]).act(ROWS, MASK, KEYS))


def test_the_share_of_exploration_is_epsilon_and_depends_on_seed_and_key() -> None:
    greedy = EpsilonController(forest(), 0.0, avoid=[STOP]).act(ROWS, MASK, KEYS)
    found = [EpsilonController(forest(), 0.3, seed, avoid=[STOP]).act(ROWS, MASK, KEYS) for seed in (1, 2, 1)]
    # One of six operations that exploration draws is the greedy one.
    assert float(np.mean(found[0] != greedy)) == pytest.approx(0.3 * 5 / 6, abs=0.03)
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan")])
def test_epsilon_is_a_share(epsilon: float) -> None:
    with pytest.raises(ConfigError, match=r"epsilon must be in \[0, 1\]"):
        EpsilonController(forest(), epsilon)
