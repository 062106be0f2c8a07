"""The final answer: a short text."""

from __future__ import annotations

from typing import Any

from ..tasks import Answer, AnswerTask
from . import quoting
from .reply import object_schema, read_object, short_text
from .template import Messages, prompt

LIMIT = 48
"""Tokens of an answer at most (DynaKRAG, settings of the main runs)."""


def render(task: AnswerTask) -> Messages:
    """Return the messages; where there are snippets, only they are shown."""
    shown = quoting.snippets(task.snippets) if task.snippets else quoting.passages(task.passages)
    return prompt("answer").messages(evidence=shown, question=quoting.question(task.question))


def parse(text: str, task: AnswerTask) -> Answer:
    """Return the answer; it names no supporting sentences.

    Raises:
        ParseError: if the reply is not ``{"answer": "..."}`` or the answer is too long.
    """
    return Answer(short_text(read_object(text, answer=str)["answer"], "the answer", LIMIT))


def completion_tokens(task: AnswerTask) -> int:
    """Return the room that a reply needs: the answer and what stands around it."""
    return LIMIT + 16


def schema(task: AnswerTask) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    return object_schema(answer={"type": "string"})
