"""Whole episodes side by side: a policy chooses for all that are ready, and none waits for another's step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..actions.costs import Cost
from ..actions.driver import Exchange, drive
from ..actions.engine import Engine, Kind, Reply, Turn
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


@dataclass(frozen=True, slots=True, eq=False)
class _Decide:
    """A request for a decision; no two are equal, so that no state is ever hashed for it."""

    state: EvidenceState


class _Decided(NamedTuple):
    """The decision about one state: a row of a turn."""

    turn: _Turn
    row: int


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

    No episode waits for another, except in the batches that they share; where one ends, the next begins.

    Args:
        questions: what to ask.
        rules: operations and caps.
        engine: executes the requests.
        policy: chooses the operations; called in this thread alone.
        features: observation of the policy; made from the operation set when left out.
        batch: how many episodes run at once, at least 1; it changes no result.
        done: called with the number of finished episodes whenever it has grown.

    Returns:
        The episodes in the order of the questions.

    Raises:
        InvalidOperationError: if the policy chooses an operation that is not valid.
        ConfigError: if ``batch`` is below 1.
    """
    observed = features or FeatureMap(rules.operations.names)

    def decisions(wanted: Sequence[_Decide]) -> list[Reply]:
        turn = decide(rules, observed, policy, [request.state for request in wanted])
        return [Reply(_Decided(turn, row), Cost()) for row in range(len(wanted))]

    episodes = (_episode(question, rules) for question in questions)
    return drive(episodes, engine, {_Decide: Kind(decisions, Turn.DECIDE)}, batch, done)


def _episode(question: Question, rules: Rules) -> Exchange[Episode]:
    path, steps = [rules.start(question)], list[Step]()
    names = rules.operations.names
    while not path[-1].end:
        before = path[-1]
        [turn, row], _ = yield _Decide(before)
        operation, mask = int(turn.choice.operations[row]), turn.masks[row]
        if not (0 <= operation < len(mask) and mask[operation]):
            rules.require(before, operation)
        path.append((yield from rules.stepping(before, operation)))
        steps.append(explained(step_between(before, path[-1], names, operation, mask), names, turn.choice, row))
    path[-1] = yield from rules.concluding(path[-1])
    return Episode(question, tuple(path), tuple(steps))
