"""The registered environments, as a user makes them."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import evidencegym.envs
from evidencegym.data.errors import ConfigError
from evidencegym.envs.vector_env import EvidenceVectorEnv
from tests.small_world import engine, records

IDS = [name for name in gymnasium.registry if name.startswith("evidencegym/")]


def test_the_ids_are_those_that_the_docs_name() -> None:
    assert IDS == ["evidencegym/MultiHopQA-v0", "evidencegym/MultiHopQA-v1"]
    assert all(name in (evidencegym.envs.__doc__ or "") for name in IDS)


def test_the_second_version_has_the_gate_and_somewhere_else_to_search() -> None:
    env = gymnasium.make("evidencegym/MultiHopQA-v1")
    names = env.unwrapped.rules.operations.names  # type: ignore[attr-defined]
    assert env.action_space.n == 8 and names[7] == "corrective_gate"  # type: ignore[attr-defined]
    env.reset(seed=1)
    env.step(names.index("retrieve_more"))
    _, _, _, _, info = env.step(names.index("corrective_gate"))
    assert env.unwrapped.state.gate.verdict in {"correct", "ambiguous", "incorrect"}  # type: ignore[attr-defined]
    assert info["operation"] == "corrective_gate"


@pytest.mark.parametrize("name", IDS)
def test_the_environment_checker_has_nothing_to_say(name: str) -> None:
    with warnings.catch_warnings():
        # Gymnasium calls every version but the highest out of date; here they are two operation sets.
        warnings.filterwarnings("ignore", message=".*out of date", category=DeprecationWarning)
        made = gymnasium.make(name, render_mode="ansi").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made)


@pytest.mark.parametrize("name", IDS)
def test_it_is_made_without_arguments_and_gives_the_same_episode_for_the_same_seed(name: str) -> None:
    env = gymnasium.make(name)
    episodes = []
    for _ in range(2):
        observation, info = env.reset(seed=5)
        trace = [observation]
        terminated = False
        rng = np.random.default_rng(0)
        while not terminated:
            observation, reward, terminated, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            trace += [observation, reward]
        episodes.append((np.hstack(trace), info["answer"]))
    assert np.array_equal(episodes[0][0], episodes[1][0]) and episodes[0][1] == episodes[1][1]


@pytest.mark.parametrize("name", IDS)
def test_the_vector_environment_is_the_one_in_lockstep(name: str) -> None:
    vector = gymnasium.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(vector.unwrapped, EvidenceVectorEnv)
    observations, _ = vector.reset(seed=0)
    assert observations.shape[0] == 3


def test_questions_and_engine_belong_together() -> None:
    with pytest.raises(ConfigError, match="together"):
        gymnasium.make(IDS[0], records=records())
    assert gymnasium.make(IDS[0], records=records(), engine=engine()).reset(seed=0)
