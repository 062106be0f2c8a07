"""How vectors are searched."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..data.bounds import require_least
from ..data.errors import ConfigError

KINDS = ("flat", "hnsw", "ivfpq")


@dataclass(frozen=True)
class DenseSettings:
    """How vectors are searched.

    Attributes:
        kind: flat (exact), hnsw (a graph; quick, and as large as the vectors in half precision) or ivfpq (inverted
            lists of product-quantised vectors; small). What the last two find is scored again with the vectors.
        neighbours: hnsw: edges of a passage in each layer.
        effort: hnsw: candidates kept while searching.
        lists: ivfpq: inverted lists; 0 for four times the square root of the number of passages.
        probes: ivfpq: lists searched.
        bytes: ivfpq: bytes of a compressed vector; they must divide the dimension.
        refine: hnsw and ivfpq: how many times ``k`` candidates are scored again.
        gpu: whether a GPU searches, where faiss-gpu is installed and there is one.
        seed: of the clustering.

    Raises:
        ConfigError: if there is no such kind or a number is out of range.
    """

    kind: str = "flat"
    neighbours: int = 32
    effort: int = 128
    lists: int = 0
    probes: int = 32
    bytes: int = 64
    refine: int = 4
    gpu: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"unknown kind of dense index {self.kind!r}; there are: {', '.join(KINDS)}")
        require_least(self, "dense", neighbours=2, effort=1, lists=0, probes=1, bytes=1, refine=1, seed=0)

    def source(self) -> dict[str, Any]:
        """Return what can change a result; where it is searched cannot, but for the last bits."""
        return {name: value for name, value in asdict(self).items() if name != "gpu"}
