"""Points of quality against cost, for the cap sweep and the frontiers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..protocols import LEARNED
from .costs import COST_KINDS
from .scores import Scores

_CAPPED = re.compile(r"(.+)-steps(\d+)")
_WEIGHTED = re.compile(rf"({'|'.join(COST_KINDS)})-(.+)")
FIXED = "fixed_k"
_FIXED = "fixed_"


class Point(NamedTuple):
    """One setting of one method.

    Attributes:
        family: methods whose points make one frontier: "learned", "fixed_k", or the baseline's name.
        method: the method's name.
        setting: what tells it from the others of its family, in words.
        steps: limit on the control steps, None for the task's.
        scores: its numbers.
    """

    family: str
    method: str
    setting: str
    steps: int | None
    scores: Scores


def free_points(free: Mapping[str, Scores]) -> list[Point]:
    """Return the methods at free stopping."""
    return [Point(_family(name), name, "free", None, scores) for name, scores in free.items()]


def capped_points(caps: Mapping[str, Scores], free: Mapping[str, Scores], own_steps: int) -> list[Point]:
    """Return the methods of the cap sweep, by method and number of steps.

    Args:
        caps: METHOD-stepsN -> scores.
        free: the methods under the task's own limit, on the same questions.
        own_steps: that limit.
    """
    found = []
    for name, scores in caps.items():
        if match := _CAPPED.fullmatch(name):
            found.append(_capped(match[1], int(match[2]), scores))
    swept = {point.family for point in found}
    for name, scores in free.items():
        if _family(name) in swept and (_family(name) == name or name == f"{_FIXED}{own_steps}"):
            found.append(_capped(name, own_steps, scores))
    return sorted(found, key=lambda point: (point.family != LEARNED, point.family, point.steps or 0))


def weighted_points(frontier: Mapping[str, Scores]) -> list[Point]:
    """Return the learned controller with each lambda, by kind of cost and lambda."""
    found = []
    for name, scores in frontier.items():
        if match := _WEIGHTED.fullmatch(name):
            point = Point(LEARNED, LEARNED, f"λ = {match[2]} on {match[1]}", None, scores)
            found.append((match[1], float(match[2]), point))
    return [point for _, _, point in sorted(found, key=lambda item: item[:2])]


def area(points: Sequence[Point], cost: str, quality: str, low: float, high: float) -> float | None:
    """Return the mean quality over the costs from ``low`` to ``high`` along the frontier of some points.

    The frontier joins, by straight lines, the points that no cheaper or equally cheap point reaches in quality: a draw
    between two settings reaches the line in expectation. Beyond the dearest point it stays level. None where the points
    begin above ``low``, or the range is empty.
    """
    line = frontier_line(points, cost, quality)
    if not line or line[0][0] > low or high <= low:
        return None
    stops = sorted({low, high, *(x for x, _ in line if low < x < high)})
    heights = [_height(line, x) for x in stops]
    parts = [(b - a) * (y + z) / 2 for (a, b), (y, z) in zip(pairwise(stops), pairwise(heights))]
    return sum(parts) / (high - low)


def frontier_line(points: Sequence[Point], cost: str, quality: str) -> list[tuple[float, float]]:
    """Return (cost, quality) of the points that none reaches at the same or a lower cost, by cost."""
    line: list[tuple[float, float]] = []
    for x, y in sorted((p.scores.mean(cost), -p.scores.mean(quality)) for p in points):
        if not line or -y > line[-1][1]:
            line.append((x, -y))
    return line


def _height(line: Sequence[tuple[float, float]], x: float) -> float:
    for (a, y), (b, z) in pairwise(line):
        if a <= x <= b:
            return y + (z - y) * (x - a) / (b - a)
    return line[-1][1]


def _capped(method: str, steps: int, scores: Scores) -> Point:
    return Point(_family(method), method, f"at most {steps} steps", steps, scores)


def _family(method: str) -> str:
    return FIXED if method.startswith(_FIXED) and "+" not in method else method
