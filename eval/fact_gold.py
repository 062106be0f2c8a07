"""What the scripts of HotpotQA and 2WikiMultiHopQA read of a gold file: the fields that are scored and no others."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..data import fields
from ..data.errors import DataError
from ..data.fields import Raw
from ..data.files import parse_items
from ..data.hotpotqa import facts_of
from ..data.hotpotqa_scores import Fact
from ..data.twowiki import evidences_of
from ..data.twowiki_scores import Triple
from .aliases import Aliases


@dataclass(frozen=True, slots=True)
class FactGold:
    """The scored fields of a question: its answer and aliases, its facts, and each triple in all its phrasings."""

    id: str
    answers: tuple[str, ...]
    facts: tuple[Fact, ...]
    evidences: tuple[frozenset[Triple], ...] = ()

    @property
    def has_aliases(self) -> bool:
        """True if the answer or a triple has more than one form."""
        return len(self.answers) > 1 or any(len(phrasings) > 1 for phrasings in self.evidences)


def read_hotpotqa_gold(file: Path) -> list[FactGold]:
    """Read ``_id``, ``answer`` and ``supporting_facts``.

    Raises:
        DataError: if the file cannot be read, is empty, or a record lacks one of them or is of another data set.
    """
    return parse_items(file, _hotpotqa_gold)


def read_twowiki_gold(file: Path, aliases: Aliases | None = None) -> list[FactGold]:
    """Read the fields of HotpotQA and ``evidences``; with aliases also ``answer_id`` and ``evidences_id``.

    Raises:
        DataError: if the file cannot be read, is empty, or a record lacks a field or is of another data set; if no
            record has ids that the aliases know (files before v1.1 have none).
    """
    golds = parse_items(file, lambda raw: _twowiki_gold(raw, aliases or {}))
    if aliases is not None and not any(gold.has_aliases for gold in golds):
        raise DataError(
            "no alias applies: expected 'answer_id' and 'evidences_id' as in the v1.1 files; score without aliases",
            file,
        )
    return golds


def _hotpotqa_gold(raw: Raw) -> FactGold:
    fields.require_format(raw, "hotpotqa", ("_id", "answer", "supporting_facts"), foreign=("evidences", "paragraphs"))
    return FactGold(fields.required(raw, "_id", str), (fields.required(raw, "answer", str),), facts_of(raw))


def _twowiki_gold(raw: Raw, aliases: Aliases) -> FactGold:
    needed = ("_id", "answer", "supporting_facts", "evidences")
    fields.require_format(raw, "2wikimultihopqa", needed, foreign=("paragraphs",))
    others = aliases.get(fields.optional(raw, "answer_id", ""), frozenset())
    answers = (fields.required(raw, "answer", str), *sorted(others))
    return FactGold(fields.required(raw, "_id", str), answers, facts_of(raw), _phrasings(raw, aliases))


def _phrasings(raw: Raw, aliases: Aliases) -> tuple[frozenset[Triple], ...]:
    """Return each annotated triple under all the names of its subject and object."""
    triples = evidences_of(raw)
    entries = fields.optional(raw, "evidences_id", list[Any]())
    if not entries:
        return tuple(frozenset({triple}) for triple in triples)
    if len(entries) != len(triples):
        raise DataError(f"'evidences_id' must have an entry for each of {len(triples)} triples, found {len(entries)}")
    return tuple(_forms(triple, _ids(entry), aliases) for triple, entry in zip(triples, entries))


def _ids(entry: object) -> tuple[str, str, str]:
    ids = fields.texts(entry, "an entry of 'evidences_id'")
    if len(ids) != 3:
        raise DataError(f"an entry of 'evidences_id' must be [subject, relation, object], found {fields.shown(entry)}")
    return ids[0], ids[1], ids[2]


def _forms(triple: tuple[str, str, str], ids: tuple[str, str, str], aliases: Aliases) -> frozenset[Triple]:
    subject, relation, obj = triple
    subjects, objects = (aliases.get(key, frozenset()) | {name} for key, name in ((ids[0], subject), (ids[2], obj)))
    return frozenset((s, relation, o) for s, o in product(subjects, objects))
