"""The protocol that every ranker follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .tasks import Ranking, RankTask


class Ranker(ABC):
    """Scores found passages and proposes searches; it sees what a state may hold, never gold.

    Attributes:
        concurrency: as a retriever's.
        max_batch: as a retriever's.
    """

    concurrency: int = 0
    max_batch: int | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that can change a ranking."""

    @abstractmethod
    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        """Return a ranking for each task; it depends on nothing but that task."""
