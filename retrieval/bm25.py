"""BM25 over one corpus: indexed by bm25s, searched in our own compiled kernel, where ties have an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from numbers import Integral
from pathlib import Path
from typing import Any

from ..data.errors import ConfigError, DataError
from ..data.records import Passage, content_hash
from .base import Hit, Retriever
from .bm25_files import SavedIndex, read_index, write_index
from .bm25_settings import DEFAULT, BM25Settings
from .passages import corpus_digest, in_order
from .postings import Postings
from .term_lists import term_lists
from .titles import Titles
from .vocabulary import Vocabulary


class BM25Retriever(Retriever):
    """BM25 over passages; made by :meth:`build` or :meth:`load`.

    A passage is indexed under the terms of its title and its text (see ``tokens``). Score: the sum over the query's
    words, repetitions included, of Lucene's BM25 in float32: idf * tf / (tf + k1 * (1 - b + b * length / mean length))
    with idf = ln(1 + (N - df + .5) / (df + .5)), which is always positive.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        titles: Titles,
        vocabulary: Vocabulary,
        postings: Postings,
        settings: BM25Settings,
        fingerprint: str = "",
    ) -> None:
        self.passages = passages
        self.settings = settings
        self._titles = titles
        self._vocabulary = vocabulary
        self._postings = postings
        self._fingerprint = fingerprint
        self._source: tuple[Path, bool] | None = None

    @classmethod
    def build(
        cls,
        passages: Iterable[Passage],
        k1: float = DEFAULT.k1,
        b: float = DEFAULT.b,
        title_weight: int = DEFAULT.title_weight,
    ) -> BM25Retriever:
        """Index passages; their order does not matter, and of equal ids one is kept.

        Raises:
            ConfigError: if a parameter is out of its range (see ``BM25Settings``).
            DataError: if there are no passages.
        """
        settings = BM25Settings(k1, b, title_weight)
        ordered = in_order(passages)
        if not ordered:
            raise DataError("the corpus is empty: BM25 needs at least one passage")
        vocabulary, lists = term_lists(ordered, title_weight)
        postings = Postings.build(lists, len(vocabulary), k1, b)
        return cls(ordered, Titles.of(ordered), vocabulary, postings, settings)

    @property
    def fingerprint(self) -> str:
        """A hash of the corpus, the parameters and the rules of ``tokens``."""
        if not self._fingerprint:
            self._fingerprint = content_hash("bm25", self.settings.fingerprint, corpus_digest(self.passages))
        return self._fingerprint

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Return at most ``k`` hits for each query, best first, ties by passage id.

        A query without a known word finds nothing.

        Args:
            queries: one text a search.
            k: at least 1.
            pools: ignored.

        Raises:
            ConfigError: if ``k`` is below 1 or ``queries`` is one string.
        """
        check_search(queries, k)
        found = self._postings.best([self._vocabulary.ids(query) for query in queries], int(k))
        return [self._hits(numbers, scores) for numbers, scores in found]

    def _hits(self, numbers: list[int], scores: list[float]) -> list[Hit]:
        passages = self.passages
        return [Hit(passages[number], score, rank) for rank, (number, score) in enumerate(zip(numbers, scores))]

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages with this title (case and spaces ignored), ordered by id; ``pool`` is ignored."""
        return self._titles.find(title, self.passages)

    def about(self, name: str, pool: str = "") -> tuple[Passage, ...]:
        """Return the passages whose title is ``name``, brackets and a leading "the" left out; ``pool`` is ignored."""
        return self._titles.about(name, self.passages)

    def rarity(self, term: str, pool: str = "") -> float:
        """Return the term's inverse document frequency over that of an unknown term; ``pool`` is ignored."""
        return idf(self._postings.frequency(self._vocabulary.number(term)), len(self.passages)) / idf(
            0, len(self.passages)
        )

    def save(self, folder: str | Path) -> None:
        """Write the index; the same index gives the same bytes, and a crash leaves no half of it.

        Raises:
            ConfigError: if the folder exists and holds anything but a saved BM25 index.
            DataError: if it cannot be written.
        """
        parts = (self.passages, self._titles, self._vocabulary, self._postings, self.settings, self.fingerprint)
        write_index(Path(folder), SavedIndex(*parts))

    @classmethod
    def load(cls, folder: str | Path, mmap: bool = True) -> BM25Retriever:
        """Open a saved index.

        Args:
            folder: what :meth:`save` wrote.
            mmap: map the files into memory: processes share them, and passages are read when they are needed. Replace
                such an index by saving again, never by writing into its files.

        Raises:
            DataError: if there is no index.
            ManifestMismatchError: if it is damaged, of another version, or was built with other rules of ``tokens``.
        """
        index = read_index(Path(folder), mmap)
        retriever = cls(*index)
        retriever._source = (Path(folder).absolute(), mmap)
        return retriever

    def __reduce__(self) -> Any:
        """Let other processes open a saved index again, so that they share its files instead of copying them."""
        if self._source is not None:
            return BM25Retriever.load, self._source
        parts = (self.passages, self._titles, self._vocabulary, self._postings, self.settings, self._fingerprint)
        return BM25Retriever, parts


def idf(frequency: int, passages: int) -> float:
    """Return Lucene's inverse document frequency, always positive."""
    return log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


def check_search(queries: Sequence[str], k: int) -> None:
    """Raise ConfigError unless ``queries`` is a sequence of texts and ``k`` a whole number of at least 1."""
    if isinstance(queries, str):
        raise ConfigError("queries must be a sequence of texts, found one text: put it in a list")
    if not isinstance(k, Integral) or k < 1:
        raise ConfigError(f"k must be a whole number of at least 1, found {k!r}")
