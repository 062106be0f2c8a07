"""From predictions to a ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .tasks import Proposal, Ranking

PROPOSALS = 8
"""How many searches a ranking proposes at most."""


def ranking(searches: Sequence[tuple[str, str]], scores: NDArray[np.float64], gains: NDArray[np.float64]) -> Ranking:
    """Return the ranking of passages with ``scores`` and searches with ``gains``; ties keep the order of the rows."""
    order = np.argsort(-gains, kind="stable")[:PROPOSALS].tolist()
    proposals = tuple(Proposal(searches[place][0], searches[place][1], float(gains[place])) for place in order)
    return Ranking(tuple(scores.tolist()), proposals)
