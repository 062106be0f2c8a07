"""Learning the priors of source types from training questions, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..data.adversarial import gold_passages
from ..data.errors import ConfigError
from ..data.records import Record
from ..retrieval.base import Hit, Retriever
from ..retrieval.neighbours import Neighbourhood
from ..retrieval.prior_settings import PriorSettings
from ..retrieval.priors import PriorRetriever
from ..retrieval.source_types import SourceTypes

LOW, HIGH = 0.05, 0.99
"""Bounds of a learned prior."""
RATE = 0.02


def learn_priors(
    retriever: Retriever,
    types: SourceTypes,
    records: Iterable[Record],
    settings: PriorSettings,
    rate: float = RATE,
    k: int = 5,
    neighbourhood: Neighbourhood | None = None,
) -> PriorSettings:
    """Return the settings with priors learned from training questions; they are frozen from then on.

    Question by question, in the order of their ids, the best ``k`` passages are found under the priors so far. Each
    type t among them gets prior_t <- clip((1 - rate) * prior_t + rate * share of t's passages that are gold, .05, .99),
    an exponential moving average. Types that are never found keep their priors.

    Args:
        retriever: the base, unweighted.
        types: the type of source of each passage.
        records: training questions with gold and their own passages; those without gold passages are left out.
        settings: the priors to begin with, and the smoothing.
        rate: weight of one question, above 0 and at most 1.
        k: how many passages a question gives feedback on, at least 1.
        neighbourhood: as in ``PriorRetriever``.

    Raises:
        ConfigError: if ``rate`` or ``k`` is out of range, or a type has no prior.
    """
    if not 0 < rate <= 1:
        raise ConfigError(f"the rate of learning priors must be above 0 and at most 1, found {rate}")
    near = neighbourhood or Neighbourhood(retriever, settings.neighbours)
    for record in sorted(records, key=lambda record: record.uid):
        gold = {passage.id for passage in gold_passages(record)}
        if gold:
            weighted = PriorRetriever(retriever, settings, types, near)
            [hits] = weighted.search([record.question.text], k, [record.question.key])
            settings = replace(settings, priors=updated(settings, hits, gold, rate))
    return settings


def updated(settings: PriorSettings, hits: Sequence[Hit], gold: set[str], rate: float) -> dict[str, float]:
    """Return the priors after the feedback of one question."""
    found: dict[str, list[bool]] = {}
    for hit in hits:
        kind = hit.source if hit.source in settings.priors else settings.default
        found.setdefault(kind, []).append(hit.passage.id in gold)
    priors = dict(settings.priors)
    for kind, right in found.items():
        moved = (1 - rate) * priors[kind] + rate * sum(right) / len(right)
        priors[kind] = min(HIGH, max(LOW, moved))
    return priors
