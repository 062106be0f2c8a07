"""How near found passages are to the question and to what is held, by the vectors of an encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..retrieval.base import Retriever
from .tasks import RankTask

VECTOR_FEATURES = (
    "cosine",
    "cosine_rank",
    "cosine_gap",
    "rest_cosine",
    "bridged_cosine",
    "held_cosine",
)
"""Names of a row, in order; they follow the passage features where the retriever has an encoder."""
TRUSTED = 0.3
"""Score from which a held passage counts as one that answers a part of the question."""


def vector_rows(task: RankTask, retriever: Retriever) -> NDArray[np.float32]:
    """Return (found, features) float32.

    "Rest" is the question's vector without its part in the span of the trusted held passages; "bridged" is the best
    likeness to the sum of question and a held passage, times that passage's score.
    """
    rows = np.zeros((len(task.found), len(VECTOR_FEATURES)), np.float32)
    if not task.found:
        return rows
    found = retriever.vectors([item.passage for item in task.found])
    question = retriever.vector(task.question)
    cosine = found @ question
    rows[:, 0] = cosine
    rows[:, 1] = np.argsort(np.argsort(-cosine, kind="stable"), kind="stable")
    rows[:, 2] = cosine - cosine.max()
    if task.held:
        held, trust = retriever.vectors(task.held), np.array(task.trust, np.float32)
        rows[:, 3] = found @ _rest(question, held, trust)
        likeness = np.where(_same(task), np.float32(-1), found @ held.T)
        bridged = (cosine[:, None] + likeness) / np.sqrt(2 + 2 * (held @ question))
        rows[:, 4] = (bridged * trust).max(1)
        rows[:, 5] = (likeness * trust).max(1)
    return rows


def _rest(question: NDArray[np.float32], held: NDArray[np.float32], trust: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the unit vector of what the trusted passages, or the most trusted one, leave of the question."""
    trusted = trust >= TRUSTED
    kept = held[trusted] if trusted.any() else held[[int(trust.argmax())]]
    base: NDArray[np.float32] = np.linalg.qr(kept.T)[0].astype(np.float32)
    rest = question - base @ (base.T @ question)
    made: NDArray[np.float32] = (rest / (np.linalg.norm(rest) + 1e-9)).astype(np.float32)
    return made


def _same(task: RankTask) -> NDArray[np.bool_]:
    """Return (found, held): whether they are one passage."""
    held: Sequence[str] = [passage.id for passage in task.held]
    return np.array([[item.passage.id == other for other in held] for item in task.found])
