"""The protocol that every generator follows: task-level, so that a rule-based reader is one, too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .tasks import (
    Answer,
    AnswerTask,
    Compression,
    CompressTask,
    Judgement,
    JudgeTask,
    RewriteTask,
    Rewriting,
)


class Generator(ABC):
    """Answers, judges, rewrites and compresses, each over a batch; the results are in the order of the tasks."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that can change a result."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """What a token is here, for example ``"words"``."""

    @abstractmethod
    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        """Answer each question."""

    @abstractmethod
    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Judgement]:
        """Judge whether each body of evidence suffices."""

    @abstractmethod
    def rewrite(self, tasks: Sequence[RewriteTask]) -> list[Rewriting]:
        """Reformulate each query."""

    @abstractmethod
    def compress(self, tasks: Sequence[CompressTask]) -> list[Compression]:
        """Compress each body of evidence."""
