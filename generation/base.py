"""The protocol that every generator follows: task-level, so that a rule-based reader is one, too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .tasks import (
    Answer,
    AnswerTask,
    Compression,
    CompressTask,
    Failed,
    Judgement,
    JudgeTask,
    RewriteTask,
    Rewriting,
)


class Generator(ABC):
    """Answers, judges, rewrites and compresses, each over a batch; the results are in the order of the tasks.

    A task that cannot be served gets a ``Failed`` in the place of its result. A method may raise ``RequestFailedError``
    instead; a batch of several is then asked again in halves, so that one bad task does not take the others along. Any
    other exception ends the run.

    Attributes:
        concurrency: 0 where the work is done in this process: each method runs at once, in the thread that asks. At
            least 1 where it is done elsewhere: up to so many batches of each method are under way together, so every
            method must bear being called from several threads at a time.
        max_batch: most tasks in one call, at least 1; None for no limit.
    """

    concurrency: int = 0
    max_batch: int | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that can change a result."""

    @property
    def label(self) -> str:
        """What people call it, such as the name of its model; it is shown, and changes nothing."""
        return type(self).__name__

    @property
    @abstractmethod
    def unit(self) -> str:
        """What a token is here, for example ``"words"``."""

    @abstractmethod
    def answer(self, tasks: Sequence[AnswerTask]) -> Sequence[Answer | Failed]:
        """Answer each question."""

    @abstractmethod
    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> Sequence[Judgement | Failed]:
        """Judge whether each body of evidence suffices."""

    @abstractmethod
    def rewrite(self, tasks: Sequence[RewriteTask]) -> Sequence[Rewriting | Failed]:
        """Reformulate each query."""

    @abstractmethod
    def compress(self, tasks: Sequence[CompressTask]) -> Sequence[Compression | Failed]:
        """Compress each body of evidence."""
