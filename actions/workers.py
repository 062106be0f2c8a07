"""Running batches of questions side by side through joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from ..data.errors import BackendUnavailableError, ConfigError


@dataclass(frozen=True)
class Workers:
    """Who does the work; it changes no result.

    Attributes:
        jobs: workers, at least 1; 1 does the work here.
        backend: joblib's backend: loky (processes), threading, or a distributed engine that the caller has set up and
            registered with joblib (dask, ray).

    Raises:
        ConfigError: if ``jobs`` is below 1.
    """

    jobs: int = 1
    backend: str = "loky"

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ConfigError(f"workers.jobs must be at least 1, found {self.jobs}")

    def map(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield ``work(*task)`` for each task, in the order of the tasks.

        Raises:
            BackendUnavailableError: if a worker died or there is no such backend; what was finished is kept.
        """
        if self.jobs == 1:
            yield from (work(*task) for task in tasks)
            return
        try:
            parallel = Parallel(
                n_jobs=self.jobs, backend=self.backend, return_as="generator", pre_dispatch=2 * self.jobs
            )
            yield from parallel(delayed(work)(*task) for task in tasks)
        except TerminatedWorkerError as error:
            raise BackendUnavailableError("a worker died; what was finished is kept, the same call goes on") from error
        except ValueError as error:
            if "backend" not in str(error).lower():
                raise
            raise BackendUnavailableError(f"joblib has no backend {self.backend!r}: {error}") from error
