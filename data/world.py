"""The synthetic world: an encyclopedia generated from a seed, and multi-hop questions about it with gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from .errors import ConfigError
from .records import Passage, Record, content_hash
from .world_articles import Articles
from .world_ground import Ground
from .world_mentions import Mentions
from .world_names import Names
from .world_questions import SPLITS, WEIGHTS, Questions
from .world_random import Permutation, mix
from .world_schema import KINDS, Entity, sizes


class World:
    """An encyclopedia of invented entities, and questions about it.

    Every article follows from (passages, seed, entity) alone, so memory does not grow with the size of the world, any
    article can be had without the others, and the same arguments give the same bytes.

    Args:
        passages: number of articles, from 300 to 1,000,000.
        seed: a whole number of any size.

    Raises:
        ConfigError: if ``passages`` is out of range.
    """

    def __init__(self, passages: int = 2000, seed: int = 0) -> None:
        self.size = passages
        self.seed = seed
        self._sizes = sizes(passages)
        key = int(content_hash("world", str(seed), str(passages)), 16)
        ground = Ground(self._sizes, key, Names(self._sizes, key))
        mentions = Mentions(ground)
        self._articles = Articles(ground, mentions)
        self._order = Permutation(passages, mix(key))
        self._read = lru_cache(maxsize=4096)(self._articles.of)
        self._questions = Questions(ground, mentions, self._read, f"world-{passages}-{seed}")
        self._mentions = mentions

    def __repr__(self) -> str:
        return f"World(passages={self.size}, seed={self.seed})"

    def __reduce__(self) -> tuple[type[World], tuple[int, int]]:
        return World, (self.size, self.seed)

    def __len__(self) -> int:
        return self.size

    def entities(self) -> Iterator[Entity]:
        """Yield every entity, in the order of the passages, kinds mixed."""
        return (self._entity(self._order(i)) for i in range(self.size))

    def passages(self) -> Iterator[Passage]:
        """Yield every article; nothing is kept."""
        return (self._articles.of(entity).passage for entity in self.entities())

    def passage_of(self, entity: Entity) -> Passage:
        """Return the article about an entity.

        Raises:
            ConfigError: if there is no such entity.
        """
        if not 0 <= entity.number < self._sizes.get(entity.kind, 0):
            raise ConfigError(f"expected an entity of this world ({self._sizes}), found {entity}")
        return self._read(entity).passage

    def names_of(self, entity: Entity) -> tuple[str, ...]:
        """Return an entity's name, then its alias if it has one."""
        return self._mentions.names(entity)

    def questions(self, n: int, split: str = "train", weights: Mapping[str, float] | None = None) -> Iterator[Record]:
        """Yield ``n`` different questions; the first ones are the same whatever ``n`` is.

        Support is matched by id. The context holds the gold passages and related ones, ten in all, in an order of
        chance. No entity named in a question of one split is named in a question of the other.

        Args:
            n: how many, at least 0.
            split: ``train`` or ``dev``.
            weights: share of each kind, see ``world_questions.WEIGHTS`` for the kinds; these unless given.

        Raises:
            ConfigError: if an argument is out of range, or the world has no more questions of a kind.
        """
        if split not in SPLITS or n < 0:
            raise ConfigError(f"expected n >= 0 and a split among {', '.join(SPLITS)}, found n={n}, split={split!r}")
        return self._questions.stream(n, split, WEIGHTS if weights is None else weights)

    def _entity(self, index: int) -> Entity:
        for kind in KINDS:
            if index < self._sizes[kind]:
                break
            index -= self._sizes[kind]
        return Entity(kind, index)
