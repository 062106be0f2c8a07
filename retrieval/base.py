"""The protocol that every retriever follows, and the request that reaches it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..data.records import Passage


class Hit(NamedTuple):
    """A passage that a search returned; ``rank`` counts from 0, higher ``score`` is better."""

    passage: Passage
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Search:
    """A request for the best ``k`` passages.

    Attributes:
        query: the words to search for; may be empty, and then nothing is found.
        k: how many passages, at least 1.
        title: when given, passages with exactly this title come first (case and spaces ignored).
        pool: the question key whose own context is searched, for retrievers that hold one pool a question.
    """

    query: str
    k: int
    title: str = ""
    pool: str = ""


class Retriever(ABC):
    """Finds passages.

    Ties, those at rank ``k`` included, are broken by passage id; passages that share no term with the query are left
    out.
    """

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of the corpus and of every setting that can change a result."""

    @abstractmethod
    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query, best first.

        Args:
            queries: one text a search.
            k: at least 1.
            pools: one question key a query; ignored by retrievers that hold a single corpus.
        """

    @abstractmethod
    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages with this title (case and spaces ignored), ordered by id."""
