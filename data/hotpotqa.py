"""HotpotQA's records (Yang et al. 2018, v1.1): distractor and fullwiki, train, dev and test."""

from __future__ import annotations

from . import fields
from .errors import DataError
from .fields import Raw
from .records import Gold, Passage, Question, Record

NAME = "hotpotqa"


def parse(raw: Raw) -> Record:
    """Turn one element of an official HotpotQA file into a record.

    The fullwiki setting may lack supporting paragraphs in its context, and the test set has neither ``answer`` nor
    ``supporting_facts``: the gold then holds what there is.

    Raises:
        DataError: if a field is missing or of another type, or the record is one of another data set.
    """
    fields.require_format(raw, NAME, ("_id", "question", "context"), foreign=("evidences", "paragraphs"))
    return record(raw)


def record(raw: Raw, evidences: tuple[tuple[str, str, str], ...] = ()) -> Record:
    """Build a record from the fields that HotpotQA and 2WikiMultiHopQA share.

    Raises:
        DataError: if a field is missing or of another type.
    """
    context = context_of(raw)
    facts = facts_of(raw)
    titles = tuple(dict.fromkeys(title for title, _ in facts))
    answer = fields.optional(raw, "answer", "")
    gold = Gold(
        id=fields.required(raw, "_id", str),
        answers=(answer,) if answer else (),
        support_titles=titles,
        support_ids=tuple(dict.fromkeys(passage.id for passage in context if passage.title in titles)),
        match_support_by="title",
        supporting_facts=facts,
        evidences=evidences,
        type=fields.optional(raw, "type", ""),
        level=fields.optional(raw, "level", ""),
        hops=len(titles),
    )
    return Record(Question.of(fields.question_text(raw), context), gold, context)


def context_of(raw: Raw) -> tuple[Passage, ...]:
    """Return the passages of ``context``, a list of ``[title, [sentence, ...]]``; empty sentences are kept."""
    pairs = fields.required(raw, "context", list)
    return tuple(_passage(pair, f"'context'[{i}]") for i, pair in enumerate(pairs))


def facts_of(raw: Raw) -> tuple[tuple[str, int], ...]:
    """Return ``supporting_facts`` as annotated, a list of ``[title, sentence index]``; an index may be out of range."""
    pairs = fields.optional(raw, "supporting_facts", [])
    return tuple(_fact(pair, f"'supporting_facts'[{i}]") for i, pair in enumerate(pairs))


def _passage(pair: object, where: str) -> Passage:
    title, sentences = _pair(pair, where, "[title, [sentence, ...]]")
    return Passage.of(fields.typed(title, str, f"the title of {where}"), fields.texts(sentences, f"{where}[1]"))


def _fact(pair: object, where: str) -> tuple[str, int]:
    title, index = _pair(pair, where, "[title, sentence index]")
    return fields.typed(title, str, f"the title of {where}"), fields.typed(index, int, f"the index of {where}")


def _pair(value: object, where: str, form: str) -> tuple[object, object]:
    if not isinstance(value, list) or len(value) != 2:
        raise DataError(f"{where} must be {form}, found {fields.shown(value)}")
    return value[0], value[1]
