"""The tables of a report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .analysis import Analysis
from .report_analysis import table
from .report_text import visible

# What Markdown reads as markup, and before it what it does not: an interval, an underscore inside a word.
_SPECIAL = re.compile(r"\[[+-]?[\d.]+, [+-]?[\d.]+\](?![(\[:])|(?<=\w)_(?=\w)|([\\`*_\[\]|~#!])")


def markdown_table(analysis: Analysis, level: int) -> str:
    """Return a table with its title as a heading of that level."""
    head, rows = table(analysis)
    lines = [f"{'#' * level} {escaped(analysis.title)}", ""]
    if analysis.asks:
        lines += [escaped(analysis.asks), ""]
    lines += [_line(head), f"|{'---|' * len(head)}"]
    lines += map(_line, rows)
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line: no markup, no HTML, no control characters."""
    inert = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda found: f"\\{found[1]}" if found[1] else found[0], inert)
