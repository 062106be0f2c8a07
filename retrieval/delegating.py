"""A retriever around another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from .base import Hit, Retriever


class DelegatingRetriever(Retriever):
    """Does what its base does; subclasses change a part of it.

    Args:
        base: the retriever around which it stands.
    """

    def __init__(self, base: Retriever) -> None:
        self.base = base
        self.concurrency, self.max_batch = base.concurrency, base.max_batch

    @property
    def fingerprint(self) -> str:
        """That of the base."""
        return self.base.fingerprint

    @property
    def encoder(self) -> str:
        """That of the base."""
        return self.base.encoder

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return the base's hits."""
        return self.base.search(queries, k, pools)

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages with this title."""
        return self.base.titled(title, pool)

    def about(self, name: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages about a name."""
        return self.base.about(name, pool)

    def rarity(self, term: str, pool: str = "") -> float:
        """Return how rare a term is."""
        return self.base.rarity(term, pool)

    def vectors(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return the unit vectors of passages."""
        return self.base.vectors(passages)

    def vector(self, query: str) -> NDArray[np.float32]:
        """Return the unit vector of a query."""
        return self.base.vector(query)
