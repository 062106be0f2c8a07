"""The one attempt at repair: the model sees its reply and what was wrong with it."""

from __future__ import annotations

import re

from .errors import ParseError
from .quoting import quoted
from .template import Messages, prompt

MAX_REPLY = 1_500
"""Characters of the faulty reply that are sent back at most."""
_CONTROL = re.compile(r"<|\[/?[A-Z]")


def render(messages: Messages, reply: str, error: ParseError) -> Messages:
    """Return the messages with the faulty reply, quoted where it could end its turn, and the error after them."""
    return [
        *messages,
        {"role": "assistant", "content": _harmless(reply)},
        *prompt("repair").messages(error=_harmless(str(error))),
    ]


def _harmless(text: str) -> str:
    """Return the beginning of a text: as it is if it can end no turn, else quoted; servers refuse an empty one."""
    short = text.strip()[:MAX_REPLY].encode("utf-8", "replace").decode("utf-8")
    if not short:
        return "(empty)"
    return quoted(short) if _CONTROL.search(short) else short
