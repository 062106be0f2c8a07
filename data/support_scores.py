"""How much of the annotated supporting documents is held."""

from __future__ import annotations

from collections.abc import Iterable

from .records import Gold, Passage


def supports_total(gold: Gold) -> int:
    """Return the number of distinct supporting documents that are annotated."""
    return len(_wanted(gold))


def supports_held(gold: Gold, passages: Iterable[Passage]) -> int:
    """Return how many of the annotated supporting documents are among ``passages``.

    ``gold.match_support_by`` says what counts as the same document: the title exactly as annotated, or the passage id.
    Of several passages with one supporting title, any one will do, and they count once.
    """
    by_title = gold.match_support_by == "title"
    held = {passage.title if by_title else passage.id for passage in passages}
    return len(_wanted(gold) & held)


def support_recall(gold: Gold, passages: Iterable[Passage]) -> float:
    """Return the share in [0, 1] of the annotated supporting documents that are among ``passages``: SR(s).

    It is 1.0 where none is annotated: nothing is missing (MuSiQue-Full's unanswerable twins may have none). Leave such
    questions out of a mean with :func:`supports_total`.
    """
    total = supports_total(gold)
    return supports_held(gold, passages) / total if total else 1.0


def _wanted(gold: Gold) -> frozenset[str]:
    return frozenset(gold.support_titles if gold.match_support_by == "title" else gold.support_ids)
