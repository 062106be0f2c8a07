"""Passages as the files of Self-RAG and CRAG hold them: ``ctxs``, a list of objects."""

from __future__ import annotations

from . import fields
from .fields import Raw
from .records import Passage
from .text import split_sentences


def contexts(raw: Raw) -> tuple[Passage, ...]:
    """Return the passages of ``ctxs``, objects with ``title`` and ``text``, in their order; none without the field.

    Raises:
        DataError: if one is malformed; the message gives its place.
    """
    return tuple(_passage(value, f"'ctxs'[{place}]") for place, value in enumerate(fields.optional(raw, "ctxs", [])))


def _passage(value: object, where: str) -> Passage:
    raw = fields.typed(value, dict, where)
    text = fields.required(raw, "text", str, f"{where} ")
    return Passage.of(fields.required(raw, "title", str, f"{where} "), split_sentences(" ".join(text.split())))
