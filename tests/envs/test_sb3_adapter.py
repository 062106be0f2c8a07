"""The adapter for Stable-Baselines3 equals its own loop over single environments."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the extra rl")

from gymnasium import Wrapper
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor

from evidencegym.data.errors import ConfigError, InvalidOperationError
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.sb3_adapter import EvidenceSB3VecEnv
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

N = 5


def loop() -> DummyVecEnv:
    return DummyVecEnv([lambda: MultiHopQAEnv(records(), engine())] * N)


def adapter(n: int = N, **arguments: Any) -> EvidenceSB3VecEnv:
    return EvidenceSB3VecEnv(records(), engine(), n, **arguments)


def same(a: Any, b: Any) -> bool:
    """Compare nested observations and infos bit by bit."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b


def masks(env: VecEnv) -> NDArray[np.bool_]:
    return np.stack(env.env_method("action_masks"))


def drawn(masks: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


@pytest.mark.parametrize("masked", [True, False])
def test_it_equals_the_loop_over_single_environments(masked: bool) -> None:
    one, other = adapter(), loop()
    assert one.observation_space == other.observation_space and one.action_space == other.action_space
    assert one.seed(3) == other.seed(3)
    assert same(one.reset(), other.reset()) and same(one.reset_infos, other.reset_infos)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        assert same(masks(one), masks(other))
        actions = drawn(masks(one), rng) if masked else rng.integers(7, size=N)
        a, b = one.step(actions), other.step(actions)
        assert same(a, b) and same(one.reset_infos, other.reset_infos)
        ended += int(a[2].sum())
    assert ended > 10


def test_a_second_reset_equals_the_loop_s() -> None:
    one, other = adapter(), loop()
    for env in (one, other):
        env.seed(8)
        env.reset()
        env.step(np.zeros(N, np.int64))
        env.set_options([{"question": records()[i].id} for i in range(N)])
    assert same(one.reset(), other.reset())
    assert [env.state.question for env in one.vector.envs] == [record.question for record in records()[:N]]
    assert same(one.reset(), other.reset())


def test_an_ended_episode_shows_its_end_and_the_masks_of_the_next() -> None:
    env = adapter(2)
    env.seed(0)
    first = env.reset()
    env.step(np.array([0, 0]))
    observations, _, dones, infos = env.step(np.array([5, 4]))
    assert dones.tolist() == [True, False]
    assert infos[0]["end"] == "stop" and "metrics" in infos[0] and infos[0]["TimeLimit.truncated"] is False
    steps = env.get_attr("features")[0].names.index("steps")
    assert infos[0]["terminal_observation"][steps] == 1 and observations[0][steps] == 0
    assert "terminal_observation" not in infos[1]
    assert masks(env)[0].tolist() == [True] + [False] * 6 and masks(env)[1].sum() > 1
    assert first.shape == observations.shape and observations.dtype == np.float32


def test_requests_of_all_episodes_go_out_as_one_batch() -> None:
    generator = OverlapGenerator()
    env = EvidenceSB3VecEnv(records(), engine(generator, cache_size=0), 8)
    env.seed(0)
    env.reset()
    env.step(np.zeros(8, np.int64))
    generator.calls.clear()
    env.step(np.full(8, 4))
    assert [kind for kind, _ in generator.calls] == ["judge"]


def test_attributes_are_read_and_set_in_each_environment() -> None:
    env = adapter(3)
    env.set_attr("invalid_penalty", 0.25, indices=[0, 2])
    assert env.get_attr("invalid_penalty") == [0.25, 1.0, 0.25]
    assert env.has_attr("action_masks") and not env.has_attr("nothing")
    env.seed(0)
    env.reset()
    assert env.step(np.full(3, 6))[1].tolist() == [-0.25, -1.0, -0.25]
    assert len(env.env_method("snapshot", indices=1)) == 1
    for name in ("engine", "rules"):
        with pytest.raises(ConfigError, match=f"share {name}"):
            env.set_attr(name, None)


def test_wrappers_of_the_vecenv_work_on_it() -> None:
    env = VecMonitor(adapter(2))
    env.seed(0)
    env.reset()
    env.step(np.array([0, 0]))
    _, _, _, infos = env.step(np.array([5, 5]))
    assert [info["episode"]["l"] for info in infos] == [2, 2]
    assert env.env_is_wrapped(TimeLimit) == env.env_is_wrapped(Wrapper) == [False, False]
    env.close()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="observation='vector' only"):
        adapter(observation="dict")
    with pytest.raises(ConfigError, match="at least 1"):
        adapter(0)
    env = adapter(2, on_invalid="raise")
    env.reset()
    with pytest.raises(ConfigError, match="step_async"):
        env.step_wait()
    with pytest.raises(InvalidOperationError, match="not valid"):
        env.step(np.array([0, 6]))
