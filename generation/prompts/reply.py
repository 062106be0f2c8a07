"""Reading a reply: one JSON object with exactly the keys asked for, each of its type, or an error."""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import ParseError

CHARACTERS_A_TOKEN = 4
"""How long a token is taken to be where only the text is known; about right for English."""
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)
_NAMES = {str: "a string", bool: "true or false", list: "a list", int: "a whole number", dict: "an object"}


def read_object(text: str, **keys: type) -> dict[str, Any]:
    """Return the JSON object that ``text`` consists of; white space or one Markdown fence may stand around it.

    Args:
        text: a model's reply.
        keys: the keys that the object must have, no more and no fewer, and their types.

    Raises:
        ParseError: if it is anything else; an object within other text, a key twice, NaN count as that, too.
    """
    whole = text.strip()
    if not whole:
        raise ParseError("expected a JSON object, found an empty reply")
    fenced = _FENCED.fullmatch(whole)
    try:
        value = json.loads(fenced[1] if fenced else whole, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"expected one JSON object and nothing else, found {_excerpt(whole)} ({_said(error)})"
        ) from None
    return check(value, "the reply", keys)


def check(value: Any, what: str, keys: dict[str, type]) -> dict[str, Any]:
    """Return ``value`` if it is an object with exactly these keys and types.

    Raises:
        ParseError: otherwise.
    """
    if not isinstance(value, dict):
        raise ParseError(f"{what} must be a JSON object, found {_excerpt(_dumped(value))}")
    if set(value) != set(keys):
        found = ", ".join(_excerpt(key) for key in value) or "none"
        raise ParseError(f"{what} must have the keys {', '.join(keys)}, found {found[:200]}")
    for key, kind in keys.items():
        if type(value[key]) is not kind:
            raise ParseError(f"{key} must be {_NAMES[kind]}, found {_excerpt(_dumped(value[key]))}")
    return value


def short_text(value: str, what: str, limit: int) -> str:
    """Return the text on one line.

    Raises:
        ParseError: if it has more than ``limit`` tokens, by its length.
    """
    text = " ".join(_encodable(value).split())
    if tokens_of(text) > limit:
        raise ParseError(f"{what} must have at most {limit} tokens, found about {tokens_of(text)}; be brief")
    return text


def tokens_of(text: str) -> int:
    """Return about how many tokens a text has, four characters each, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def object_schema(**keys: Any) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these keys."""
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "something nested deeply"


def _excerpt(text: str) -> str:
    """Return the beginning of a text on one line, quoted."""
    short = " ".join(_encodable(text).split())
    return json.dumps(short if len(short) <= 60 else short[:57] + "...", ensure_ascii=False)


def _encodable(text: str) -> str:
    """Return the text with lone surrogates, which JSON escapes can spell, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0][:120]
