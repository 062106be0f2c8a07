"""From a task to the rows of both ensembles."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..retrieval.asked import Asked
from ..retrieval.base import Retriever
from .passage_features import FOUND_FEATURES, PASSAGE_FEATURES, found_values
from .proposal_features import PROPOSAL_FEATURES, STATE_FEATURES, state_row
from .tasks import RankTask
from .vector_features import VECTOR_FEATURES, vector_rows
from .views import View, Views

_QUESTIONS = 128
_TASKS = 512
_NAMES = 100_000


class Rows(NamedTuple):
    """What a task amounts to.

    Attributes:
        passages: (found, passage features) float32.
        rows: (searches, proposal features) float32.
        searches: entity and query of each search.
    """

    passages: NDArray[np.float32]
    rows: NDArray[np.float32]
    searches: list[tuple[str, str]]


def passage_features(vectors: bool) -> tuple[str, ...]:
    """Return the names of the columns of the passages' rows, without or with those of an encoder's vectors."""
    return (*PASSAGE_FEATURES, *VECTOR_FEATURES) if vectors else PASSAGE_FEATURES


class Reader:
    """Reads tasks over one corpus; what depends on the question alone is kept for the questions asked last.

    Several threads may use it; they read one after another.

    Args:
        retriever: the corpus.
        vectors: whether the rows of passages end with the features of vectors; None for whether there is an encoder.

    Attributes:
        passage_features: names of the columns of the passages' rows.
    """

    def __init__(self, retriever: Retriever, vectors: bool | None = None) -> None:
        self._retriever = retriever
        self._vectors = bool(retriever.encoder) if vectors is None else vectors
        self.passage_features = passage_features(self._vectors)
        self._questions = lru_cache(maxsize=_QUESTIONS)(self._new_question)
        self._rows = lru_cache(maxsize=_TASKS)(self._read)
        self._titles = lru_cache(maxsize=_NAMES)(lambda name, pool: len(retriever.about(name, pool)))
        self._rarity = lru_cache(maxsize=_NAMES)(retriever.rarity)
        self._reading = Lock()

    def __reduce__(self) -> Any:
        """Send the corpus, not what was read of it, to another process."""
        return Reader, (self._retriever, self._vectors)

    def read(self, task: RankTask) -> Rows:
        """Return the rows of a task; those of the tasks read last are kept."""
        with self._reading:
            return self._rows(task)

    def _read(self, task: RankTask) -> Rows:
        view = self._questions(task.question, task.pool).of(task.held, task.trust)
        passages = _passages(view, task)
        if self._vectors:
            passages = np.concatenate([passages, vector_rows(task, self._retriever)], axis=1)
        return Rows(passages, *_searches(view, task))

    def _new_question(self, question: str, pool: str) -> Views:
        asked = Asked(question, lambda term: self._rarity(term, pool))
        return Views(asked, lambda name: self._titles(name, pool))


def _passages(view: View, task: RankTask) -> NDArray[np.float32]:
    rows = np.empty((len(task.found), len(PASSAGE_FEATURES)), np.float32)
    if task.found:
        rows[:, :FOUND_FEATURES] = [found_values(item) for item in task.found]
        rows[:, FOUND_FEATURES:] = view.passages([item.passage for item in task.found])
    return rows


def _searches(view: View, task: RankTask) -> tuple[NDArray[np.float32], list[tuple[str, str]]]:
    """Return the rows of the searches that were not made, and these."""
    offers, known = view.searches()
    made = frozenset(task.queries)
    places = [place for place, (_, query) in enumerate(offers.searches) if query not in made]
    rows = np.empty((len(places), len(PROPOSAL_FEATURES)), np.float32)
    rows[:, :-STATE_FEATURES] = known[places]
    rows[:, -STATE_FEATURES:] = state_row(view.asked, view.known.covered, task.trust, len(task.queries))
    return rows, [offers.searches[place] for place in places]
