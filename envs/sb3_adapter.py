"""The lockstep vector environment as a Stable-Baselines3 ``VecEnv`` (extra ``rl``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..data.errors import BackendUnavailableError, ConfigError
from ..data.records import Record
from .multihop_qa import MultiHopQAEnv
from .vector_env import EvidenceVectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise BackendUnavailableError(
        "the adapter for Stable-Baselines3 needs the extra rl: pip install 'evidencegym[rl]'"
    ) from error

Indices = int | Iterable[int] | None
StepReturn = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]

_SHARED = ("engine", "rules")


class EvidenceSB3VecEnv(VecEnv):  # type: ignore[misc]
    """``num_envs`` episodes in lockstep, as Stable-Baselines3 and sb3-contrib's ``MaskablePPO`` want them.

    What a ``DummyVecEnv`` of single environments returns, this returns for the same seeds. An episode that ends is
    reset at once: the observation and ``env_method("action_masks")`` are those of the new episode, and
    ``terminal_observation`` in the info is the last one of the old.

    Args:
        records: the questions to draw from.
        engine: executes the requests of all episodes.
        num_envs: number of episodes, at least 1.
        rules: operation set and caps.
        arguments: passed to each single environment (rewards, on_invalid, invalid_penalty, render_mode).

    Raises:
        ConfigError: if an argument is out of range, or ``observation`` is "dict", whose text SB3 cannot read.
    """

    def __init__(
        self, records: Sequence[Record], engine: Engine, num_envs: int = 8, rules: Rules | None = None, **arguments: Any
    ) -> None:
        if arguments.get("observation", "vector") != "vector":
            raise ConfigError(f"Stable-Baselines3 reads observation='vector' only, found {arguments['observation']!r}")
        same_step = AutoresetMode.SAME_STEP
        self.vector = EvidenceVectorEnv(records, engine, num_envs, rules, autoreset_mode=same_step, **arguments)
        # Later resets go one environment at a time, and need the others to have been reset before.
        self.vector.reset()
        self._actions: NDArray[np.int64] | None = None
        super().__init__(num_envs, self.vector.single_observation_space, self.vector.single_action_space)

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode in each environment, with the seeds of ``seed`` and the options of ``set_options``.

        Returns:
            (num_envs, features) float32.
        """
        observations = np.zeros(0, np.float32)
        for i, (seed, options) in enumerate(zip(self._seeds, self._options)):
            mask = np.arange(self.num_envs) == i
            seeds = [seed if other else None for other in mask]
            observations, infos = self.vector.reset(seed=seeds, options={**options, "reset_mask": mask})
            self.reset_infos[i] = unbatched(infos, i)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions, (num_envs,) int64, for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> StepReturn:
        """Run the operations that ``step_async`` was given.

        Returns:
            Observations (num_envs, features) float32, rewards (num_envs,) float32, dones (num_envs,) bool, and one info
            for each environment.

        Raises:
            ConfigError: if ``step_async`` was not called before.
            InvalidOperationError: as the single environment does.
        """
        if self._actions is None:
            raise ConfigError("step_wait() runs the actions of step_async(): call that first")
        actions, self._actions = self._actions, None
        observations, rewards, terminated, truncated, infos = self.vector.step(actions)
        dones = terminated | truncated
        each = [self._info(infos, i, bool(truncated[i] and not terminated[i])) for i in range(self.num_envs)]
        return observations, rewards.astype(np.float32), dones, each

    def close(self) -> None:
        """Close the vector environment."""
        self.vector.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of each environment.

        Raises:
            AttributeError: if there is no such attribute.
        """
        return [env.get_wrapper_attr(attr_name) for env in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of each environment.

        Raises:
            ConfigError: for the engine and the rules, which all environments share.
        """
        if attr_name in _SHARED:
            raise ConfigError(f"all environments share {attr_name}; build a new {type(self).__name__} to change it")
        for env in self._chosen(indices):
            setattr(env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of each environment and return what each returns."""
        return [env.get_wrapper_attr(method_name)(*method_args, **method_kwargs) for env in self._chosen(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """Return False for each environment: wrap the ``VecEnv`` itself, for example in a ``VecMonitor``."""
        return [isinstance(env, wrapper_class) for env in self._chosen(indices)]

    def _chosen(self, indices: Indices) -> list[MultiHopQAEnv]:
        return [self.vector.envs[i] for i in self._get_indices(indices)]

    def _info(self, infos: dict[str, Any], i: int, truncated: bool) -> dict[str, Any]:
        """Return the info of the step of one environment, which lies apart where it ended and was reset."""
        own = unbatched(infos, i)
        if "final_info" not in own:
            return own | {"TimeLimit.truncated": truncated}
        last = own.pop("final_obs")
        final: dict[str, Any] = own.pop("final_info")
        self.reset_infos[i] = own
        return final | {"TimeLimit.truncated": truncated, "terminal_observation": last}


def unbatched(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """Return the info of environment ``i`` from the infos of a vector environment; numbers become Python's."""
    return {name: _plain(infos[name], i) for name in infos if f"_{name}" in infos and infos[f"_{name}"][i]}


def _plain(values: Any, i: int) -> Any:
    if isinstance(values, dict):
        return unbatched(values, i)
    value = values[i]
    return value.item() if isinstance(value, np.generic) else value
