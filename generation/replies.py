"""From a model's reply to the result of a task."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .completion import Completion
from .prompts.by_task import TaskPrompt
from .prompts.errors import ParseError
from .prompts.judge import verdict_probability
from .tasks import Judgement


def read_reply(completion: Completion, task: Any, prompt: TaskPrompt) -> Any:
    """Return the result, a judgement with the probability of its token where the tokens are known.

    Raises:
        ParseError: if the reply is not what was asked for.
    """
    try:
        made = prompt.parse(completion.text, task)
    except ParseError as error:
        if not completion.cut:
            raise
        raise ParseError(f"{error}; the reply was cut off at its limit: be brief") from None
    if isinstance(made, Judgement):
        probability = verdict_probability(completion.tokens)
        return made if probability is None else replace(made, probability=probability)
    return made


def read_repaired(completion: Completion, task: Any, prompt: TaskPrompt) -> Any:
    """Return the result of the reply to the attempt at repair.

    Raises:
        ParseError: if it is not what was asked for, either; the message says that it was the second one.
    """
    try:
        return read_reply(completion, task, prompt)
    except ParseError as error:
        raise ParseError(f"{error}; that was after an attempt at repair") from None
