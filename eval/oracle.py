"""The oracle planner: beam search on gold support, from states that can be branched. A bound, never a system."""

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
from ..envs.trace import step_between


@dataclass(frozen=True, slots=True)
class _Path:
    """States from the first on, and the operations between them."""

    states: tuple[EvidenceState, ...]
    operations: tuple[int, ...]
    recall: float

    @property
    def last(self) -> EvidenceState:
        return self.states[-1]

    @property
    def promise(self) -> tuple[float, tuple[int, ...]]:
        """Best first among paths that go on: more support, then the lower action ids.

        Thrift has no say here: it would fill the beam with paths that have spent their steps on checks.
        """
        return -self.recall, self.operations

    @property
    def merit(self) -> tuple[float, int, int, int, tuple[int, ...]]:
        """Best first among paths that have ended: more support, then fewer retrievals, calls and steps, then ids."""
        calls = self.last.cost.generator_calls
        return -self.recall, self.last.retrievals + self.last.external, calls, len(self.operations), self.operations


def plan(
    records: Sequence[Record],
    rules: Rules,
    engine: Engine,
    width: int = 8,
    batch: int = 64,
    done: Callable[[int], None] | None = None,
) -> list[Episode]:
    """Run the oracle on each question.

    From each of the ``width`` best paths every valid operation is tried, step by step, until the steps are used up. The
    path with the most support wins; among equals the one with the fewest retrievals, generator calls and steps. The
    greedy oracle of the paper is ``width=1``; a wider beam is a closer bound, since the first hop of a chain may bring
    nothing by itself.

    Raises:
        ConfigError: if a question has no gold, or ``width`` is below 1.
    """
    if width < 1:
        raise ConfigError(f"width must be at least 1, found {width}")
    if lacking := [record.id for record in records if record.gold is None]:
        raise ConfigError(f"the oracle needs gold, which these questions lack: {', '.join(lacking[:5])}")
    episodes: list[Episode] = []
    for first in range(0, len(records), batch):
        episodes += _plan_batch(records[first : first + batch], rules, engine, width)
        if done:
            done(len(episodes))
    return episodes


def attainable(
    states: Sequence[EvidenceState], golds: Sequence[Gold], rules: Rules, engine: Engine, width: int = 8
) -> list[float]:
    """Return the highest support recall in [0, 1] that the oracle's search reaches from each state.

    It is never below what the state holds. A search ends where everything is held, since no path can better that.

    Args:
        states: running or ended states.
        golds: what each state's question needs.
        rules: operations and caps.
        engine: executes the requests.
        width: see :func:`plan`.
    """
    best = [support_recall(gold, state.passages) for gold, state in zip(golds, states)]
    beams = [[] if state.end or recall == 1.0 else [_Path((state,), (), recall)] for state, recall in zip(states, best)]
    while any(beams):
        beams, over = _advance(beams, list(golds), rules, engine, width)
        reached = [[path.recall for path in (*beam, *ended)] for beam, ended in zip(beams, over)]
        best = [max((recall, *more)) for recall, more in zip(best, reached)]
        beams = [[] if recall == 1.0 else beam for recall, beam in zip(best, beams)]
    return best


def _plan_batch(records: Sequence[Record], rules: Rules, engine: Engine, width: int) -> list[Episode]:
    golds = [record.gold for record in records if record.gold is not None]
    beams = [[_Path((rules.start(record.question),), (), 0.0)] for record in records]
    ended: list[list[_Path]] = [[] for _ in records]
    while any(beams):
        beams, over = _advance(beams, golds, rules, engine, width)
        ended = [[*earlier, *more] for earlier, more in zip(ended, over)]
    best = [min(paths, key=lambda path: path.merit) for paths in ended]
    finals = rules.conclude([path.last for path in best], engine)
    return [_episode(record, path, final, rules) for record, path, final in zip(records, best, finals)]


def _advance(
    beams: list[list[_Path]], golds: list[Gold], rules: Rules, engine: Engine, width: int
) -> tuple[list[list[_Path]], list[list[_Path]]]:
    """Return, for each question, the best paths that go on and those that have ended, one operation later."""
    tries = [
        (i, path, int(op))
        for i, beam in enumerate(beams)
        for path in beam
        for op in np.flatnonzero(rules.mask(path.last))
    ]
    after = rules.step([path.last for _, path, _ in tries], [op for _, _, op in tries], engine, checked=True)
    running: list[list[_Path]] = [[] for _ in beams]
    ended: list[list[_Path]] = [[] for _ in beams]
    for (i, path, op), state in zip(tries, after):
        longer = _Path((*path.states, state), (*path.operations, op), support_recall(golds[i], state.passages))
        (ended if state.end else running)[i].append(longer)
    return [_kept(paths, over, width) for paths, over in zip(running, ended)], ended


def _kept(paths: list[_Path], ended: list[_Path], width: int) -> list[_Path]:
    """Keep the best paths; none once an ended one holds all support, which no longer path can better."""
    if any(path.recall == 1.0 for path in ended):
        return []
    return sorted(paths, key=lambda path: path.promise)[:width]


def _episode(record: Record, path: _Path, final: EvidenceState, rules: Rules) -> Episode:
    steps = tuple(
        step_between(before, after, rules.operations.names, operation, rules.mask(before))
        for before, after, operation in zip(path.states, path.states[1:], path.operations)
    )
    return Episode(record.question, (*path.states[:-1], final), steps)
