"""2WikiMultiHopQA's file of aliases (``id_aliases.json``), by which its script accepts other names of an entity."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..data import fields
from ..data.fields import Raw
from ..data.files import parse_items

Aliases = Mapping[str, frozenset[str]]


def read_aliases(file: Path) -> Aliases:
    """Return the aliases and demonyms of each Wikidata id.

    Raises:
        DataError: if the file cannot be read or a line is not an object with ``Q_id``, ``aliases`` and ``demonyms``.
    """
    return dict(parse_items(file, _entry))


def _entry(raw: Raw) -> tuple[str, frozenset[str]]:
    lists = [fields.texts(fields.required(raw, key, list), repr(key)) for key in ("aliases", "demonyms")]
    return fields.required(raw, "Q_id", str), frozenset(lists[0] + lists[1])
