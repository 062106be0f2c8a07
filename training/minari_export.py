"""Export of behaviour trajectories as a Minari data set (extra ``minari``), for offline reinforcement learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..data.errors import BackendUnavailableError, ConfigError, DataError
from ..data.records import Gold, Record
from ..envs.features import FeatureMap
from ..envs.rewards import DEFAULT_REWARDS, Reward
from ..envs.rollout import Episode, Policy, rollout


def export_minari(
    dataset_id: str,
    records: Sequence[Record],
    rules: Rules,
    engine_of: Callable[[Record], Engine],
    policies: Sequence[Policy],
    rewards: Mapping[str, Reward] | None = None,
    batch: int = 64,
    **metadata: Any,
) -> Any:
    """Follow each behaviour policy on each question and write the trajectories as a Minari data set.

    With the arguments of :func:`.collect.collect` these are the trajectories of its behaviour episodes. What Minari has
    no place for, the outcome of every other valid operation, stays in the rows of the collection: a step of an episode
    and its rows share ``question_id``, ``episode`` and ``step``.

    An episode of n steps has n + 1 observations and infos, the first those of the reset. Its infos hold
    ``action_mask``, (n + 1, operations) int8; ``question_id``; ``episode`` and ``step``, (n + 1,) int64; and under
    ``rewards`` each term, (n + 1,) float64 with 0 first: entry i + 1 belongs to step i. The data set goes to the folder
    that the variable ``MINARI_DATASETS_PATH`` names, else to Minari's own.

    Args:
        dataset_id: Minari's name of the data set, for example ``"multihop/uniform-v0"``.
        records: the questions, each with gold.
        rules: operations and caps.
        engine_of: the engine for a question.
        policies: behaviour policy of each episode of a question.
        rewards: terms of the reward by name; by default those of the environment.
        batch: episodes that run at once; it changes no step.
        metadata: passed to ``minari.create_dataset_from_buffers`` (author, author_email, code_permalink, ...).

    Returns:
        The ``minari.MinariDataset``; episodes are sorted by the order of the records, then by policy.

    Raises:
        ConfigError: if there is no question or no policy, or a question has no gold.
        DataError: if Minari does not take the data set, for example because the name is in use.
        BackendUnavailableError: if the extra is not installed.
    """
    if not records or not policies:
        raise ConfigError(f"expected questions and policies, found {len(records)} and {len(policies)}")
    if lacking := [record.id for record in records if record.gold is None]:
        raise ConfigError(f"cannot export questions without gold: {', '.join(lacking[:5])}")
    minari, buffer_type = _library()
    features, terms = FeatureMap(rules.operations.names), DEFAULT_REWARDS if rewards is None else rewards
    episodes = [_episodes(records, rules, engine_of, policy, features, batch) for policy in policies]
    buffers = [
        buffer_type(**_buffer(record, number, own[i], rules, features, terms))
        for i, record in enumerate(records)
        for number, own in enumerate(episodes)
    ]
    try:
        return minari.create_dataset_from_buffers(
            dataset_id,
            buffers,
            observation_space=spaces.Box(features.low, features.high, dtype=np.float32),
            action_space=spaces.Discrete(len(rules.operations)),
            **{"algorithm_name": "behaviour policies of the collection", **metadata},
        )
    except ValueError as error:
        raise DataError(f"Minari does not take the data set {dataset_id!r}: {error}") from error


def _episodes(
    records: Sequence[Record],
    rules: Rules,
    engine_of: Callable[[Record], Engine],
    policy: Policy,
    features: FeatureMap,
    batch: int,
) -> list[Episode]:
    """Return the policy's episode for each record; records that share an engine run together."""
    engines = [engine_of(record) for record in records]
    made: dict[int, Episode] = {}
    for engine in {id(engine): engine for engine in engines}.values():
        places = [i for i, other in enumerate(engines) if other is engine]
        questions = [records[i].question for i in places]
        made |= dict(zip(places, rollout(questions, rules, engine, policy, features, batch)))
    return [made[i] for i in range(len(records))]


def _buffer(
    record: Record, number: int, episode: Episode, rules: Rules, features: FeatureMap, terms: Mapping[str, Reward]
) -> dict[str, Any]:
    """Return the fields of Minari's buffer of one episode."""
    if record.gold is None:
        raise ConfigError(f"question {record.id} has no gold")
    names, steps = list(rules.operations.names), len(episode.steps)
    parts = _rewards(episode, record.gold, terms)
    return {
        "observations": features.matrix(list(episode.states)),
        "actions": np.array([names.index(step.operation) for step in episode.steps], np.int64),
        "rewards": np.sum([*parts.values(), np.zeros(steps)], axis=0),
        "terminations": np.arange(steps) == steps - 1,
        "truncations": np.zeros(steps, np.bool_),
        "infos": {
            "action_mask": np.stack([rules.mask(state) for state in episode.states]),
            "question_id": [record.id] * (steps + 1),
            "episode": np.full(steps + 1, number, np.int64),
            "step": np.arange(steps + 1),
            "rewards": {name: np.concatenate([[0.0], values]) for name, values in parts.items()},
        },
    }


def _rewards(episode: Episode, gold: Gold, terms: Mapping[str, Reward]) -> dict[str, NDArray[np.float64]]:
    """Return (steps,) the values of each term."""
    moves = list(zip(episode.states, episode.states[1:], episode.steps))
    return {
        name: np.array([term(before, after, step.operation, gold) for before, after, step in moves], np.float64)
        for name, term in terms.items()
    }


def _library() -> tuple[Any, Any]:
    try:
        # Minari loads its storage when it is first used, so a missing part of the extra must show here.
        import h5py
        import minari
        import PIL
        from minari.data_collector import EpisodeBuffer
    except ImportError as error:
        raise BackendUnavailableError("the export needs the extra minari: pip install 'evidencegym[minari]'") from error
    del h5py, PIL
    return minari, EpisodeBuffer
