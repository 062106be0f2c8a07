"""The oracle planner: greedy on gold support, from states that can be branched. A bound, never a system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.state import EvidenceState
from ..data.errors import ConfigError
from ..data.records import Gold, Record
from ..data.support_scores import support_recall
from ..envs.rollout import Episode
from ..envs.trace import Step, step_between


@dataclass(frozen=True, slots=True)
class _Branch:
    operation: int
    after: EvidenceState
    gain: float


def plan(
    records: Sequence[Record],
    rules: Rules,
    engine: Engine,
    batch: int = 64,
    done: Callable[[int], None] | None = None,
) -> list[Episode]:
    """Run the oracle on each question.

    At each step it tries every valid operation, and after each of them every valid operation again, and takes the one
    with the largest gain in support recall; a gain now beats the same gain one step later, and ties go to the lowest
    action id. It stops once all support is held, where stopping is allowed.

    Raises:
        ConfigError: if a question has no gold.
    """
    if lacking := [record.id for record in records if record.gold is None]:
        raise ConfigError(f"the oracle needs gold, which these questions lack: {', '.join(lacking[:5])}")
    episodes: list[Episode] = []
    for first in range(0, len(records), batch):
        episodes += _plan_batch(records[first : first + batch], rules, engine)
        if done:
            done(len(episodes))
    return episodes


def _plan_batch(records: Sequence[Record], rules: Rules, engine: Engine) -> list[Episode]:
    golds = [record.gold for record in records if record.gold is not None]
    paths = [[rules.start(record.question)] for record in records]
    steps: list[list[Step]] = [[] for _ in records]
    while running := [i for i, path in enumerate(paths) if not path[-1].end]:
        states = [paths[i][-1] for i in running]
        chosen = _choose(states, [golds[i] for i in running], rules, engine)
        for i, state, branch in zip(running, states, chosen):
            mask = rules.mask(state)
            steps[i].append(step_between(state, branch.after, rules.operations.names, branch.operation, mask))
            paths[i].append(branch.after)
    finals = rules.conclude([path[-1] for path in paths], engine)
    return [
        Episode(record.question, (*path[:-1], final), tuple(trace))
        for record, path, final, trace in zip(records, paths, finals, steps)
    ]


def _choose(states: list[EvidenceState], golds: list[Gold], rules: Rules, engine: Engine) -> list[_Branch]:
    """Return the best branch of each state."""
    first = _branches(states, golds, rules, engine)
    flat = [(i, branch) for i, branches in enumerate(first) for branch in branches if not branch.after.end]
    second = _branches([branch.after for _, branch in flat], [golds[i] for i, _ in flat], rules, engine)
    later = {(i, branch.operation): _best_gain(follow) for (i, branch), follow in zip(flat, second)}
    return [
        _best(branches, {op: gain for (j, op), gain in later.items() if j == i}, rules.operations.stop)
        if support_recall(golds[i], states[i].passages) < 1.0
        else _stop_or_first(branches, rules.operations.stop)
        for i, branches in enumerate(first)
    ]


def _branches(states: list[EvidenceState], golds: list[Gold], rules: Rules, engine: Engine) -> list[list[_Branch]]:
    """Try every valid operation from each state."""
    tries = [(i, int(op)) for i, state in enumerate(states) for op in np.flatnonzero(rules.mask(state))]
    after = rules.step([states[i] for i, _ in tries], [op for _, op in tries], engine)
    found: list[list[_Branch]] = [[] for _ in states]
    for (i, op), state in zip(tries, after):
        gain = support_recall(golds[i], state.passages) - support_recall(golds[i], states[i].passages)
        found[i].append(_Branch(op, state, gain))
    return found


def _best_gain(branches: list[_Branch]) -> float:
    return max((branch.gain for branch in branches), default=0.0)


def _best(branches: list[_Branch], later: dict[int, float], stop: int) -> _Branch:
    """Prefer gain over two steps, then gain now, then anything to stopping, then the lowest id."""

    def worth(branch: _Branch) -> tuple[float, float, bool, int]:
        total = round(branch.gain + later.get(branch.operation, 0.0), 9)
        return total, branch.gain, branch.operation != stop, -branch.operation

    return max(branches, key=worth)


def _stop_or_first(branches: list[_Branch], stop: int) -> _Branch:
    return next((branch for branch in branches if branch.operation == stop), branches[0])
