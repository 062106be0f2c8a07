"""Candidates for the next search: which entity, and what to ask about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..data.records import Passage
from .asked import SHAPE, Asked, Weighed
from .mentions import Entity, Mentions

PROPOSAL_FEATURES = (
    "asks_uncovered",
    "mentioned_by",
    "mentions",
    "mention_share",
    "mention_trust",
    "mention_trusted_share",
    "mention_place",
    "mention_sentence",
    "asked",
    "held_title_trust",
    "titles",
    "weight",
    "terms",
    "is_number",
    "overlap",
    "uncovered",
    "uncovered_terms",
    "searches",
    "held",
    "trusted",
    "least_trust",
    *SHAPE,
)
"""Names of a row, in order."""


class Candidate(NamedTuple):
    """A search that could be made.

    Attributes:
        entity: the name that it is about.
        query: the words to search for.
        row: its features.
    """

    entity: str
    query: str
    row: list[float]


def candidates(
    asked: Asked,
    known: Mentions,
    held: Sequence[Passage],
    trust: Sequence[float],
    queries: Sequence[str],
    titles: Callable[[str], int],
) -> Iterator[Candidate]:
    """Yield the searches about the entities that have not been made: with the question, and with what is uncovered.

    Args:
        asked: the question.
        known: what the held passages mention.
        held: the passages held.
        trust: their scores.
        queries: the searches made.
        titles: how many passages of the corpus are about a name.
    """
    made = frozenset(queries)
    uncovered = asked.rest(known.covered)
    missing = 1.0 - asked.share(known.covered)
    state = [missing, len(uncovered), len(queries), len(held), sum(trust), min(trust, default=0.0), *asked.shape]
    for entity in known.entities.values():
        own = asked.weighed(entity.name)
        if not own.terms:
            continue
        row = _entity_row(entity, own, titles(entity.name))
        rest = [term for term in uncovered if term not in own.terms]
        for form, query in enumerate((f"{entity.name} {asked.text}", " ".join([entity.name, *rest]))):
            if query not in made:
                yield Candidate(entity.name, query, [form, *row, *state])


def _entity_row(entity: Entity, own: Weighed, titles: int) -> list[float]:
    return [
        entity.passages,
        entity.times,
        entity.share,
        entity.trust,
        entity.trusted_share,
        entity.place,
        entity.sentence,
        entity.asked,
        entity.titled,
        titles,
        own.weight,
        len(own.terms),
        entity.name.isdigit(),
        own.overlap,
    ]
