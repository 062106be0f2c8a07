"""The features of the embedded evaluator, by group, and the rows of a task."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..retrieval.asked import Asked
from ..retrieval.base import Retriever
from .alignment import ALIGNMENT, alignment_row
from .base import EvaluateTask
from .form import FORM, form_row
from .links import LINKS, link_rows
from .overlap import OVERLAP, overlap_row
from .view import View

_RANKED = {
    "alignment": ("name_share", "subject_overlap", "joint_share", "joint_sentence"),
    "overlap": ("plain_share", "plain_sentence"),
    "links": ("mention_share", "joint_cover"),
}
"""Features that are given once more as their distance to the largest value among the other titles' texts."""


def _led(group: str) -> tuple[str, ...]:
    return tuple(f"{name}_lead" for name in _RANKED[group])


GROUPS: dict[str, tuple[str, ...]] = {
    "alignment": (*ALIGNMENT, *_led("alignment")),
    "overlap": (*OVERLAP, *_led("overlap")),
    "links": (*LINKS, *_led("links")),
    "form": FORM,
}
"""Names of the features of each group; the columns stand in this order."""
FEATURES = tuple(name for names in GROUPS.values() for name in names)
"""Names of a row, in order."""
_QUESTIONS = 128
_NAMES = 100_000


class Reader:
    """Reads tasks over one corpus; several threads may use it, they read one after another.

    Args:
        retriever: knows how rare the terms of the corpus are, and which passages are about a name.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._questions = lru_cache(maxsize=_QUESTIONS)(self._new_question)
        self._titles = lru_cache(maxsize=_NAMES)(lambda name, pool: len(retriever.about(name, pool)))
        self._rarity = lru_cache(maxsize=_NAMES)(retriever.rarity)
        self._reading = Lock()

    def __reduce__(self) -> Any:
        """Send the corpus, not what was read of it, to another process."""
        return Reader, (self._retriever,)

    def read(self, task: EvaluateTask) -> NDArray[np.float32]:
        """Return (texts, features) float32, named in ``FEATURES``."""
        with self._reading:
            asked = self._questions(task.question, task.pool)
            return rows(View(asked, task, lambda name: self._titles(name, task.pool)))

    def _new_question(self, question: str, pool: str) -> Asked:
        return Asked(question, lambda term: self._rarity(term, pool))


def rows(view: View) -> NDArray[np.float32]:
    """Return (texts, features) float32."""
    made = {
        "alignment": [alignment_row(view, place) for place in range(len(view.sights))],
        "overlap": [overlap_row(view.asked, view.parts, sight) for sight in view.sights],
        "links": link_rows(view),
        "form": [form_row(view.asked, sight) for sight in view.sights],
    }
    if not view.sights:
        return np.zeros((0, len(FEATURES)), np.float32)
    return np.concatenate([_with_leads(view, group, np.array(found)) for group, found in made.items()], axis=1)


def _with_leads(view: View, group: str, found: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the columns of a group, and behind them the leads over the texts of other titles."""
    columns = [GROUPS[group].index(name) for name in _RANKED.get(group, ())]
    titles = np.array([sorted(set(view.own)).index(title) for title in view.own])
    leads = np.empty((len(found), len(columns)))
    for place, row in enumerate(found):
        others = found[titles != titles[place]][:, columns]
        leads[place] = row[columns] - (others.max(axis=0) if len(others) else 0.0)
    return np.concatenate([found, leads], axis=1).astype(np.float32)
