"""A rule-based generator for tests: quick, deterministic, and with nothing fitted."""

from collections.abc import Sequence

from evidencegym.actions.bridge import bridge_candidates
from evidencegym.data.text import content_words, words
from evidencegym.generation.base import Generator
from evidencegym.generation.tasks import (
    Answer,
    AnswerTask,
    Compression,
    CompressTask,
    Judgement,
    JudgeTask,
    RewriteTask,
    Rewriting,
    Snippet,
    Usage,
)


class OverlapGenerator(Generator):
    """Answers with the first bridge entity, judges by the number of passages, rewrites with the next bridge entity."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    @property
    def fingerprint(self) -> str:
        return "overlap"

    @property
    def unit(self) -> str:
        return "words"

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        self.calls.append(("answer", len(tasks)))
        return [self._answer(task) for task in tasks]

    def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Judgement]:
        self.calls.append(("judge", len(tasks)))
        return [self._judge(task) for task in tasks]

    def rewrite(self, tasks: Sequence[RewriteTask]) -> list[Rewriting]:
        self.calls.append(("rewrite", len(tasks)))
        return [self._rewrite(task) for task in tasks]

    def compress(self, tasks: Sequence[CompressTask]) -> list[Compression]:
        self.calls.append(("compress", len(tasks)))
        return [self._compress(task) for task in tasks]

    def _answer(self, task: AnswerTask) -> Answer:
        names = bridge_candidates(task.question, task.passages)
        read = sum(len(words(s.text)) for s in task.snippets) or sum(len(words(p.text)) for p in task.passages)
        return Answer(names[0] if names else "nothing found", usage=Usage(read, 1))

    def _judge(self, task: JudgeTask) -> Judgement:
        sufficient = len(task.passages) > 6
        names = bridge_candidates(task.question, task.passages)
        missing = f"{names[len(task.passages) % len(names)]} {task.question}" if names else task.question
        return Judgement(sufficient, "" if sufficient else missing, len(task.passages) / 12, Usage(7, 1))

    def _rewrite(self, task: RewriteTask) -> Rewriting:
        names = bridge_candidates(task.question, task.passages)
        rest = " ".join(content_words(task.question))
        fresh = (f"{name} {rest}" for name in reversed(names) if f"{name} {rest}" not in task.queries)
        return Rewriting(next(fresh, ""), Usage(5, 2))

    def _compress(self, task: CompressTask) -> Compression:
        firsts = [Snippet(p.id, p.sentences[0], 0) for p in task.passages if p.sentences and p.sentences[0]]
        return Compression(tuple(firsts[: task.max_snippets]), Usage(9, 3))
