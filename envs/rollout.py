"""Episodes in lockstep: a policy chooses for all running episodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..data.records import Question
from .features import FeatureMap
from .trace import Step, Thoughts, explained, step_between


class Choice(Thoughts, Protocol):
    """What a policy decided for a batch, and what it thought of it."""

    @property
    def operations(self) -> NDArray[np.int64]:
        """(batch,) action ids."""


class Policy(Protocol):
    """Anything that chooses operations from features and masks."""

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Choice:
        """Choose one valid operation for each row."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished episode: its states from first to concluded one, and the trace between them."""

    question: Question
    states: tuple[EvidenceState, ...]
    steps: tuple[Step, ...]

    @property
    def final(self) -> EvidenceState:
        """The concluded state."""
        return self.states[-1]


class _Turn(NamedTuple):
    states: list[EvidenceState]
    masks: NDArray[np.int8]
    choice: Choice


def decision_key(state: EvidenceState) -> str:
    """Return the key of a decision's random stream: question and number of decisions so far, nothing else."""
    return f"{state.question.key}:{len(state.history)}"


def decide(rules: Rules, features: FeatureMap, policy: Policy, states: list[EvidenceState]) -> _Turn:
    """Let ``policy`` choose for each state."""
    masks = np.stack([rules.mask(state) for state in states])
    choice = policy.decide(features.matrix(states), masks, [decision_key(state) for state in states])
    return _Turn(states, masks, choice)


def rollout(
    questions: Sequence[Question],
    rules: Rules,
    engine: Engine,
    policy: Policy,
    features: FeatureMap | None = None,
    batch: int = 64,
    done: Callable[[int], None] | None = None,
) -> list[Episode]:
    """Run one episode for each question.

    Args:
        questions: what to ask.
        rules: operations and caps.
        engine: executes the requests.
        policy: chooses the operations.
        features: observation of the policy; made from the operation set when left out.
        batch: how many episodes run at once; it changes no result.
        done: called with the number of finished episodes after each batch.

    Returns:
        The episodes in the order of the questions.
    """
    observed = features or FeatureMap(rules.operations.names)
    episodes: list[Episode] = []
    for first in range(0, len(questions), batch):
        episodes += _lockstep(questions[first : first + batch], rules, engine, policy, observed)
        if done:
            done(len(episodes))
    return episodes


def _lockstep(
    questions: Sequence[Question], rules: Rules, engine: Engine, policy: Policy, features: FeatureMap
) -> list[Episode]:
    paths = [[rules.start(question)] for question in questions]
    steps: list[list[Step]] = [[] for _ in questions]
    while running := [i for i, path in enumerate(paths) if not path[-1].end]:
        turn = decide(rules, features, policy, [paths[i][-1] for i in running])
        chosen = [int(operation) for operation in turn.choice.operations]
        after = rules.step(turn.states, chosen, engine)
        for row, i in enumerate(running):
            names, mask = rules.operations.names, turn.masks[row]
            step = step_between(paths[i][-1], after[row], names, chosen[row], mask)
            steps[i].append(explained(step, names, turn.choice, row))
            paths[i].append(after[row])
    finals = rules.conclude([path[-1] for path in paths], engine)
    return [
        Episode(question, (*path[:-1], final), tuple(trace))
        for question, path, final, trace in zip(questions, paths, finals, steps)
    ]
