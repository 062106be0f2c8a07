"""How long is a step of the environment beside ``CartPole-v1``, where does it go, and what does lockstep save?

    python benchmarks/environment_step.py

Both environments are built by ``gymnasium.make`` and take turns in one run. Random valid operations are drawn once and
replayed, so that every request finds its reply in the engine's memory: what is timed is the environment, not its
backends. Steps that end an episode are left out, since they answer the question. For ``new_evidence`` what is kept of
passages held together is dropped before every step, so that all of them are added up again.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from timing import record

from evidencegym.actions.state import EvidenceState
from evidencegym.envs import overlap
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.vector_env import EvidenceVectorEnv

EPISODES, ROUNDS, COPIES = 200, 10, 64
ENV = "evidencegym/MultiHopQA-v0"


class Move(NamedTuple):
    """A step that did not end its episode."""

    before: EvidenceState
    operation: int
    after: EvidenceState


def played(env: gymnasium.Env[Any, Any], episode: int, rng: np.random.Generator) -> list[Move]:
    """Play an episode of random valid operations and return its moves but the last."""
    inner: MultiHopQAEnv = env.unwrapped  # type: ignore[assignment]
    _, info = env.reset(seed=episode)
    moves, terminated = [], False
    while not terminated:
        before, operation = inner.state, int(rng.choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, _, info = env.step(np.int64(operation))
        moves.append(Move(before, operation, inner.state))
    return moves[:-1]


def seconds(call: Callable[[], object]) -> float:
    """Return how long one call takes."""
    begun = perf_counter()
    call()
    return perf_counter() - begun


def steps(env: gymnasium.Env[Any, Any], episode: int, moves: Iterable[Move], forget: bool) -> list[float]:
    """Replay an episode and return the seconds of its steps."""
    env.reset(seed=episode)
    taken = []
    for move in moves:
        if forget:
            overlap.forget_evidence()
        taken.append(seconds(partial(env.step, np.int64(move.operation))))
    return taken


def cart_steps(cart: gymnasium.Env[Any, Any], count: int) -> list[float]:
    """Return the seconds of ``count`` steps of CartPole."""
    taken = []
    for action in map(np.int64, np.arange(count) % 2):
        taken.append(seconds(partial(cart.step, action)))
        if cart.unwrapped.steps_beyond_terminated is not None:  # type: ignore[attr-defined]
            cart.reset()
    return taken


def beside_cart_pole(env: gymnasium.Env[Any, Any], episodes: list[list[Move]]) -> dict[str, float]:
    """Return the medians of steps, in microseconds, and the ratios to CartPole's."""
    cart = gymnasium.make("CartPole-v1")
    cart.reset(seed=0)
    found: dict[str, list[float]] = {"replayed": [], "new_evidence": [], "cart_pole": []}
    for round_ in range(ROUNDS):
        # Whichever comes second finds the processor's caches warm, so they take turns at that, too.
        order = ("replayed", "new_evidence") if round_ % 2 else ("new_evidence", "replayed")
        for number, moves in enumerate(episodes):
            for name in order:
                found[name] += steps(env, number, moves, forget=name == "new_evidence")
            found["cart_pole"] += cart_steps(cart, len(moves))
    micro = {name: statistics.median(values) * 1e6 for name, values in found.items()}
    ratios = {f"{name}_times_cart_pole": micro[name] / micro["cart_pole"] for name in ("replayed", "new_evidence")}
    return {f"{name}_us": value for name, value in micro.items()} | ratios


def breakdown(env: MultiHopQAEnv, moves: list[Move]) -> dict[str, float]:
    """Return the median microseconds of a step's parts; ``info`` includes the mask."""

    def info(move: Move) -> object:
        env._state = move.after
        return env._info()

    name = env.rules.operations.names
    parts: dict[str, Callable[[Move], object]] = {
        "mask": lambda m: env.rules.mask(m.after),
        "operation": lambda m: env.rules.step([m.before], [m.operation], env.engine, checked=True),
        "features": lambda m: env.features.vector(m.after),
        "info": info,
        "rewards": lambda m: env._rewards(m.before, m.after, name[m.operation]),
    }
    taken: dict[str, list[float]] = {part: [] for part in parts}
    for _ in range(ROUNDS):
        for move in moves:
            for part, call in parts.items():
                taken[part].append(seconds(partial(call, move)))
    return {part: statistics.median(values) * 1e6 for part, values in taken.items()}


def lockstep(env: MultiHopQAEnv) -> float:
    """Return the microseconds of a step of one episode among ``COPIES`` in the vector environment, endings included."""
    vector = EvidenceVectorEnv(env.records, env.engine, COPIES)
    taken: list[float] = []
    for round_ in range(ROUNDS + 1):
        rng = np.random.default_rng(0)
        _, infos = vector.reset(seed=0)
        for _ in range(20):
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
            begun = perf_counter()
            _, _, _, _, infos = vector.step(actions)
            if round_:
                taken.append(perf_counter() - begun)
    return statistics.median(taken) / COPIES * 1e6


def main() -> None:
    """Measure steps of the default task."""
    env = gymnasium.make(ENV)
    inner: MultiHopQAEnv = env.unwrapped  # type: ignore[assignment]
    rng = np.random.default_rng(0)
    episodes = [played(env, number, rng) for number in range(EPISODES)]
    moves = [move for episode in episodes for move in episode]
    numbers: dict[str, Any] = {"steps": len(moves), **beside_cart_pole(env, episodes)}
    numbers["parts_us"] = {name: round(value, 1) for name, value in breakdown(inner, moves).items()}
    numbers[f"lockstep_{COPIES}_us_per_episode_step"] = lockstep(inner)
    rounded = {name: round(value, 1) if isinstance(value, float) else value for name, value in numbers.items()}
    record("environment_step", rounded)


if __name__ == "__main__":
    main()
