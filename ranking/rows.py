"""From a task to the rows of both ensembles."""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..retrieval.base import Retriever
from .asked import Asked
from .mentions import mentions
from .passage_features import PASSAGE_FEATURES, passage_row
from .proposal_features import PROPOSAL_FEATURES, candidates
from .reading import subject_of
from .tasks import RankTask

T = TypeVar("T")
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


class Reader:
    """Reads tasks over one corpus; what depends on the question alone is kept for the questions asked last."""

    def __init__(self, retriever: Retriever) -> None:
        self._asked = lru_cache(maxsize=_QUESTIONS)(self._new_question)
        self._rows = lru_cache(maxsize=_TASKS)(self._read)
        self._titles = lru_cache(maxsize=_NAMES)(lambda name, pool: len(retriever.about(name, pool)))
        self._rarity = lru_cache(maxsize=_NAMES)(retriever.rarity)

    def read(self, task: RankTask) -> Rows:
        """Return the rows of a task; those of the tasks read last are kept."""
        return self._rows(task)

    def _read(self, task: RankTask) -> Rows:
        asked = self._asked(task.question, task.pool)
        known = mentions(asked, task.held, task.trust)
        offered = list(
            candidates(asked, known, task.held, task.trust, task.queries, lambda name: self._titles(name, task.pool))
        )
        return Rows(
            _matrix(self._passages(asked, task), len(PASSAGE_FEATURES)),
            _matrix([candidate.row for candidate in offered], len(PROPOSAL_FEATURES)),
            [(candidate.entity, candidate.query) for candidate in offered],
        )

    def _passages(self, asked: Asked, task: RankTask) -> list[list[float]]:
        """Return the row of each passage found; a held one is read as if the others alone were held."""
        held = {passage.id: place for place, passage in enumerate(task.held)}
        shown = [asked.sight(passage).terms for passage in task.held]
        rows = []
        for found in task.found:
            at = held.get(found.passage.id)
            rest, trust = _without(task.held, at), _without(task.trust, at)
            covered = reduce(or_, _without(tuple(shown), at), 0)
            namesakes = self._titles(subject_of(found.passage.title), task.pool)
            rows.append(passage_row(asked, found, rest, trust, covered, namesakes))
        return rows

    def _new_question(self, question: str, pool: str) -> Asked:
        return Asked(question, lambda term: self._rarity(term, pool))


def _without(items: tuple[T, ...], place: int | None) -> tuple[T, ...]:
    return items if place is None else items[:place] + items[place + 1 :]


def _matrix(rows: list[list[float]], width: int) -> NDArray[np.float32]:
    return np.array(rows, np.float32) if rows else np.zeros((0, width), np.float32)
