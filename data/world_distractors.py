"""Distracting passages of the synthetic world, picked among what is related to the gold ones, without a search."""

from __future__ import annotations

from collections.abc import Iterator

from .world_articles import Article
from .world_ground import MAKERS, Ground
from .world_random import Draws
from .world_schema import Entity

PLACES = ("city", "lake", "mountain", "river")
_NEIGHBOURS = 12


class Distractors:
    """Finds entities that are easily taken for those asked about.

    Args:
        ground: finds entities that have something in common.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def of(self, gold: tuple[Article, ...], count: int, draws: Draws) -> list[Entity]:
        """Return ``count`` entities other than the gold ones: one for each gold article in turn."""
        taken = {article.entity for article in gold}
        found: list[Entity] = []
        streams = [self._related(article, draws) for article in gold]
        while len(found) < count:
            stream = streams[len(found) % len(streams)]
            entity = next(e for e in stream if e not in taken)
            taken.add(entity)
            found.append(entity)
        return found

    def _related(self, article: Article, draws: Draws) -> Iterator[Entity]:
        """Yield without end: the namesake, a sibling, what the article links to, others of its kind, then anything."""
        entity = article.entity
        twin = self._ground.names.twin(entity)
        if twin is not None:
            yield twin
        if entity.kind in MAKERS or entity.kind in PLACES:
            yield self._ground.sibling(entity, draws)
        yield self._ground.neighbour(entity, draws)
        links = [v for r, v in article.facts.items() if isinstance(v, Entity) and r in article.sentence_of]
        yield from draws.shuffled(links)
        for _ in range(_NEIGHBOURS):
            yield self._ground.neighbour(entity, draws)
        while True:
            yield self._ground.any_of(draws.pick(("person", "film")), draws)
