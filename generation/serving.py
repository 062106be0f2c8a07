"""A generator that serves every kind of task in one way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from .base import Generator
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


class ServingGenerator(Generator):
    """Hands the tasks of each method to :meth:`_served`, which tells them apart by their type or the method's name."""

    def answer(self, tasks: Sequence[AnswerTask]) -> Sequence[Answer | Failed]:
        """Answer each question."""
        return self._served("answer", tasks)

    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> Sequence[Judgement | Failed]:
        """Judge whether each body of evidence suffices."""
        return self._served("judge_sufficiency", tasks)

    def rewrite(self, tasks: Sequence[RewriteTask]) -> Sequence[Rewriting | Failed]:
        """Reformulate each query."""
        return self._served("rewrite", tasks)

    def compress(self, tasks: Sequence[CompressTask]) -> Sequence[Compression | Failed]:
        """Compress each body of evidence."""
        return self._served("compress", tasks)

    @abstractmethod
    def _served(self, kind: str, tasks: Sequence[Any]) -> list[Any]:
        """Return the results of a batch of one kind, in the order of the tasks.

        Args:
            kind: name of the method.
            tasks: all of the same type.
        """
