"""Retrieval that weighs what it finds by how far the type of its source is trusted (arXiv 2607.22584)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from ..data.errors import ConfigError
from ..data.records import content_hash
from .base import Hit, Retriever
from .bm25 import check_search
from .delegating import DelegatingRetriever
from .neighbours import Neighbour, Neighbourhood
from .prior_settings import PriorSettings
from .source_types import SourceTypes


class PriorRetriever(DelegatingRetriever):
    """Asks its base for ``expansion * k`` hits, weighs them, and keeps the best ``k``.

    score(q, d) = sim(q, d) * prior(type of d's source). ``sim`` is the base's score, shifted by the lowest score among
    the hits of the search where that is negative: clipping at 0 would tie what the base ranks, and change the order
    where all priors are equal. With smoothing the prior of a passage is
    (1 - eta) * prior + eta * mean of the priors of its k nearest neighbours, in one pass: from the unsmoothed priors.

    Where all hits of a search have one prior, the result is the base's for ``k``, its order included: on a corpus of
    one type of source only the scores change, by that factor. Passages found by title or name stay as they are.

    Args:
        base: the retriever whose hits are weighted.
        settings: the priors; ``enabled`` is not looked at.
        types: the type of source of each passage. A passage that is not among them has the type that its hit states,
            else the default of the types; a stated type without a prior gets the prior of the settings' default.
        neighbourhood: finds neighbours; None for the base itself. Not used without smoothing.

    Raises:
        ConfigError: if a type of source has no prior.
    """

    def __init__(
        self,
        base: Retriever,
        settings: PriorSettings,
        types: SourceTypes,
        neighbourhood: Neighbourhood | None = None,
    ) -> None:
        missing = sorted(set(types.occurring) - settings.priors.keys())
        if missing:
            raise ConfigError(
                f"no prior for the source types {', '.join(missing)}: add them to retrieval.priors.priors, "
                f"which has {', '.join(settings.priors)}"
            )
        super().__init__(base)
        self.settings = settings
        self.types = types
        self.neighbourhood = neighbourhood or Neighbourhood(base, settings.neighbours)
        served = {targeted: base.serving(targeted) for targeted in (False, True)}
        self._serving = {
            targeted: self if own is base else PriorRetriever(own, settings, types, self.neighbourhood)
            for targeted, own in served.items()
        }

    @property
    def fingerprint(self) -> str:
        """A hash of the base, the priors, every passage's type and, with smoothing, what finds neighbours."""
        smoothing = [self.neighbourhood.fingerprint] if self.settings.eta else []
        parts = self.base.fingerprint, self.settings.fingerprint, self.types.fingerprint
        return content_hash("priors", *parts, *smoothing)

    def serving(self, targeted: bool) -> Retriever:
        """Return what serves a kind of search: that of the base, weighted likewise."""
        return self._serving[targeted]

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query, best first, ties by passage id; ``source`` is their type.

        Args:
            queries: one text a search.
            k: at least 1.
            pools: as the base takes them.

        Raises:
            ConfigError: if ``k`` is below 1 or ``queries`` is one string.
        """
        check_search(queries, k)
        hits = self._typed(queries, k * self.settings.expansion, pools)
        priors = self._priors(hits, pools or [""] * len(queries))
        alike = [place for place, own in enumerate(priors) if len(set(own)) == 1]
        if alike:
            # What the base returns for k itself: approximate ones find others when they are asked for more.
            asked, held = [queries[i] for i in alike], None if pools is None else [pools[i] for i in alike]
            plain = self._typed(asked, k, held)
            for place, own, prior in zip(alike, plain, self._priors(plain, held or [""] * len(alike))):
                hits[place], priors[place] = own, prior
        return [_weighted(own, prior, k) for own, prior in zip(hits, priors)]

    def _typed(self, queries: Sequence[str], k: int, pools: Sequence[str] | None) -> list[list[Hit]]:
        """Return the base's hits with their types."""
        found = self.base.search(queries, k, pools)
        return [[hit._replace(source=self.types.of(hit.passage.id, hit.source)) for hit in hits] for hits in found]

    def _priors(self, typed: Sequence[Sequence[Hit]], pools: Sequence[str]) -> list[list[float]]:
        """Return the prior of each hit."""
        own = [[self.settings.of(hit.source) for hit in hits] for hits in typed]
        if not self.settings.eta:
            return own
        passages = [hit.passage for hits in typed for hit in hits]
        listed = [pool for hits, pool in zip(typed, pools) for _ in hits]
        near = iter(self.neighbourhood.of(passages, listed))
        return [[self._smoothed(prior, next(near)) for prior in priors] for priors in own]

    def _smoothed(self, prior: float, near: Sequence[Neighbour]) -> float:
        """Return a prior drawn to the mean of the neighbours'; exactly the same where theirs are equal to it."""
        if not near:
            return prior
        apart = fsum(self.settings.of(self.types.of(one.id, one.source)) - prior for one in near)
        return prior + self.settings.eta * apart / len(near)


def with_priors(
    retriever: Retriever, settings: PriorSettings, types: SourceTypes | None, neighbours: Retriever | None = None
) -> Retriever:
    """Return the retriever, weighted by source where the settings want it.

    Args:
        retriever: what searches.
        settings: the priors, and whether they are used.
        types: the type of source of each passage.
        neighbours: finds the neighbours of passages for smoothing, such as BM25 over the corpus; None: ``retriever``.

    Raises:
        ConfigError: if priors are wanted and no types are given, or a type has no prior.
    """
    if not settings.enabled:
        return retriever
    if types is None:
        raise ConfigError("retrieval.priors needs the source types of the corpus, and there are none for it")
    return PriorRetriever(retriever, settings, types, Neighbourhood(neighbours or retriever, settings.neighbours))


def _similarities(hits: Sequence[Hit]) -> list[float]:
    """Return the scores, none of them negative."""
    lowest = min((hit.score for hit in hits), default=0.0)
    return [hit.score - min(0.0, lowest) for hit in hits]


def _weighted(hits: Sequence[Hit], priors: Sequence[float], k: int) -> list[Hit]:
    """Return the best ``k`` by similarity times prior, ties by passage id; equal priors leave the order as it is."""
    scored = [hit._replace(score=sim * prior) for hit, sim, prior in zip(hits, _similarities(hits), priors)]
    # Rounding may tie products whose factors differ, so equal priors must not sort anew.
    if len(set(priors)) > 1:
        scored.sort(key=lambda hit: (-hit.score, hit.passage.id))
    return [hit._replace(rank=rank) for rank, hit in enumerate(scored[:k])]
