"""2WikiMultiHopQA's records (Ho et al. 2020): HotpotQA's fields and ``evidences``, triples that lead to the answer."""

from __future__ import annotations

from . import fields, hotpotqa
from .errors import DataError
from .fields import Raw
from .records import Record

NAME = "2wikimultihopqa"


def parse(raw: Raw) -> Record:
    """Turn one element of an official 2WikiMultiHopQA file into a record.

    Sentence indices of supporting facts may be out of range, and a title may stand twice in a context. Records without
    an answer (the test set) may lack ``evidences``.

    Raises:
        DataError: if a field is missing or of another type, or the record is one of another data set.
    """
    needed = ("_id", "question", "context") + (("evidences",) if raw.get("answer") else ())
    fields.require_format(raw, NAME, needed, foreign=("paragraphs",))
    return hotpotqa.record(raw, evidences_of(raw))


def evidences_of(raw: Raw) -> tuple[tuple[str, str, str], ...]:
    """Return ``evidences``, a list of ``[subject, relation, object]``."""
    triples = fields.optional(raw, "evidences", [])
    return tuple(_triple(triple, f"'evidences'[{i}]") for i, triple in enumerate(triples))


def _triple(value: object, where: str) -> tuple[str, str, str]:
    if not isinstance(value, list) or len(value) != 3:
        raise DataError(f"{where} must be [subject, relation, object], found {fields.shown(value)}")
    subject, relation, obj = fields.texts(value, where)
    return subject, relation, obj
