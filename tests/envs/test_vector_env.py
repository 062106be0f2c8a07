"""The lockstep vector environment equals gymnasium's loop over single environments."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from evidencegym.data.errors import ConfigError, InvalidOperationError
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.vector_env import EvidenceVectorEnv
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

N = 5
RECORDS = records()


def single(observation: str) -> MultiHopQAEnv:
    return MultiHopQAEnv(RECORDS, engine(), observation=observation)


def same(a: Any, b: Any) -> bool:
    """Compare nested observations and infos bit by bit."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, (list, tuple, np.ndarray)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_equals_the_loop_over_single_environments(mode: AutoresetMode, observation: str) -> None:
    loop = SyncVectorEnv([partial(single, observation)] * N, autoreset_mode=mode)
    vector = EvidenceVectorEnv(RECORDS, engine(), N, autoreset_mode=mode, observation=observation)
    assert vector.single_observation_space == loop.single_observation_space
    assert vector.action_space == loop.action_space and vector.metadata == loop.metadata
    assert same(vector.reset(seed=3), loop.reset(seed=3))
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        # Actions are drawn without the mask, so that invalid operations are compared as well.
        actions = rng.integers(7, size=N)
        a, b = vector.step(actions), loop.step(actions)
        assert same(a, b)
        ended += int(a[2].sum())
    assert ended > 10


def test_disabled_mode_needs_a_reset_by_mask() -> None:
    vector = EvidenceVectorEnv(RECORDS, engine(), 3, autoreset_mode=AutoresetMode.DISABLED)
    vector.reset(seed=0)
    vector.step(np.array([0, 0, 0]))
    _, _, terminated, _, infos = vector.step(np.array([5, 0, 0]))
    assert terminated.tolist() == [True, False, False] and infos["end"][0] == "stop"
    with pytest.raises(InvalidOperationError, match="ended"):
        vector.step(np.array([0, 0, 0]))
    vector.reset(options={"reset_mask": terminated})
    _, _, terminated, _, _ = vector.step(np.array([0, 5, 0]))
    assert terminated.tolist() == [False, True, False]


def test_in_next_step_mode_the_action_of_the_reset_step_is_ignored() -> None:
    vector = EvidenceVectorEnv(RECORDS, engine(), 2, on_invalid="raise")
    vector.reset(seed=0)
    vector.step(np.array([0, 0]))
    vector.step(np.array([5, 0]))
    _, rewards, terminated, _, infos = vector.step(np.array([99, 0]))
    assert rewards[0] == 0.0 and not terminated[0] and infos["action_mask"][0].tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_masks_are_those_of_the_single_environments() -> None:
    vector = EvidenceVectorEnv(RECORDS, engine(), 4)
    vector.reset(seed=1)
    vector.step(np.array([0, 0, 0, 0]))
    assert vector.action_masks().dtype == np.bool_
    assert np.array_equal(vector.action_masks(), np.stack([env.action_masks() for env in vector.envs]))


def test_requests_of_all_episodes_go_out_as_one_batch() -> None:
    generator = OverlapGenerator()
    vector = EvidenceVectorEnv(RECORDS, engine(generator, cache_size=0), len(RECORDS))
    vector.reset(seed=0)
    vector.step(np.zeros(vector.num_envs, np.int64))
    generator.calls.clear()
    vector.step(np.full(vector.num_envs, 4))
    assert [kind for kind, _ in generator.calls] == ["judge"]


@pytest.mark.parametrize(
    "arguments",
    [{"num_envs": 0}, {"seed": [1]}, {"reset_mask": np.zeros(2, np.bool_)}, {"reset_mask": [True, False]}],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        vector = EvidenceVectorEnv(RECORDS, engine(), arguments.get("num_envs", 2))
        options = {"reset_mask": arguments["reset_mask"]} if "reset_mask" in arguments else None
        vector.reset(seed=arguments.get("seed"), options=options)
