"""The prompt of each kind of task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask
from . import answer, compress, judge, rewrite
from .template import Messages


class TaskPrompt(NamedTuple):
    """How a kind of task is asked and its reply read; see the package."""

    name: str
    render: Callable[[Any], Messages]
    parse: Callable[[str, Any], Any]
    completion_tokens: Callable[[Any], int]
    schema: Callable[[Any], dict[str, Any]]


BY_TASK: dict[type, TaskPrompt] = {
    AnswerTask: TaskPrompt("answer", answer.render, answer.parse, answer.completion_tokens, answer.schema),
    JudgeTask: TaskPrompt("judge", judge.render, judge.parse, judge.completion_tokens, judge.schema),
    RewriteTask: TaskPrompt("rewrite", rewrite.render, rewrite.parse, rewrite.completion_tokens, rewrite.schema),
    CompressTask: TaskPrompt("compress", compress.render, compress.parse, compress.completion_tokens, compress.schema),
}
PROMPT_NAMES = tuple(prompt.name for prompt in BY_TASK.values())
