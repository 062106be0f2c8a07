"""The two drivers of operations: one process at a time, or many in lockstep; no operation can tell which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .costs import Cost
from .engine import Engine, Reply
from .operation import Process, Request
from .state import EvidenceState


class Outcome(NamedTuple):
    """The state that a process returned, and what its requests cost."""

    state: EvidenceState
    cost: Cost


def run(process: Process, engine: Engine) -> Outcome:
    """Run one process to its end, sending it the responses one by one."""
    cost = Cost()
    try:
        request = next(process)
        while True:
            [reply] = engine.execute([request])
            cost += reply.cost
            request = process.send(reply.response)
    except StopIteration as stop:
        return Outcome(stop.value, cost)


def run_all(processes: Iterable[Process], engine: Engine) -> list[Outcome]:
    """Run processes in lockstep: whatever they ask for at the same time is executed as one batch.

    Returns:
        The outcomes in the order of the processes, equal to those of :func:`run` one after another.
    """
    running = list(processes)
    outcomes: dict[int, Outcome] = {}
    costs = [Cost() for _ in running]
    pending: list[tuple[int, Request]] = []
    _advance(running, [(i, None) for i in range(len(running))], costs, pending, outcomes)
    while pending:
        replies = engine.execute([request for _, request in pending])
        turns = [(i, reply) for (i, _), reply in zip(pending, replies)]
        pending = []
        _advance(running, turns, costs, pending, outcomes)
    return [outcomes[i] for i in range(len(running))]


def _advance(
    running: list[Process],
    turns: Sequence[tuple[int, Reply | None]],
    costs: list[Cost],
    pending: list[tuple[int, Request]],
    outcomes: dict[int, Outcome],
) -> None:
    """Send each process its reply; note what it asks next, or how it ended."""
    for i, reply in turns:
        try:
            if reply is None:
                pending.append((i, next(running[i])))
            else:
                costs[i] += reply.cost
                pending.append((i, running[i].send(reply.response)))
        except StopIteration as stop:
            outcomes[i] = Outcome(stop.value, costs[i])
