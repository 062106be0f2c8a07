"""Typed access to the fields of a raw record; a field that does not fit is a ``DataError`` that says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from .errors import DataError

Raw = Mapping[str, Any]
T = TypeVar("T", str, int, bool, list[Any], dict[str, Any])

_KINDS = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


def shown(value: object, width: int = 60) -> str:
    """Return a value as it can stand in a message, cut to ``width`` characters."""
    text = repr(value)
    return text if len(text) <= width else text[:width] + "..."


def typed(value: object, kind: type[T], where: str) -> T:
    """Return ``value`` if it has the type, else raise ``DataError`` naming ``where``."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise DataError(f"{where} must be {_KINDS[kind]}, found {shown(value)}")
    return value


def required(raw: Raw, key: str, kind: type[T], where: str = "") -> T:
    """Return a field that must be there."""
    if key not in raw:
        raise DataError(f"{where}{key!r} is missing; found the fields {names(raw)}")
    return typed(raw[key], kind, f"{where}{key!r}")


def optional(raw: Raw, key: str, default: T, where: str = "") -> T:
    """Return a field, or ``default`` where it is absent or null."""
    value = raw.get(key)
    return default if value is None else typed(value, type(default), f"{where}{key!r}")


def texts(value: object, where: str) -> tuple[str, ...]:
    """Return a list of strings as a tuple."""
    return tuple(typed(text, str, f"{where}[{i}]") for i, text in enumerate(typed(value, list, where)))


def names(raw: Raw) -> str:
    """Return the names of a record's fields, as they can stand in a message."""
    return ", ".join(map(str, raw)) or "(none)"


def question_text(raw: Raw) -> str:
    """Return the question of a raw record; an empty one is refused."""
    text = required(raw, "question", str)
    if not text.strip():
        raise DataError("'question' is empty")
    return text


def id_text(raw: Raw) -> str:
    """Return the ``id`` of a raw record as text; it may be written as a whole number."""
    found = raw.get("id")
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else required(raw, "id", str)


def require_format(raw: Raw, dataset: str, needed: Sequence[str], foreign: Sequence[str] = ()) -> None:
    """Refuse a record of another data set.

    Args:
        raw: the record.
        dataset: the name of the data set that it should belong to.
        needed: fields that it must have.
        foreign: fields that only other data sets have.

    Raises:
        DataError: naming the fields expected and found, and the data set that the record looks like.
    """
    missing = [key for key in needed if key not in raw]
    odd = [key for key in foreign if key in raw]
    if missing or odd:
        faults = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has {', '.join(odd)}"] * bool(odd)
        guess = _looks_like(raw)
        hint = f"; this looks like a record of {guess!r}: name that data set" if guess not in ("", dataset) else ""
        raise DataError(
            f"expected a record of {dataset!r} with the fields {', '.join(needed)}; this one {' and '.join(faults)} "
            f"(its fields: {names(raw)}){hint}"
        )


def _looks_like(raw: Raw) -> str:
    if "paragraphs" in raw:
        return "musique"
    if "context" in raw:
        return "2wikimultihopqa" if "evidences" in raw else "hotpotqa"
    return ""
