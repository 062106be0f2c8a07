"""The dispatcher collects requests by kind and gives back their replies as they come; kinds run side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, NamedTuple

from .engine import Engine, Kind, Reply


class Answered(NamedTuple):
    """A reply, and who asked for it."""

    who: int
    reply: Reply


class Dispatcher:
    """Executes what is asked: in this thread, or in others where a backend allows several calls at a time.

    Equal requests, waiting or under way, are executed once. Replies are kept in this thread alone. It is a context:
    when an exception leaves it, what has not begun is dropped, and calls under way end by themselves.

    Args:
        engine: executes the requests of its kinds.
        kinds: further kinds of requests, by type.
    """

    def __init__(self, engine: Engine, kinds: Mapping[type, Kind]) -> None:
        every = {**engine.kinds, **kinds}
        self._engine = engine
        self._kinds = dict(sorted(every.items(), key=lambda item: item[1].turn))
        self._queues: dict[type, list[Any]] = {type_: [] for type_ in self._kinds}
        self._askers: dict[Any, list[int]] = {}
        self._ready: list[Answered] = []
        self._flying: dict[Future[list[Reply]], tuple[type, list[Any]]] = {}
        self._aloft: Counter[type] = Counter()
        threads = sum(kind.concurrency for kind in every.values())
        self._pool = ThreadPoolExecutor(threads, "evidencegym") if threads else None

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=error is None, cancel_futures=True)

    def ask(self, who: int, request: Any) -> None:
        """Note that ``who`` waits for the reply to ``request``."""
        reply = self._engine.recall(request)
        if reply is not None:
            self._ready.append(Answered(who, reply))
        elif request in self._askers:
            self._askers[request].append(who)
        else:
            self._queues[type(request)].append(request)
            self._askers[request] = [who]

    def replies(self) -> list[Answered]:
        """Return replies that have come; none only where nothing is asked for.

        It waits only where nothing can be done in the meantime.
        """
        if self._ready:
            ready, self._ready = self._ready, []
            return ready
        self._send()
        back = [future for future in self._flying if future.done()]
        local = None if back else self._next_local()
        if local is not None:
            batch = self._taken(local)
            return self._settled(batch, self._kinds[local].execute(batch))
        if self._flying and not back:
            wait(self._flying, return_when=FIRST_COMPLETED)
            back = [future for future in self._flying if future.done()]
        return self._landed(back)

    def _send(self) -> None:
        """Start the batches that others may execute now."""
        if self._pool is None:
            return
        for type_, queue in self._queues.items():
            kind = self._kinds[type_]
            while queue and self._aloft[type_] < kind.concurrency:
                batch = self._taken(type_)
                self._flying[self._pool.submit(kind.execute, batch)] = type_, batch
                self._aloft[type_] += 1

    def _next_local(self) -> type | None:
        return next((t for t, queue in self._queues.items() if queue and not self._kinds[t].concurrency), None)

    def _taken(self, type_: type) -> list[Any]:
        queue = self._queues[type_]
        size = self._kinds[type_].max_batch or len(queue)
        batch = queue[:size]
        del queue[:size]
        return batch

    def _landed(self, back: Iterable[Future[list[Reply]]]) -> list[Answered]:
        found: list[Answered] = []
        for future in back:
            type_, batch = self._flying.pop(future)
            self._aloft[type_] -= 1
            found += self._settled(batch, future.result())
        return found

    def _settled(self, batch: list[Any], replies: list[Reply]) -> list[Answered]:
        if type(batch[0]) in self._engine.kinds:
            self._engine.keep(batch, replies)
        return [Answered(who, reply) for request, reply in zip(batch, replies) for who in self._askers.pop(request)]
