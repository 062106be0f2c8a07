"""Questions about the synthetic world, each with its gold and with passages that distract from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .errors import ConfigError
from .records import Question, Record
from .world_articles import Article
from .world_chains import STARTS, Chains
from .world_distractors import Distractors
from .world_drafts import Draft
from .world_ground import Ground
from .world_mentions import Mentions
from .world_pairs import Pairs
from .world_random import Draws, mix
from .world_schema import KIND_NUMBER, Entity

SPLITS = ("train", "dev")
WEIGHTS: dict[str, float] = {
    "bridge": 0.30,
    "compositional": 0.18,
    "compositional4": 0.10,
    "comparison": 0.16,
    "bridge_comparison": 0.18,
    "unanswerable": 0.08,
}
"""Kinds of questions with the shares that they have unless others are asked for."""

_CONTEXT = 10
_HOPS = {"bridge": 2, "compositional": 3, "compositional4": 4}
_MAX_TRIES = 5_000
_DEV_ONE_IN = 5
_START_TABLE = tuple(kind for kind, weight in STARTS.items() for _ in range(weight))
_UNIT = 1 << 32


class Questions:
    """Draws up questions.

    Args:
        ground: what facts rest on.
        mentions: how entities are referred to.
        read: gives an entity's article.
        label: what the ids of questions start with.
    """

    def __init__(self, ground: Ground, mentions: Mentions, read: Callable[[Entity], Article], label: str) -> None:
        self._ground = ground
        self._read = read
        self._label = label
        self._seed = mix(ground.seed ^ 0x9E5)
        self._chains = Chains(read, mentions, ground, lambda a, b: self.split_of(a) == self.split_of(b))
        self._pairs = Pairs(read, mentions, ground)
        self._distractors = Distractors(ground)

    def stream(self, n: int, split: str, weights: Mapping[str, float]) -> Iterator[Record]:
        """Return ``n`` records; the first ones are the same whatever ``n`` is."""
        return self._stream(n, split, _cumulated(weights))

    def _stream(self, n: int, split: str, table: list[tuple[str, float]]) -> Iterator[Record]:
        known: set[tuple[object, ...]] = set()
        for number in range(n):
            point = Draws(self._seed, SPLITS.index(split), number).below(_UNIT) / _UNIT
            kind = next(kind for kind, bound in table if point < bound)
            draft, draws = self._draft(kind, split, number, known)
            known.add(draft.key)
            yield self._record(draft, f"{self._label}-{split}-{number}-{kind}", kind, draws)

    def _draft(self, kind: str, split: str, number: int, known: set[tuple[object, ...]]) -> tuple[Draft, Draws]:
        for attempt in range(_MAX_TRIES):
            draws = Draws(self._seed, SPLITS.index(split), number, attempt)
            draft = self._try(kind, split, draws)
            if draft is not None and draft.key not in known:
                return draft, draws
        raise ConfigError(
            f"expected to find question {number + 1} of the {split} split, but this world has hardly any {kind!r} "
            "question left that was not yet asked; ask for fewer questions or make a world of more passages"
        )

    def _try(self, kind: str, split: str, draws: Draws) -> Draft | None:
        def allowed(entity: Entity) -> bool:
            return self.split_of(entity) == split

        if kind == "comparison":
            return self._pairs.draft(allowed, draws)
        if kind == "bridge_comparison":
            return self._pairs.draft_bridge(allowed, draws)
        start = self._ground.any_of(draws.pick(_START_TABLE), draws)
        if not allowed(start):
            return None
        if kind == "unanswerable":
            return self._chains.draft_unanswerable(start, draws)
        return self._chains.draft(start, _HOPS[kind], draws)

    def split_of(self, entity: Entity) -> str:
        """Return the split whose questions may name this entity: ``dev`` for one in five."""
        hashed = mix(self._seed ^ mix(KIND_NUMBER[entity.kind] << 32 | entity.number))
        return SPLITS[hashed % _DEV_ONE_IN == 0]

    def _record(self, draft: Draft, identifier: str, kind: str, draws: Draws) -> Record:
        gold = draft.articles
        others = self._distractors.of(gold, _CONTEXT - len(gold), draws)
        passages = [article.passage for article in (*gold, *map(self._read, others))]
        return Record(Question.of(draft.text), draft.gold(identifier, kind), tuple(draws.shuffled(passages)))


def _cumulated(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    unknown = [kind for kind in weights if kind not in WEIGHTS]
    total = sum(weights.values())
    if unknown or total <= 0 or min(weights.values()) < 0:
        raise ConfigError(
            f"expected weights of at least 0, not all 0, for kinds among {', '.join(WEIGHTS)}; found {dict(weights)}"
        )
    bounds, reached = [], 0.0
    for kind, weight in weights.items():
        reached += weight / total
        bounds.append((kind, reached))
    positive = [(kind, bound) for kind, bound in bounds if weights[kind] > 0]
    return [*positive[:-1], (positive[-1][0], 2.0)]
