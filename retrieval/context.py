"""BM25 over each question's own context: one small closed pool a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..data.errors import ConfigError, DataError
from ..data.records import Passage, content_hash
from .base import Hit, Retriever
from .bm25 import BM25Retriever, check_search
from .bm25_settings import DEFAULT, BM25Settings
from .passages import corpus_digest, in_order

_KEPT = 2_000


class ContextRetriever(Retriever):
    """Searches nothing but the passages that came with a question.

    The formula is that of ``BM25Retriever``, its statistics those of the pool. A pool is indexed when it is first
    searched; the indices used last are kept.

    Args:
        pools: passages by question key; their order does not matter. A pool may be empty: nothing is found in it.
        k1: see ``BM25Settings``.
        b: see ``BM25Settings``.
        title_weight: see ``BM25Settings``.

    Raises:
        ConfigError: if a parameter is out of its range.
        DataError: if there is no pool at all.
    """

    def __init__(
        self,
        pools: Mapping[str, Sequence[Passage]],
        k1: float = DEFAULT.k1,
        b: float = DEFAULT.b,
        title_weight: int = DEFAULT.title_weight,
    ) -> None:
        if not pools:
            raise DataError("there are no contexts to search: expected passages for at least one question")
        self.settings = BM25Settings(k1, b, title_weight)
        self._pools = {key: tuple(passages) for key, passages in pools.items()}
        self._index = lru_cache(maxsize=_KEPT)(self._build)
        self._fingerprint = ""

    def __reduce__(self) -> Any:
        """Send the pools, not their indices, to another process."""
        settings = self.settings
        return ContextRetriever, (self._pools, settings.k1, settings.b, settings.title_weight)

    @property
    def fingerprint(self) -> str:
        """A hash of all pools, the parameters and the rules of ``tokens``."""
        if not self._fingerprint:
            parts = (f"{key} {corpus_digest(in_order(self._pools[key]))}" for key in sorted(self._pools))
            self._fingerprint = content_hash("contexts", self.settings.fingerprint, *parts)
        return self._fingerprint

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query from the pool named beside it, best first, ties by passage id.

        Args:
            queries: one text a search.
            k: at least 1.
            pools: one question key a query.

        Raises:
            ConfigError: if ``k`` is below 1, ``queries`` is one string, ``pools`` is missing or of another length, or
                there is no such pool.
        """
        check_search(queries, k)
        if pools is None or isinstance(pools, str) or len(pools) != len(queries):
            raise ConfigError(
                f"own contexts are searched by question key: expected {len(queries)} pools, found {pools!r}"
            )
        return [self._search(query, k, pool) for query, pool in zip(queries, pools)]

    def _search(self, query: str, k: int, pool: str) -> list[Hit]:
        index = self._index(pool)
        return index.search([query], k)[0] if index else []

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages of the pool with this title (case and spaces ignored), ordered by id.

        Raises:
            ConfigError: if there is no such pool.
        """
        index = self._index(pool)
        return index.titled(title) if index else ()

    def about(self, name: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages of the pool whose title is ``name``, brackets and a leading "the" left out.

        Raises:
            ConfigError: if there is no such pool.
        """
        index = self._index(pool)
        return index.about(name) if index else ()

    def rarity(self, term: str, pool: str = "") -> float:
        """Return the term's inverse document frequency in the pool over that of an unknown term.

        Raises:
            ConfigError: if there is no such pool.
        """
        index = self._index(pool)
        return index.rarity(term) if index else 1.0

    def _build(self, pool: str) -> BM25Retriever | None:
        if pool not in self._pools:
            raise ConfigError(
                f"there is no context for the question key {pool!r} among {len(self._pools)}: "
                "search a pooled corpus for questions that come without passages"
            )
        passages = self._pools[pool]
        settings = self.settings
        return BM25Retriever.build(passages, settings.k1, settings.b, settings.title_weight) if passages else None
