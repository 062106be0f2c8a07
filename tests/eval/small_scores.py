"""Scores made by hand, for tests of the analyses of a benchmark."""

from collections.abc import Sequence

import numpy as np

from evidencegym.eval.suite.points import Point
from evidencegym.eval.suite.scores import COLUMNS, Scores


def scores(method: str, n: int = 4, **columns: Sequence[float] | float) -> Scores:
    """Return the scores of ``n`` questions; columns that are not named are 0."""
    values = np.zeros((n, len(COLUMNS)))
    for name, given in columns.items():
        values[:, list(COLUMNS).index(name)] = given
    kinds, hops = ("bridge", "comparison"), (2, 2, 3)
    uids = tuple(f"q{i}" for i in range(n))
    return Scores(method, uids, values, tuple(kinds[i % 2] for i in range(n)), tuple(hops[i % 3] for i in range(n)))


def point(family: str, cost: float, quality: float, steps: int | None = None, setting: str = "free") -> Point:
    """Return a point at so many retrievals, of that support recall."""
    return Point(family, family, setting, steps, scores(family, retrievals=cost, support_recall=quality, tokens=cost))
