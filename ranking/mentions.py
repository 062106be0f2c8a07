"""The entities that held passages mention or are about, and what is still uncovered of the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..retrieval.asked import Asked, Mention, Sight
from ..retrieval.reading import subject_of


class Taken(NamedTuple):
    """A held passage.

    Attributes:
        id: its id.
        sight: what it shows of the question.
        mentions: how it mentions each of its names.
        score: the score that it had when it was taken, in [0, 1].
    """

    id: str
    sight: Sight
    mentions: Mapping[str, Mention]
    score: float


class Entity(NamedTuple):
    """A name, and how the held passages mention it.

    Attributes:
        name: as first written.
        passages: how many held passages mention it.
        times: how often.
        share: share of the question's weight in the best sentence that mentions it.
        trust: largest score of a passage that mentions it.
        trusted_share: largest product of a mentioning passage's score and its sentence's share.
        place: place of the first passage that mentions it.
        sentence: the first sentence of any that does.
        asked: whether the question holds the name.
        titled: score of the held passage that is about it, -1 where none is.
    """

    name: str
    passages: int = 0
    times: int = 0
    share: float = 0.0
    trust: float = 0.0
    trusted_share: float = 0.0
    place: int = 20
    sentence: int = 20
    asked: bool = False
    titled: float = -1.0


class Mentions(NamedTuple):
    """What a set of held passages says.

    Attributes:
        entities: by normalised name: those of the question first, then in order of arrival.
        covered: the question's terms in the passages, as bits.
    """

    entities: dict[str, Entity]
    covered: int


def asked_for(asked: Asked) -> Mentions:
    """Return the names of the question, which no held passage mentions yet."""
    return Mentions({key: Entity(name, asked=True) for key, name in asked.names.items()}, 0)


def with_passage(asked: Asked, known: Mentions, taken: Taken, place: int) -> Mentions:
    """Return what is mentioned once another passage is held.

    Args:
        asked: the question.
        known: what was mentioned before.
        taken: the passage.
        place: how many passages were held before it.
    """
    found = dict(known.entities)
    read, score = taken.sight.read, taken.score
    about = found.get(read.key) or Entity(subject_of(read.title), asked=read.subject in asked.spaced)
    found[read.key] = about._replace(titled=max(about.titled, score))
    for name, mention in taken.mentions.items():
        e = found.get(name) or Entity(mention.name, asked=asked.asks(name))
        found[name] = Entity(
            e.name,
            e.passages + 1,
            e.times + mention.times,
            max(e.share, mention.share),
            max(e.trust, score),
            max(e.trusted_share, score * mention.share),
            min(e.place, place),
            min(e.sentence, mention.first),
            e.asked,
            e.titled,
        )
    return Mentions(found, known.covered | taken.sight.terms)
