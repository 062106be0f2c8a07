"""Templates of sentences, parsed once: what stands in their braces, and which relations each can state."""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import NamedTuple

from .world_schema import RELATIONS
from .world_sentences_groups import GROUPS
from .world_sentences_people import PEOPLE
from .world_sentences_places import PLACES
from .world_sentences_works import WORKS_WORDING


class Template(NamedTuple):
    """A sentence with gaps: its text, the gaps that relations fill (also as a set), and the other gaps."""

    text: str
    relations: tuple[str, ...]
    needs: frozenset[str]
    others: tuple[str, ...]


class Phrasebook(NamedTuple):
    """The templates for one kind of entity; ``stating`` finds those that state a relation."""

    openings: tuple[Template, ...]
    stating: dict[str, tuple[Template, ...]]
    aliases: tuple[Template, ...]
    fillers: tuple[Template, ...]
    lists: tuple[Template, ...]


def _parsed(kind: str, texts: Iterable[str]) -> tuple[Template, ...]:
    return tuple(_template(kind, text) for text in texts)


def _template(kind: str, text: str) -> Template:
    gaps = tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(text) if name))
    known = RELATIONS[kind]
    relations = tuple(g for g in gaps if g in known)
    return Template(text, relations, frozenset(relations), tuple(g for g in gaps if g not in known))


def _phrasebooks() -> dict[str, Phrasebook]:
    books = {}
    for kind, (openings, sentences, aliases, fillers, lists) in (PEOPLE | WORKS_WORDING | PLACES | GROUPS).items():
        parsed = _parsed(kind, sentences)
        stating = {r: tuple(t for t in parsed if r in t.relations) for r in RELATIONS[kind]}
        books[kind] = Phrasebook(
            _parsed(kind, openings),
            {r: found for r, found in stating.items() if found},
            _parsed(kind, aliases),
            _parsed(kind, fillers),
            _parsed(kind, lists),
        )
    return books


PHRASEBOOKS = _phrasebooks()
"""The phrasebook of each kind."""
