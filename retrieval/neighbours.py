"""The passages nearest to a passage: what a retriever finds for its own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..data.records import Passage, content_hash
from .base import Hit, Retriever

_KEPT = 200_000


class Neighbour(NamedTuple):
    """A neighbour's id, and the type of source that its hit states."""

    id: str
    source: str


class Neighbourhood:
    """Finds neighbours, and keeps those found.

    Args:
        retriever: searched with a passage's title and text; BM25 makes neighbours of passages that share rare words.
        k: how many neighbours, at least 1; a passage is no neighbour of its own.
    """

    def __init__(self, retriever: Retriever, k: int) -> None:
        self.retriever = retriever
        self.k = k
        self._found: dict[tuple[str, str], tuple[Neighbour, ...]] = {}

    def __reduce__(self) -> Any:
        """Send no neighbours to another process."""
        return Neighbourhood, (self.retriever, self.k)

    @property
    def fingerprint(self) -> str:
        """A hash of the retriever and the number of neighbours."""
        return content_hash("neighbours", self.retriever.fingerprint, str(self.k))

    def of(self, passages: Sequence[Passage], pools: Sequence[str]) -> list[tuple[Neighbour, ...]]:
        """Return the neighbours of each passage, nearest first.

        Args:
            passages: whose neighbours.
            pools: one question key a passage, as in ``Retriever.search``.
        """
        keys = [(pool, passage.id) for passage, pool in zip(passages, pools, strict=True)]
        known = self._found if len(self._found) + len(keys) <= _KEPT else {}
        made = self._searched({key: passage for key, passage in zip(keys, passages) if key not in known})
        # Threads may write at the same time; each only adds to what it has read.
        known |= made
        self._found = known
        return [known[key] for key in keys]

    def _searched(self, wanted: dict[tuple[str, str], Passage]) -> dict[tuple[str, str], tuple[Neighbour, ...]]:
        keys = list(wanted)
        size = self.retriever.max_batch or max(1, len(keys))
        found: list[list[Hit]] = []
        for first in range(0, len(keys), size):
            batch = keys[first : first + size]
            texts = [f"{wanted[key].title} {wanted[key].text}" for key in batch]
            found += self.retriever.search(texts, self.k + 1, [pool for pool, _ in batch])
        return {key: self._others(key[1], hits) for key, hits in zip(keys, found, strict=True)}

    def _others(self, own: str, hits: Sequence[Hit]) -> tuple[Neighbour, ...]:
        others = [Neighbour(hit.passage.id, hit.source) for hit in hits if hit.passage.id != own]
        return tuple(others[: self.k])
