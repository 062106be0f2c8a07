"""What MuSiQue's script reads of a gold file: the fields that are scored and no others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data import fields
from ..data.fields import Raw
from ..data.files import parse_items
from ..data.musique_scores import MuSiQueGold


@dataclass(frozen=True, slots=True)
class ParagraphGold:
    """The scored fields of a question; ``gold.support`` holds paragraph indices."""

    id: str
    gold: MuSiQueGold


def read_musique_gold(file: Path) -> list[ParagraphGold]:
    """Read ``id``, ``answer``, ``answer_aliases``, ``answerable`` and the supporting ``paragraphs``, by their ``idx``.

    Raises:
        DataError: if the file cannot be read, is empty, or a record lacks a field or is of another data set.
    """
    return parse_items(file, _gold)


def _gold(raw: Raw) -> ParagraphGold:
    fields.require_format(raw, "musique", ("id", "answer", "paragraphs"), foreign=("context",))
    aliases = fields.texts(fields.optional(raw, "answer_aliases", list[Any]()), "'answer_aliases'")
    answers = (fields.required(raw, "answer", str), *aliases)
    answerable = fields.optional(raw, "answerable", True)
    paragraphs = fields.required(raw, "paragraphs", list)
    indices = [_supporting_index(paragraph, f"'paragraphs'[{i}]") for i, paragraph in enumerate(paragraphs)]
    support = frozenset(index for index in indices if index is not None)
    return ParagraphGold(fields.required(raw, "id", str), MuSiQueGold(answers, support, answerable))


def _supporting_index(value: object, where: str) -> int | None:
    paragraph = fields.typed(value, dict, where)
    supports = fields.required(paragraph, "is_supporting", bool, f"{where} ")
    return fields.required(paragraph, "idx", int, f"{where} ") if supports else None
