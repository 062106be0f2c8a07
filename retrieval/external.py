"""Searching elsewhere: the protocol of external sources, and one that is a second local corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ..data.records import content_hash
from .base import Hit, Retriever


@dataclass(frozen=True, slots=True)
class ExternalSearch:
    """A request for the best ``k`` passages of an external source.

    Attributes:
        query: the words to search for.
        k: how many passages, at least 1.
        question: the question's text, for sources that look for its entities.
    """

    query: str
    k: int
    question: str = ""


class ExternalSource(ABC):
    """Finds passages outside the corpus; what it returns is refined before anybody reads it.

    A search that cannot be served raises ``RequestFailedError``.

    Attributes:
        concurrency: as a retriever's.
        max_batch: as a retriever's.
    """

    concurrency: int = 0
    max_batch: int | None = None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of the source and of every setting that can change a result."""

    @abstractmethod
    def find(self, searches: Sequence[ExternalSearch]) -> list[list[Hit]]:
        """Return at most ``k`` hits for each search, best first, each marked with its source type."""


class LocalSource(ExternalSource):
    """A second corpus on this machine.

    Args:
        retriever: searches it.
        source: type of source that its passages are marked with.
    """

    def __init__(self, retriever: Retriever, source: str = "local_corpus") -> None:
        self.retriever = retriever
        self.source = source
        self.concurrency, self.max_batch = retriever.concurrency, retriever.max_batch

    @property
    def fingerprint(self) -> str:
        """A hash of corpus and source type."""
        return content_hash("local source", self.retriever.fingerprint, self.source)

    def find(self, searches: Sequence[ExternalSearch]) -> list[list[Hit]]:
        """Return the hits of each search in the second corpus."""
        found = []
        for search in searches:
            [hits] = self.retriever.search([search.query], search.k)
            found.append([hit._replace(source=self.source) for hit in hits])
        return found
