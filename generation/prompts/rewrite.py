"""A new query."""

from __future__ import annotations

from typing import Any

from ..tasks import RewriteTask, Rewriting
from . import quoting
from .reply import object_schema, read_object, short_text
from .template import Messages, prompt

LIMIT = 64
"""Tokens of a query at most."""


def render(task: RewriteTask) -> Messages:
    """Return the messages; the question itself, which is asked first, is not listed once more as a query."""
    asked = [query[: quoting.MAX_QUESTION] for query in task.queries if query != task.question]
    return prompt("rewrite").messages(
        evidence=quoting.passages(task.passages),
        question=quoting.question(task.question),
        queries=quoting.quoted(asked) if asked else quoting.NOTHING,
    )


def parse(text: str, task: RewriteTask) -> Rewriting:
    """Return the query; empty where it is one of those already asked, or the reply says that there is none.

    Raises:
        ParseError: if the reply is not ``{"query": "..."}`` or the query is too long.
    """
    query = short_text(read_object(text, query=str)["query"], "the query", LIMIT)
    return Rewriting("" if query in task.queries else query)


def completion_tokens(task: RewriteTask) -> int:
    """Return the room that a reply needs."""
    return LIMIT + 16


def schema(task: RewriteTask) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    return object_schema(query={"type": "string"})
