"""One analysis: a question, how it is answered, and the rows of the answer; kept as JSON and shown as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.storage import to_json, write_text
from .statistics import Interval

Row = dict[str, Any]
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Plot:
    """Which columns a plot of the rows shows: ``y`` over ``x``, one line a ``series``, between ``low`` and ``high``."""

    x: str
    y: str
    series: str
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis.

    Attributes:
        name: name of its file.
        title: what it is called.
        asks: what question it answers, and how the numbers are computed.
        columns: (key, label) of each column.
        rows: the answer; a value is a text, a number, a truth value, or None where there is none.
        plot: how to draw it; None for a table alone.
        settings: what else was chosen.
    """

    name: str
    title: str
    asks: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    plot: Plot | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, numbers to six places; every row has the keys of the columns and no others."""
        drawn = None if self.plot is None else {key: getattr(self.plot, key) for key in Plot.__slots__}
        return {
            "name": self.name,
            "title": self.title,
            "asks": self.asks,
            "columns": [{"key": key, "label": label} for key, label in self.columns],
            "rows": [{key: plain(row[key]) for key, _ in self.columns} for row in self.rows],
            "plot": drawn,
            "settings": dict(self.settings),
        }

    def markdown(self) -> str:
        """Return the title, the question and the table."""
        labels = [label for _, label in self.columns]
        lines = [f"| {' | '.join(labels)} |", f"|{'---|' * len(labels)}"]
        lines += [f"| {' | '.join(_shown(row[key]) for key, _ in self.columns)} |" for row in self.rows]
        return "\n".join([f"### {self.title}", "", self.asks, "", *lines]) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``folder/<name>.json``.

        Raises:
            DataError: if it cannot be written.
        """
        write_text(folder / f"{self.name}.json", to_json(self.as_dict()))


def spread(key: str, interval: Interval) -> Row:
    """Return the three cells of a mean with its interval: ``key``, ``key_low``, ``key_high``."""
    return {key: interval.mean, f"{key}_low": interval.low, f"{key}_high": interval.high}


def spread_columns(key: str, label: str) -> list[tuple[str, str]]:
    """Return the columns of :func:`spread`."""
    return [(key, label), (f"{key}_low", f"{label}, low"), (f"{key}_high", f"{label}, high")]


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: numbers to six places, None for what is not a number."""
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    number = float(value)
    return round(number, _DIGITS) + 0.0 if math.isfinite(number) else None


def _shown(value: Any) -> str:
    found = plain(value)
    if found is None:
        return ""
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, float):
        return f"{found:.3f}" if abs(found) < 100 else f"{found:.0f}"
    return str(found).replace("|", "\\|").replace("\n", " ")
