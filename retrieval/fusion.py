"""Merging several rankings of one query into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..data.records import Passage
from .base import Hit

RRF_CONSTANT = 60.0
"""k of reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

Fusion = Callable[[Sequence[Sequence[Hit]], Sequence[float], int], list[Hit]]


def reciprocal_rank(rankings: Sequence[Sequence[Hit]], weights: Sequence[float], k: int) -> list[Hit]:
    """Return the best ``k`` by the weighted sum of 1 / (60 + rank from 1), ties by passage id."""
    return _summed(rankings, weights, k, lambda hit, hits: 1.0 / (RRF_CONSTANT + hit.rank + 1))


def weighted(rankings: Sequence[Sequence[Hit]], weights: Sequence[float], k: int) -> list[Hit]:
    """Return the best ``k`` by the weighted sum of scores, each ranking's scaled to [0, 1], ties by passage id.

    The lowest score of a ranking counts 0, as does a passage that it does not hold; in a ranking whose scores are all
    equal each counts 1.
    """
    return _summed(rankings, weights, k, _scaled)


FUSIONS: dict[str, Fusion] = {"rrf": reciprocal_rank, "weighted": weighted}


def _scaled(hit: Hit, hits: Sequence[Hit]) -> float:
    best, least = hits[0].score, hits[-1].score
    return (hit.score - least) / (best - least) if best > least else 1.0


def _summed(
    rankings: Sequence[Sequence[Hit]],
    weights: Sequence[float],
    k: int,
    worth: Callable[[Hit, Sequence[Hit]], float],
) -> list[Hit]:
    total: dict[Passage, float] = {}
    for hits, weight in zip(rankings, weights, strict=True):
        for hit in hits:
            total[hit.passage] = total.get(hit.passage, 0.0) + weight * worth(hit, hits)
    ordered = sorted(total.items(), key=lambda item: (-item[1], item[0].id))[:k]
    return [Hit(passage, score, rank) for rank, (passage, score) in enumerate(ordered)]
