"""What a server sent back, read strictly: the reply's text, its tokens, and what it took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .prompts.judge import Token
from .tasks import Usage


class Completion(NamedTuple):
    """One reply.

    Attributes:
        text: what the model wrote; empty where it wrote nothing.
        cut: whether it was ended by the limit on its length.
        tokens: the tokens with their likeliest alternatives, where the server gave them.
    """

    text: str
    cut: bool
    tokens: tuple[Token, ...]


@dataclass
class Meter:
    """Sums up what the calls for one task took."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0

    @property
    def usage(self) -> Usage:
        """The sum; a task that was never served counts as one call."""
        return Usage(self.prompt_tokens, self.completion_tokens, max(1, self.calls))


def read_completion(body: bytes, meter: Meter) -> Completion:
    """Read the body of a chat completion, and enter what the server says it took in ``meter``, whatever else it says.

    Raises:
        ValueError: if it is no chat completion with a reply and its usage; the message says what it lacks.
    """
    meter.calls += 1
    try:
        found = json.loads(body.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    _enter(found.get("usage"), meter)
    choices = found.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise ValueError('it has no "choices" with a "message"')
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise ValueError('the "content" of its message is no text')
    return Completion(text or "", first.get("finish_reason") == "length", _tokens(first.get("logprobs")))


def _enter(usage: Any, meter: Meter) -> None:
    read = usage if isinstance(usage, dict) else {}
    counts = [read.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if any(type(count) is not int or count < 0 for count in counts):
        raise ValueError('it has no "usage" with prompt_tokens and completion_tokens, so its cost is unknown')
    meter.prompt_tokens += counts[0] or 0
    meter.completion_tokens += counts[1] or 0


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """Return the tokens; none where the server gave none, or in another form than documented."""
    try:
        return tuple(_token(item) for item in logprobs["content"])
    except (TypeError, KeyError, ValueError):
        return ()


def _token(item: Mapping[str, Any]) -> Token:
    others = {str(other["token"]): float(other["logprob"]) for other in item.get("top_logprobs") or ()}
    return Token(str(item["token"]), {**others, str(item["token"]): float(item["logprob"])})
