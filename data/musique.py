"""MuSiQue's records (Trivedi et al. 2022, v1.0): MuSiQue-Ans and MuSiQue-Full, train, dev and test."""

from __future__ import annotations

import re
from typing import Any

from . import fields
from .errors import DataError
from .fields import Raw
from .records import Gold, Hop, Passage, Question, Record
from .text import split_sentences

NAME = "musique"
_TYPE = re.compile(r"(\d+hop\d*)__")


def parse(raw: Raw) -> Record:
    """Turn one line of an official MuSiQue file into a record; support is matched by passage id.

    Paragraphs may share a title. A passage's place in the context is the paragraph's ``idx``, which predictions name.
    MuSiQue-Full's unanswerable twins (``answerable`` false) share their id with the answerable question, keep its
    answers, and lack some or all of the support. The test set has no gold but the id: the rest is empty.

    Raises:
        DataError: if a field is missing or of another type, a paragraph's ``idx`` is not its place in the list, a step
            points outside the paragraphs, or the record is one of another data set.
    """
    fields.require_format(raw, NAME, ("id", "question", "paragraphs"), foreign=("context",))
    paragraphs = fields.required(raw, "paragraphs", list)
    context, supporting = _context(paragraphs)
    steps = _decomposition(raw, context)
    record_id = fields.required(raw, "id", str)
    gold = Gold(
        id=record_id,
        answers=_answers(raw),
        support_titles=tuple(dict.fromkeys(passage.title for passage in supporting)),
        support_ids=tuple(dict.fromkeys(passage.id for passage in supporting)),
        match_support_by="id",
        type=_type(record_id),
        hops=len(steps),
        answerable=fields.optional(raw, "answerable", True),
        decomposition=steps,
    )
    return Record(Question.of(fields.question_text(raw), context), gold, context)


def _context(paragraphs: list[Any]) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
    """Return all passages, and those marked as supporting."""
    pairs = [_passage(paragraph, place) for place, paragraph in enumerate(paragraphs)]
    return tuple(passage for passage, _ in pairs), tuple(passage for passage, supports in pairs if supports)


def _passage(value: object, place: int) -> tuple[Passage, bool]:
    where = f"'paragraphs'[{place}]"
    paragraph = fields.typed(value, dict, where)
    index = fields.required(paragraph, "idx", int, f"{where} ")
    if index != place:
        raise DataError(f"{where} must have the idx {place}, its place in the list, found {index}")
    title = fields.required(paragraph, "title", str, f"{where} ")
    text = fields.required(paragraph, "paragraph_text", str, f"{where} ")
    return Passage.of(title, split_sentences(text)), fields.optional(paragraph, "is_supporting", False, f"{where} ")


def _answers(raw: Raw) -> tuple[str, ...]:
    """Return the answer and its aliases, without repetition; none where there is no answer."""
    answer = fields.optional(raw, "answer", "")
    aliases = fields.texts(fields.optional(raw, "answer_aliases", []), "'answer_aliases'")
    return tuple(dict.fromkeys(text for text in (answer, *aliases) if text))


def _decomposition(raw: Raw, context: tuple[Passage, ...]) -> tuple[Hop, ...]:
    steps = fields.optional(raw, "question_decomposition", [])
    return tuple(_hop(step, f"'question_decomposition'[{i}]", context) for i, step in enumerate(steps))


def _hop(value: object, where: str, context: tuple[Passage, ...]) -> Hop:
    step = fields.typed(value, dict, where)
    question = fields.required(step, "question", str, f"{where} ")
    answer = fields.optional(step, "answer", "", f"{where} ")
    index = fields.optional(step, "paragraph_support_idx", -1, f"{where} ")
    if index >= len(context) or (index < 0 and step.get("paragraph_support_idx") is not None):
        raise DataError(f"{where} points to paragraph {index}, but there are {len(context)} paragraphs")
    return Hop(question, answer, context[index].id if index >= 0 else None)


def _type(record_id: str) -> str:
    """Return the prefix of the id that spells the number and the shape of the hops, for example ``3hop1``."""
    match = _TYPE.match(record_id)
    return match.group(1) if match else ""
