"""One definition of cost, for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import add, attrgetter, sub

from ..data.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Cost:
    """What operations spend.

    Attributes:
        prompt_tokens: tokens read by the generator, in its own unit.
        completion_tokens: tokens written by the generator, in its own unit.
        generator_calls: calls of the generator.
        evaluator_calls: calls of an evidence evaluator.
        retrievals: searches of the corpus.
        external_searches: searches elsewhere.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    generator_calls: int = 0
    evaluator_calls: int = 0
    retrievals: int = 0
    external_searches: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*map(add, _PARTS(self), _PARTS(other)))

    def __sub__(self, other: Cost) -> Cost:
        return Cost(*map(sub, _PARTS(self), _PARTS(other)))

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def as_dict(self) -> dict[str, int]:
        """Return the parts by name."""
        return {name: getattr(self, name) for name in COST_NAMES}


COST_NAMES: tuple[str, ...] = tuple(f.name for f in fields(Cost))
_PARTS: Callable[[Cost], tuple[int, ...]] = attrgetter(*COST_NAMES)

Ledger = tuple[tuple[str, Cost], ...]


def charge(ledger: Ledger, operation: str, cost: Cost) -> Ledger:
    """Return the ledger with ``cost`` added to ``operation``; operations stand in the order of their first cost."""
    if any(name == operation for name, _ in ledger):
        return tuple((name, spent + cost if name == operation else spent) for name, spent in ledger)
    return (*ledger, (operation, cost))


def total(ledger: Ledger) -> Cost:
    """Return the sum over operations."""
    return sum((cost for _, cost in ledger), Cost())


_TOKENS_IN_A_UNIT = {"prompt_tokens": 1000.0, "completion_tokens": 1000.0}


def weighted_cost(cost: Cost, weights: Mapping[str, float]) -> float:
    """Return sum of w_k * cost_k, tokens counted in thousands."""
    return weighted_parts(cost.as_dict(), weights)


def weighted_parts(cost: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the same of costs by kind, which may be means; a kind that is not named costs 0."""
    return sum(w * cost.get(kind, 0.0) / _TOKENS_IN_A_UNIT.get(kind, 1.0) for kind, w in weights.items())


def check_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return a copy of ``weights``.

    Raises:
        ConfigError: if a kind of cost is unknown.
    """
    unknown = sorted(set(weights) - set(COST_NAMES))
    if unknown:
        raise ConfigError(f"unknown kind of cost {', '.join(unknown)}; kinds: {', '.join(COST_NAMES)}")
    return dict(weights)
