"""Chunks with scores drawn at random, for tests of conformal confidence."""

import numpy as np

from evidencegym.confidence.chunks import ScoredChunks


def made(uid: str, scores: list[float], right: list[bool], overlaps: list[float] | None = None) -> ScoredChunks:
    """Return one question's chunks; without overlaps each chunk has none."""
    return ScoredChunks(uid, tuple(scores), tuple(right), tuple(overlaps or [0.0] * len(scores)))


def drawn(random: np.random.Generator, questions: int, name: str, correct: int = 1, k: int = 5) -> list[ScoredChunks]:
    """Return questions of ``k`` chunks, the first ``correct`` of them right, with independent scores on [0, 30]."""
    right = [place < correct for place in range(k)]
    return [made(f"{name}{n}", list(30 * random.random(k)), right) for n in range(questions)]


ENDS = [made("ends", [0.0, 30.0], [False, False])]
"""A question apart whose scores are the ends of the scale of :func:`drawn`."""
