"""The verdict on sufficiency, what is missing, and the probability of the verdict's token."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp
from typing import Any, NamedTuple

from ..tasks import Judgement, JudgeTask
from . import quoting
from .errors import ParseError
from .reply import object_schema, read_object, short_text
from .template import Messages, prompt

LIMIT = 64
"""Tokens of the missing information at most."""
_BEFORE_VERDICT = re.compile(r'"sufficient"\s*:\s*')


class Token(NamedTuple):
    """A token of a reply.

    Attributes:
        text: the token.
        alternatives: log probability of each of the likeliest tokens in its place, itself among them.
    """

    text: str
    alternatives: Mapping[str, float]


def render(task: JudgeTask) -> Messages:
    """Return the messages."""
    return prompt("judge").messages(evidence=quoting.passages(task.passages), question=quoting.question(task.question))


def parse(text: str, task: JudgeTask) -> Judgement:
    """Return the verdict, its probability 0 or 1; with a positive verdict nothing is missing, whatever the reply says.

    Raises:
        ParseError: if the reply is not ``{"sufficient": true or false, "missing": "..."}``, or names nothing missing
            where the evidence does not suffice, or too much.
    """
    read = read_object(text, sufficient=bool, missing=str)
    if read["sufficient"]:
        return Judgement(True, "", 1.0)
    missing = short_text(read["missing"], "missing", LIMIT)
    if not missing:
        raise ParseError('where "sufficient" is false, "missing" must say what is missing; it is empty')
    return Judgement(False, missing, 0.0)


def verdict_probability(tokens: Sequence[Token]) -> float | None:
    """Return P(true) / (P(true) + P(false)) of the token that gives the verdict.

    Returns:
        A number in [0, 1]; None where no token of the reply gives the verdict. Where the server names only one of the
        two among the alternatives, the other one has the rest of the probability.
    """
    token = _verdict(tokens)
    if token is None:
        return None
    by_verdict = {True: 0.0, False: 0.0}
    for text, logprob in token.alternatives.items():
        if (says := _says(text)) is not None:
            by_verdict[says] += min(1.0, exp(min(0.0, logprob)))
    yes, no = by_verdict[True], by_verdict[False]
    if not yes or not no:
        return min(1.0, yes) if yes else max(0.0, 1.0 - no) if no else None
    return yes / (yes + no)


def completion_tokens(task: JudgeTask) -> int:
    """Return the room that a reply needs."""
    return LIMIT + 24


def schema(task: JudgeTask) -> dict[str, Any]:
    """Return the JSON schema of a reply, the verdict first."""
    return object_schema(sufficient={"type": "boolean"}, missing={"type": "string"})


def _verdict(tokens: Sequence[Token]) -> Token | None:
    begun = _BEFORE_VERDICT.search("".join(token.text for token in tokens))
    if begun is None:
        return None
    end = 0
    for token in tokens:
        end += len(token.text)
        if end > begun.end():
            return token
    return None


def _says(text: str) -> bool | None:
    """Return the verdict that a token spells or begins, None for neither."""
    word = text.strip(' \t\r\n":,').lower()
    if len(word) < 1:
        return None
    return True if "true".startswith(word) else False if "false".startswith(word) else None
