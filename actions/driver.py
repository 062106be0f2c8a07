"""The drivers of processes: one at a time, or many in lockstep; no operation can tell which."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from ..data.errors import ConfigError, RequestFailedError
from ..generation.tasks import Failed
from .costs import Cost
from .dispatcher import Dispatcher
from .engine import Engine, Kind, Reply
from .operation import Process
from .state import EvidenceState

T = TypeVar("T")
# Yields requests and is sent whole replies: costs and failures are its own affair.
Exchange = Generator[Any, Any, T]


class Outcome(NamedTuple):
    """The state that a process returned, and what its requests cost."""

    state: EvidenceState
    cost: Cost


def metered(process: Process) -> Exchange[Outcome]:
    """Send a process the responses to its requests, and sum up their costs.

    Raises:
        RequestFailedError: raised in the process where its request failed; it leaves the process unless caught there.
    """
    cost = Cost()
    try:
        request = next(process)
        while True:
            response, spent = yield request
            cost += spent
            if isinstance(response, Failed):
                request = process.throw(RequestFailedError(response.reason))
            else:
                request = process.send(response)
    except StopIteration as stop:
        return Outcome(stop.value, cost)


def run(process: Process, engine: Engine) -> Outcome:
    """Run one process to its end, sending it the responses one by one.

    Raises:
        RequestFailedError: if a request failed and the process does not catch it.
    """
    return complete(metered(process), engine)


def run_all(processes: Iterable[Process], engine: Engine) -> list[Outcome]:
    """Run processes in lockstep: whatever they ask for at the same time is executed as one batch.

    Returns:
        The outcomes in the order of the processes, equal to those of :func:`run` one after another.

    Raises:
        RequestFailedError: if a request failed and its process does not catch it.
    """
    return drive([metered(process) for process in processes], engine)


def complete(exchange: Exchange[T], engine: Engine) -> T:
    """Carry one exchange to its end and return its value."""
    try:
        request = next(exchange)
        while True:
            [reply] = engine.execute([request])
            request = exchange.send(reply)
    except StopIteration as stop:
        value: T = stop.value
        return value


def drive(
    exchanges: Iterable[Exchange[T]],
    engine: Engine,
    kinds: Mapping[type, Kind] | None = None,
    width: int | None = None,
    ended: Callable[[int], None] | None = None,
) -> list[T]:
    """Carry exchanges to their ends side by side.

    Each goes on as soon as what it waits for is there, whatever the others wait for.

    Args:
        exchanges: taken one by one as there is room.
        engine: executes the requests.
        kinds: further kinds of requests, by type.
        width: most exchanges under way, at least 1; None for no limit. Another begins when one ends.
        ended: called with the number that have ended, whenever it has grown.

    Returns:
        Their values, in the order of the exchanges.

    Raises:
        ConfigError: if ``width`` is below 1.
    """
    if width is not None and width < 1:
        raise ConfigError(f"at least one must be under way at a time, found a width of {width}")
    with Dispatcher(engine, kinds or {}) as dispatcher:
        running = _Running(iter(exchanges), dispatcher, width)
        count = 0
        while running.advanced():
            if ended is not None and len(running.values) > count:
                count = len(running.values)
                ended(count)
        if ended is not None and len(running.values) > count:
            ended(len(running.values))
        return [running.values[who] for who in range(len(running.values))]


class _Running(Generic[T]):
    """The exchanges under way, and the values of those that have ended."""

    def __init__(self, arriving: Iterator[Exchange[T]], dispatcher: Dispatcher, width: int | None) -> None:
        self.values: dict[int, T] = {}
        self._arriving = enumerate(arriving)
        self._dispatcher = dispatcher
        self._width = sys.maxsize if width is None else width
        self._under_way: dict[int, Exchange[T]] = {}

    def advanced(self) -> bool:
        """Begin what there is room for and pass on what has come; False once all have ended."""
        self._fill()
        replies = self._dispatcher.replies()
        for who, reply in replies:
            self._go_on(who, reply)
        return bool(replies)

    def _fill(self) -> None:
        while room := self._width - len(self._under_way):
            begun = list(islice(self._arriving, room))
            if not begun:
                return
            self._under_way |= begun
            for who, _ in begun:
                self._go_on(who, None)

    def _go_on(self, who: int, reply: Reply | None) -> None:
        try:
            self._dispatcher.ask(who, self._under_way[who].send(reply))
        except StopIteration as stop:
            del self._under_way[who]
            self.values[who] = stop.value
