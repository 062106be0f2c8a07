"""Reading predictions that are nothing but an answer for each question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..data import fields
from ..data.errors import DataError
from ..data.fields import Raw
from ..data.files import parse_items, read_text

_KEYS = ("answer", "predicted_answer")


def read_answers(file: Path) -> dict[str, str]:
    """Read answers by question id: one object ``{id: answer}``, or JSON lines of ``id`` and ``answer``.

    A line, or an element of a list, may have ``predicted_answer`` instead of ``answer``; other keys of it are ignored.
    One object with the keys ``id`` and one of these is a line.

    Raises:
        DataError: if the file cannot be read, is neither, an answer is not a string, or an id stands twice; the message
            gives the file, and the line or the id.
    """
    text = read_text(file)
    try:
        found = _object(text)
        if found is not None:
            return {key: fields.typed(value, str, f"the answer of {key!r}") for key, value in found.items()}
    except DataError as error:
        raise DataError(str(error), file) from error
    answers: dict[str, str] = {}
    for key, answer in parse_items(file, _line, "predictions"):
        if key in answers:
            raise DataError(f"{key!r} is predicted twice; leave one of them out", file)
        answers[key] = answer
    return answers


def _object(text: str) -> dict[str, Any] | None:
    """Return the object of answers by id that a text is, None where it is something else."""
    try:
        value = json.loads(text, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    is_line = isinstance(value, dict) and "id" in value and any(key in value for key in _KEYS)
    return value if isinstance(value, dict) and not is_line else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise DataError(f"{twice!r} stands twice in one object; leave one of them out")
    return found


def _line(raw: Raw) -> tuple[str, str]:
    key = next((key for key in _KEYS if key in raw), _KEYS[0])
    return fields.id_text(raw), fields.required(raw, key, str)
