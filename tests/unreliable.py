"""Generators for tests that fail on some tasks, or are slow when told to be."""

from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import Any

from evidencegym.data.errors import RequestFailedError
from evidencegym.data.records import content_hash
from evidencegym.generation.tasks import AnswerTask, CompressTask, Failed, JudgeTask, RewriteTask, Usage
from tests.fakes import OverlapGenerator

METHODS: dict[str, type] = {
    "answer": AnswerTask,
    "judge_sufficiency": JudgeTask,
    "rewrite": RewriteTask,
    "compress": CompressTask,
}
Bad = Callable[[Any], bool]


def by_hash(share: float) -> Bad:
    """Return a rule by which about ``share`` of all tasks fail, always the same ones."""
    return lambda task: int(content_hash(repr(task)), 16) % 1000 < 1000 * share


class UnreliableGenerator(OverlapGenerator):
    """Fails on bad tasks: by ``Failed`` in their place, or, ``raising``, by an error that hits the whole batch."""

    def __init__(self, bad: Bad, raising: bool = False, concurrency: int = 0, max_batch: int | None = None) -> None:
        super().__init__()
        self.bad, self.raising = bad, raising
        self.concurrency, self.max_batch = concurrency, max_batch

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Any]:
        return self._served(tasks, super().answer)

    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Any]:
        return self._served(tasks, super().judge_sufficiency)

    def rewrite(self, tasks: Sequence[RewriteTask]) -> list[Any]:
        return self._served(tasks, super().rewrite)

    def compress(self, tasks: Sequence[CompressTask]) -> list[Any]:
        return self._served(tasks, super().compress)

    def _served(self, tasks: Sequence[Any], method: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        if self.raising and any(map(self.bad, tasks)):
            raise RequestFailedError("not served")
        made = method(tasks)
        return [Failed("not served", Usage(3, 0)) if self.bad(t) else m for t, m in zip(tasks, made)]


class SlowGenerator(OverlapGenerator):
    """Holds batches with a slow task back until ``release`` is set, and notes how many batches run at once."""

    def __init__(self, slow: Bad, concurrency: int, max_batch: int | None = None) -> None:
        super().__init__()
        self.slow = slow
        self.concurrency, self.max_batch = concurrency, max_batch
        self.release = Event()
        self.held_back = 0
        self._lock = Lock()

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Any]:
        self._wait(tasks)
        return super().answer(tasks)

    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Any]:
        self._wait(tasks)
        return super().judge_sufficiency(tasks)

    def _wait(self, tasks: Sequence[Any]) -> None:
        if any(map(self.slow, tasks)):
            with self._lock:
                self.held_back += 1
            if not self.release.wait(timeout=30):
                raise TimeoutError("the others did not finish meanwhile")
