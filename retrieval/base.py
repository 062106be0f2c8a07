"""The protocol that every retriever follows, and the request that reaches it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError
from ..data.records import Passage


class Hit(NamedTuple):
    """A passage that a search returned.

    Attributes:
        passage: the passage.
        score: higher is better.
        rank: its place, from 0.
        source: type of the source that it comes from, such as "user_generated"; empty where none is known.
    """

    passage: Passage
    score: float
    rank: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """A request for the best ``k`` passages.

    Attributes:
        query: the words to search for; may be empty, and then nothing is found.
        k: how many passages, at least 1.
        title: when given, passages with exactly this title come first (case and spaces ignored).
        subjects: names; passages about one of them come after the hits, with score 0, where they are not among them.
        pool: the question key whose own context is searched, for retrievers that hold one pool a question.
        targeted: whether it is another query than the question itself; see ``Retriever.serving``.
    """

    query: str
    k: int
    title: str = ""
    pool: str = ""
    subjects: tuple[str, ...] = ()
    targeted: bool = False


class Retriever(ABC):
    """Finds passages.

    Ties, those at rank ``k`` included, are broken by passage id; passages that share no term with the query are left
    out. A search that cannot be served raises ``RequestFailedError``; a batch of several is then asked again in halves.

    Attributes:
        concurrency: 0 where the work is done in this process: each method runs at once, in the thread that asks. At
            least 1 where it is done elsewhere: up to so many batches are under way together, so every method must bear
            being called from several threads at a time.
        max_batch: most searches in one call, at least 1; None for no limit.
    """

    concurrency: int = 0
    max_batch: int | None = None

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

    def serving(self, targeted: bool) -> Retriever:
        """Return what serves the searches with the question itself, or the targeted ones: this retriever for both."""
        return self

    @abstractmethod
    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages with this title (case and spaces ignored), ordered by id."""

    def about(self, name: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages whose title is ``name``, ordered by id; brackets at its end and a leading "the" left out.

        A retriever that does not keep such titles returns :meth:`titled`.
        """
        return self.titled(name, pool)

    def rarity(self, term: str, pool: str = "") -> float:
        """Return how rare an index term is, in [0, 1]: its inverse document frequency over that of an unknown term.

        A retriever without such statistics returns 1, so that all terms weigh the same.
        """
        return 1.0

    @property
    def encoder(self) -> str:
        """The fingerprint of the encoder whose vectors it knows, empty without one."""
        return ""

    def vectors(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """Return the (passages, dimension) unit vectors of passages.

        Raises:
            ConfigError: if it has no encoder.
        """
        raise ConfigError("this retriever has no encoder, so its passages have no vectors")

    def vector(self, query: str) -> NDArray[np.float32]:
        """Return the (dimension,) unit vector of a query.

        Raises:
            ConfigError: if it has no encoder.
        """
        raise ConfigError("this retriever has no encoder, so queries have no vectors")
