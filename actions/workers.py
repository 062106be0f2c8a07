"""Running batches of questions side by side through joblib."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.backend.reduction import dumps
from joblib.externals.loky.process_executor import BrokenProcessPool

from ..data.errors import BackendUnavailableError, ConfigError

DASK = "dask"
ANSWERS_WITHIN = 10.0
"""Seconds that a scheduler may take to answer."""

_ON_THIS_MACHINE = frozenset({"loky", "threading", "multiprocessing"})
_HOW_TO_DASK = "install the extra 'distributed' and name a running scheduler with workers.address (tcp://HOST:PORT)"
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Workers:
    """Who does the work; it changes no result.

    Attributes:
        jobs: workers, at least 1; 1 does the work here. A distributed engine has as many as it has.
        backend: joblib's backend: loky (processes), threading, or a distributed engine: dask, or what the caller has
            registered with joblib (ray). Its workers must see the same folders.
        address: a running dask scheduler, as tcp://HOST:PORT; left out, the dask client that the caller has made.

    Raises:
        ConfigError: if ``jobs`` is below 1, or an address is given to another backend than dask.
    """

    jobs: int = 1
    backend: str = "loky"
    address: str = ""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ConfigError(f"workers.jobs must be at least 1, found {self.jobs}")
        if self.address and self.backend != DASK:
            raise ConfigError(f"workers.address is for workers.backend dask, found backend {self.backend!r}")

    @property
    def here(self) -> bool:
        """Whether this process does the work itself."""
        return self.jobs == 1 and self.backend in _ON_THIS_MACHINE

    def map(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield ``work(*task)`` for each task, in the order of the tasks.

        What all tasks need goes to the workers once if it is wrapped as :class:`Sent`.

        Raises:
            BackendUnavailableError: if there is no such backend, no scheduler answers within ten seconds, or a worker
                died; what was finished is kept. dask replaces workers that die, so there it takes several deaths.
        """
        if self.here:
            yield from (work(*task) for task in tasks)
            return
        with _dask_client(self.address) as options:
            results = self._begin(self._parallel(options), (delayed(work)(*task) for task in tasks))
            try:
                yield from results
            except Exception as error:
                if not _worker_lost(error):
                    raise
                raise BackendUnavailableError(
                    "a worker or its scheduler died; what was finished is kept, the same call goes on"
                ) from error

    def _parallel(self, options: dict[str, Any]) -> Parallel:
        try:
            with parallel_config(backend=self.backend, **options):
                return Parallel(n_jobs=self.jobs, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
        except (ValueError, ImportError) as error:
            hint = f"; {_HOW_TO_DASK}" if self.backend == DASK else ""
            raise BackendUnavailableError(f"joblib has no backend {self.backend!r}{hint}: {error}") from error

    def _begin(self, parallel: Parallel, calls: Iterator[Any]) -> Iterator[Any]:
        try:
            return iter(parallel(calls))
        except TimeoutError as error:  # dask's backend waits ten seconds for the first worker
            raise BackendUnavailableError(f"the scheduler has no workers; start some and try again: {error}") from error


@contextmanager
def _dask_client(address: str) -> Iterator[dict[str, Any]]:
    """Connect to a scheduler for as long as the work takes; without an address, leave it to joblib."""
    if not address:
        yield {}
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise BackendUnavailableError(f"dask is not installed; {_HOW_TO_DASK}") from error
    try:
        with ThreadPoolExecutor(1) as thread:  # asyncio.run needs a thread without a loop
            thread.submit(asyncio.run, asyncio.wait_for(_greet(address), ANSWERS_WITHIN)).result()
        client = Client(address, timeout=ANSWERS_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise BackendUnavailableError(
            f"no dask scheduler answers at {address}; start one with: dask scheduler ({error})"
        ) from error
    with client:
        yield {"client": client}


async def _greet(address: str) -> None:
    """Shake hands; a client that is made where nothing answers may wait for ever."""
    from distributed.comm import connect
    from distributed.security import Security

    comm = await connect(address, timeout=ANSWERS_WITHIN, **Security().get_connection_args("client"))
    await comm.close()


def _worker_lost(error: Exception) -> bool:
    """Whether the work failed because whoever did it is gone; dask's errors are known by name, it may be absent."""
    dask = type(error).__module__.partition(".")[0] == "distributed"
    return isinstance(error, BrokenProcessPool | CancelledError) or (dask and type(error).__name__ == "KilledWorker")


class Sent(Generic[_Value]):
    """Something that many tasks need: pickled once here, and unpickled once by each worker process.

    A process keeps the last thing that it was sent. Every one is sent under a name of its own, so that an index that
    was saved again in the same folder is opened again.

    Args:
        value: what is sent.
    """

    def __init__(self, value: _Value) -> None:
        self.value = value
        self._pickled: tuple[str, bytes] | None = None

    def __reduce__(self) -> Any:
        if self._pickled is None:
            self._pickled = uuid4().hex, bytes(dumps(self.value))
        return _receive, self._pickled


_lock = threading.Lock()
_last: tuple[str, Any] = ("", None)


def _receive(name: str, pickled: bytes) -> Any:
    global _last  # noqa: PLW0603
    with _lock:
        if _last[0] != name:
            _last = ("", None)  # frees the memory before the next takes its own
            _last = (name, Sent(pickle.loads(pickled)))
        return _last[1]
