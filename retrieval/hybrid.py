"""Several retrievers over one corpus, their rankings fused."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.errors import ConfigError
from ..data.records import content_hash
from .base import Hit, Retriever
from .bm25 import check_search
from .delegating import DelegatingRetriever
from .fusion import FUSIONS


class HybridRetriever(DelegatingRetriever):
    """Asks each of its parts and fuses what they return.

    Args:
        parts: at least two retrievers over the same corpus; the first knows titles, rarities and vectors.
        fusion: rrf (reciprocal ranks) or weighted (scaled scores); see ``fusion``.
        weights: of each part, positive; None for equal ones.
        depth: how deep each part is asked, at least; a search for more asks for as many.

    Raises:
        ConfigError: if there are fewer than two parts, no such fusion, not a positive weight for each part, or the
            depth is below 1.
    """

    def __init__(
        self,
        parts: Sequence[Retriever],
        fusion: str = "rrf",
        weights: Sequence[float] | None = None,
        depth: int = 100,
    ) -> None:
        if len(parts) < 2:
            raise ConfigError(f"a hybrid retriever fuses at least two others, found {len(parts)}")
        if fusion not in FUSIONS:
            raise ConfigError(f"unknown fusion {fusion!r}; there are: {', '.join(FUSIONS)}")
        given = tuple(float(weight) for weight in (weights or [1.0] * len(parts)))
        if len(given) != len(parts) or min(given) <= 0:
            raise ConfigError(f"expected {len(parts)} positive weights, one for each retriever, found {given}")
        if depth < 1:
            raise ConfigError(f"depth must be at least 1, found {depth}")
        super().__init__(parts[0])
        self.parts = tuple(parts)
        self.fusion = fusion
        self.weights = given
        self.depth = depth
        self.concurrency = max(part.concurrency for part in parts)
        self.max_batch = min((part.max_batch for part in parts if part.max_batch is not None), default=None)

    @property
    def fingerprint(self) -> str:
        """A hash of the parts and how they are fused."""
        parts = [part.fingerprint for part in self.parts]
        return content_hash("hybrid", self.fusion, repr(self.weights), str(self.depth), *parts)

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query, best first, ties by passage id.

        Raises:
            ConfigError: if ``k`` is below 1 or ``queries`` is one string.
        """
        check_search(queries, k)
        found = [part.search(queries, max(k, self.depth), pools) for part in self.parts]
        fuse = FUSIONS[self.fusion]
        return [fuse(rankings, self.weights, k) for rankings in zip(*found, strict=True)]
