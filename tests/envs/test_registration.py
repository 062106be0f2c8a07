"""The registered environment, as ``gymnasium.make`` gives it."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import evidencegym.envs  # noqa: F401
from evidencegym.data.errors import ConfigError
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from tests.small_world import engine, records

ID = "evidencegym/MultiHopQA-v0"


def make(**arguments: Any) -> gymnasium.Env[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gymnasium.make(ID, **arguments)


def test_it_is_registered_and_takes_records_and_engine() -> None:
    made = make(records=records(), engine=engine(), render_mode="ansi")
    assert isinstance(made.unwrapped, MultiHopQAEnv)
    made.reset(seed=0)
    _, _, terminated, _, info = made.step(np.int64(0))
    assert not terminated and info["operation"] == "retrieve_more"
    assert "Question:" in str(made.render())


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_the_checker_has_nothing_to_say_against_it_rendering_included(observation: str) -> None:
    made = make(records=records(), engine=engine(), observation=observation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)


def test_an_outer_limit_truncates() -> None:
    made = make(records=records(), engine=engine(), max_episode_steps=1)
    made.reset(seed=0)
    assert made.step(np.int64(0))[2:4] == (False, True)


def test_records_and_engine_belong_together() -> None:
    with pytest.raises(ConfigError, match="give records and engine together, or neither; found only records"):
        gymnasium.make(ID, records=records())
    with pytest.raises(ConfigError, match="found only engine"):
        gymnasium.make(ID, engine=engine())


def test_several_run_side_by_side() -> None:
    made = gymnasium.vector.SyncVectorEnv([lambda: make(records=records(), engine=engine()) for _ in range(3)])
    seen, _ = made.reset(seed=5)
    assert seen.shape[0] == 3
    _, _, _, _, infos = made.step(np.zeros(3, np.int64))
    assert infos["action_mask"].shape == (3, 7)
