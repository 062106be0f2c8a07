"""Candidates for the next search: which entity, and what to ask about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..retrieval.asked import SHAPE, Asked, Weighed
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


STATE_FEATURES = 6 + len(SHAPE)
"""How many of them, the last ones, are the same for all searches of a task."""


class Offers(NamedTuple):
    """The searches about the entities, made or not: with the question, and with what is uncovered.

    Attributes:
        searches: entity and query of each.
        rows: its features without the last ``STATE_FEATURES``.
    """

    searches: list[tuple[str, str]]
    rows: list[list[float]]


def offers(asked: Asked, known: Mentions, titles: Callable[[str], int]) -> Offers:
    """Return the searches that what is mentioned gives rise to.

    Args:
        asked: the question.
        known: what the held passages mention.
        titles: how many passages of the corpus are about a name.
    """
    uncovered = asked.rest(known.covered)
    made = Offers([], [])
    for entity in known.entities.values():
        own = asked.weighed(entity.name)
        if not own.terms:
            continue
        row = _entity_row(entity, own, titles(entity.name))
        rest = [term for term in uncovered if term not in own.terms]
        for form, query in enumerate((f"{entity.name} {asked.text}", " ".join([entity.name, *rest]))):
            made.searches.append((entity.name, query))
            made.rows.append([form, *row])
    return made


def state_row(asked: Asked, covered: int, trust: Sequence[float], queries: int) -> list[float]:
    """Return the last ``STATE_FEATURES`` features of each search.

    Args:
        asked: the question.
        covered: the question's terms in the held passages, as bits.
        trust: the scores of the held passages.
        queries: how many searches were made.
    """
    missing = 1.0 - asked.share(covered)
    return [missing, len(asked.rest(covered)), queries, len(trust), sum(trust), min(trust, default=0.0), *asked.shape]


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
