"""The scale of an axis: its ends and round ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Scale:
    """A linear scale from values to positions.

    Attributes:
        low, high: the values at the ends.
        first, last: the positions of the ends.
        ticks: round values from ``low`` to ``high``.
    """

    low: float
    high: float
    first: float
    last: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Return the position of a value."""
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)


def scale(values: Sequence[float], first: float, last: float, wanted: int = 5) -> Scale:
    """Return a scale whose ends are round and hold all values; about ``wanted`` ticks."""
    low, high = min(values), max(values)
    if low == high:
        margin = abs(low) / 10 or 1.0
        low, high = low - margin, high + margin
    step = _step((high - low) / wanted)
    begin, end = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(number * step, 12) for number in range(begin, end + 1))
    return Scale(ticks[0], ticks[-1], first, last, ticks)


def _step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(step * size for step in _STEPS if step * size >= rough * (1 - 1e-9))


def tick_text(value: float) -> str:
    """Return a tick's label without needless digits."""
    return f"{value:.10g}" if abs(value) < 10_000 else f"{value / 1000:.10g}k"
