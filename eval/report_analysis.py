"""Analyses as a report reads them from their JSON files, and as it shows them in a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.errors import DataError
from .analysis import Analysis, Plot
from .report_folder import read_json


def read_analysis(file: Path) -> Analysis:
    """Read ``<dataset>/analysis/<name>.json``.

    Raises:
        DataError: if a part is missing or of another type, or the plot names a column that is not there.
    """
    content = read_json(file)
    try:
        columns = tuple((str(column["key"]), str(column["label"])) for column in content["columns"])
        keys = [key for key, _ in columns]
        rows = [_row(row, keys) for row in content["rows"]]
        plot = _plot(content.get("plot"), {key for row in rows for key in row} | set(keys))
        name, title, asks = (str(content[key]) for key in ("name", "title", "asks"))
        return Analysis(name, title, asks, columns, rows, plot, content.get("settings") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"not an analysis ({type(error).__name__}: {error}); write it again", file) from error


def _row(row: Any, keys: list[str]) -> dict[str, Any]:
    """Return a row by key; one that is written as a list is in the order of the columns."""
    if isinstance(row, dict):
        return dict(row)
    if not isinstance(row, list) or len(row) != len(keys):
        raise ValueError(f"a row has to hold {len(keys)} values")
    return dict(zip(keys, row))


def _plot(given: Any, keys: set[str]) -> Plot | None:
    if not given:
        return None
    named = {part: str(given.get(part) or "") for part in ("x", "y", "series", "low", "high")}
    if not named["x"] or not named["y"]:
        raise ValueError("a plot has to name x and y")
    if unknown := sorted({key for key in named.values() if key} - keys):
        raise ValueError(f"the plot names {', '.join(unknown)}, which is no column")
    return Plot(**named)


def table(analysis: Analysis) -> tuple[list[str], list[list[str]]]:
    """Return the labels and the cells; the ends of an interval, ``key_low`` and ``key_high``, join their ``key``."""
    keys = [key for key, _ in analysis.columns]
    ends = {key: (f"{key}_low", f"{key}_high") for key in keys if {f"{key}_low", f"{key}_high"} <= set(keys)}
    joined = {end for pair in ends.values() for end in pair}
    columns = [(key, label) for key, label in analysis.columns if key not in joined]
    rows = [[_cell(row, key, ends.get(key)) for key, _ in columns] for row in analysis.rows]
    return [label for _, label in columns], rows


def _cell(row: Mapping[str, Any], key: str, ends: tuple[str, str] | None) -> str:
    own = shown(row.get(key))
    if ends is None or any(row.get(end) is None for end in ends):
        return own
    return f"{own} [{', '.join(shown(row[end]) for end in ends)}]"


def shown(value: Any) -> str:
    """Return a value as a cell shows it: fractions with three digits, large numbers with none, a dash for none."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(part)}" for key, part in value.items())
    return str(value)


def _number(value: float) -> str:
    size = abs(value)
    if size >= 1000:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.001 or value == 0 else f"{value:.2g}"
