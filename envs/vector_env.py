"""Many episodes in lockstep, as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..data.errors import ConfigError
from ..data.records import Record
from .multihop_qa import Move, MultiHopQAEnv

StepResult = tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class EvidenceVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` copies of :class:`.multihop_qa.MultiHopQAEnv` that share one engine and advance together.

    What a ``SyncVectorEnv`` of single environments returns, this returns, bit by bit, for the same seeds; but the
    requests of all episodes are executed in batches, one a kind.

    Args:
        records: the questions to draw from.
        engine: executes the requests of all episodes.
        num_envs: number of episodes, at least 1.
        rules: operation set and caps.
        autoreset_mode: what happens to an episode that has ended. ``NEXT_STEP``: the next step resets it, and the
            action given for it then is ignored, whatever it is. ``SAME_STEP``: it is reset at once; ``final_obs`` and
            ``final_info`` hold its end. ``DISABLED``: the user resets it with ``options={"reset_mask": ...}``.
        arguments: passed to each single environment (rewards, on_invalid, invalid_penalty, observation, render_mode).

    Raises:
        ConfigError: if ``num_envs`` is below 1, or an argument is out of range.
    """

    def __init__(
        self,
        records: Sequence[Record],
        engine: Engine,
        num_envs: int = 8,
        rules: Rules | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        super().__init__()
        if num_envs < 1:
            raise ConfigError(f"num_envs must be at least 1, found {num_envs}")
        chosen = rules or Rules()
        self.engine = engine
        self.rules = chosen
        self.envs = [MultiHopQAEnv(records, engine, chosen, **arguments) for _ in range(num_envs)]
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.envs[0].render_mode
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._observed: list[Any] = [None] * num_envs
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in each environment, or in those that ``options["reset_mask"]`` names.

        Args:
            seed: of the first environment, the others count on from it; or one for each.
            options: ``reset_mask``, (num_envs,) bool; the rest goes to each environment that is reset.

        Raises:
            ConfigError: if seeds or mask do not fit the number of environments.
        """
        seeds = self._seeds(seed)
        given = dict(options or {})
        mask = self._reset_mask(given.pop("reset_mask", None))
        infos: dict[str, Any] = {}
        for i in map(int, np.flatnonzero(mask)):
            self._observed[i], info = self.envs[i].reset(seed=seeds[i], options=given or None)
            infos = self._add_info(infos, info, i)
        self._ended = self._ended & ~mask
        return self._observations(), infos

    def step(self, actions: NDArray[np.int64]) -> StepResult:
        """Run one operation in each environment.

        Raises:
            InvalidOperationError: in mode ``DISABLED`` for an environment that has ended; elsewhere as the single
                environment does. Then no environment has moved.
        """
        resetting = self._ended & (self.autoreset_mode == AutoresetMode.NEXT_STEP)
        acting = np.flatnonzero(~resetting)
        moves = {int(i): self.envs[i].checked(actions[i]) for i in acting}
        after = self._after(moves)
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        for i in range(self.num_envs):
            if i in moves:
                settled = self.envs[i].settled(moves[i], after[i])
                self._observed[i], rewards[i], terminated[i], _, info = settled
            else:
                self._observed[i], info = self.envs[i].reset()
            infos = self._noted(infos, info, i, bool(terminated[i]))
        self._ended = terminated & (self.autoreset_mode != AutoresetMode.SAME_STEP)
        return self._observations(), rewards, terminated, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return (num_envs, operations) bool: which operations may run in each environment."""
        return np.stack([env.action_masks() for env in self.envs])

    def render(self) -> tuple[str | None, ...]:  # type: ignore[override]
        """Return what each environment renders."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **_: Any) -> None:
        """Nothing is held open."""

    def _noted(self, infos: dict[str, Any], info: dict[str, Any], i: int, ended: bool) -> dict[str, Any]:
        """Add the info of one environment, resetting it first where its episode ended and the mode says so."""
        if ended and self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos = self._add_info(infos, {"final_obs": self._observed[i], "final_info": info}, i)
            self._observed[i], info = self.envs[i].reset()
        return self._add_info(infos, info, i)

    def _after(self, moves: dict[int, Move]) -> dict[int, EvidenceState]:
        """Execute the moves as one batch, and conclude the episodes that they end as another."""
        run = [i for i, move in moves.items() if not move.invalid]
        before, operations = [moves[i].before for i in run], [moves[i].operation for i in run]
        states = self.rules.step(before, operations, self.engine, checked=True)
        after = dict(zip(run, states)) | {i: self.envs[i].wasted(m) for i, m in moves.items() if m.invalid}
        ended = [i for i, state in after.items() if state.end]
        return after | dict(zip(ended, self.rules.conclude([after[i] for i in ended], self.engine)))

    def _observations(self) -> Any:
        empty: Any = create_empty_array(self.single_observation_space, n=self.num_envs, fn=np.zeros)
        return deepcopy(concatenate(self.single_observation_space, self._observed, empty))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        seeds: list[int | None] = list(range(seed, seed + self.num_envs)) if isinstance(seed, int) else list(seed)
        if len(seeds) != self.num_envs:
            raise ConfigError(f"expected one seed for each of {self.num_envs} environments, found {len(seeds)}")
        return seeds

    def _reset_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise ConfigError(f"options['reset_mask'] must be ({self.num_envs},) bool with a True, found {mask!r}")
        return mask
