"""The pool of passages that searches have found, for a ranker to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..data.text import name_spans
from ..ranking.tasks import FAR, Found, RankTask
from ..retrieval.base import Hit
from .state import EvidenceState

ASKED_DEPTH = 50
"""How many passages of the question's own ranking enter the pool."""
TARGETED_DEPTH = 20
"""How many of any other search."""


def subjects(state: EvidenceState) -> tuple[str, ...]:
    """Return the names whose passages a search brings along: those of the question and of the evidence."""
    return tuple(dict.fromkeys((*name_spans(state.question.text), *state.candidates)))


def pooled(found: Sequence[Found], hits: Iterable[Hit], asked: bool, gain: float) -> tuple[Found, ...]:
    """Return the pool with the hits of a search entered.

    Args:
        found: the pool before.
        hits: best first; those with score 0 came along by their titles.
        asked: whether the question itself was searched for.
        gain: what the search was predicted to bring, in [0, 1].
    """
    listed = list(hits)
    best = max((hit.score for hit in listed), default=0.0)
    pool = {item.passage: item for item in found}
    for hit in listed:
        item = pool.get(hit.passage) or Found(hit.passage)
        pool[hit.passage] = item if hit.score <= 0 else _seen(item, hit, hit.score / best, asked, gain)
    return tuple(pool.values())


def _seen(item: Found, hit: Hit, share: float, asked: bool, gain: float) -> Found:
    if asked:
        return replace(item, asked=max(item.asked, share), asked_rank=min(item.asked_rank, hit.rank, FAR))
    return replace(
        item,
        targeted=max(item.targeted, share),
        targeted_rank=min(item.targeted_rank, hit.rank, FAR),
        promise=max(item.promise, share * gain),
        searches=item.searches + 1,
    )


def rank_task(state: EvidenceState, found: tuple[Found, ...] | None = None, query: str = "") -> RankTask:
    """Return the request to rank the pool of a state, or another one after a further query."""
    trust = tuple([item.score for item in state.held])
    queries = state.queries if not query or query in state.queries else (*state.queries, query)
    pool = state.found if found is None else found
    return RankTask(state.question.text, state.question.key, state.passages, trust, pool, queries)


def chosen(found: Sequence[Found], scores: Sequence[float]) -> list[Hit]:
    """Return the pool in the order of the scores, ties by passage id."""
    order = sorted(range(len(found)), key=lambda place: (-scores[place], found[place].passage.id))
    return [Hit(found[place].passage, scores[place], rank) for rank, place in enumerate(order)]
