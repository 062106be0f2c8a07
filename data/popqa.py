"""PopQA's questions on one fact each (Mallen et al. 2023), as published and with the passages that CRAG works on."""

from __future__ import annotations

import json
from pathlib import Path

from . import fields
from .contexts import contexts
from .delimited import parse_rows
from .errors import DataError
from .fields import Raw
from .files import parse_items, read_text
from .records import Gold, Question, Record

NAME = "popqa"
_ANSWERS = ("possible_answers", "answers")


def read(file: Path) -> list[Record]:
    """Read questions, in the order of the file, which may be gzip.

    Three forms are told apart by their content: the published table of tab-separated values; the same columns as JSON
    (lines or a list); and the JSON lines of Self-RAG, which CRAG works on, with ``answers`` and ``ctxs``.

    Raises:
        DataError: if the file cannot be read, holds no question, or one is malformed; the message gives file and line.
    """
    what = f"questions of {NAME!r}"
    if read_text(file).lstrip()[:1] in ("{", "["):
        return parse_items(file, parse, what)
    return parse_rows(file, parse, what)


def parse(raw: Raw) -> Record:
    """Turn one question into a record.

    ``type`` is the relation (``prop``, such as "occupation"). The title of the subject's article (``s_wiki_title``, the
    subject's name where there is none) is the supporting title, and passages of ``ctxs`` with exactly this title are
    the supporting ones, as CRAG labels them. The object comes first among the answers.

    Raises:
        DataError: if a field is missing or of another type.
    """
    fields.require_format(raw, NAME, ("id", "question", "prop"), foreign=("context", "paragraphs"))
    context = contexts(raw)
    title = fields.optional(raw, "s_wiki_title", "") or fields.optional(raw, "subj", "")
    gold = Gold(
        id=fields.id_text(raw),
        answers=_answers(raw),
        support_titles=(title,) if title else (),
        support_ids=tuple(dict.fromkeys(passage.id for passage in context if passage.title == title)),
        match_support_by="title",
        type=fields.required(raw, "prop", str),
        hops=1,
    )
    return Record(Question.of(fields.question_text(raw), context), gold, context)


def _answers(raw: Raw) -> tuple[str, ...]:
    key = next((key for key in _ANSWERS if key in raw), None)
    if key is None:
        raise DataError(f"{' or '.join(map(repr, _ANSWERS))} is missing; found the fields {fields.names(raw)}")
    listed = tuple(text for text in fields.texts(_decoded(raw[key], repr(key)), repr(key)) if text.strip())
    if not listed:
        raise DataError(f"{key!r} must hold at least one answer, found {fields.shown(raw[key])}")
    first = fields.optional(raw, "obj", "")
    return tuple(dict.fromkeys((first, *listed) if first in listed else listed))


def _decoded(value: object, where: str) -> object:
    """Return a list that may be written as JSON in a text, as in the published table."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} must be a JSON list of strings, found {fields.shown(value)} ({error})") from error
