"""Comparison tables as Markdown."""

from __future__ import annotations

from .comparison import COLUMNS, Comparison
from .statistics import Interval

_FRACTIONS = {"support_recall", "full_support", "answer_f1", "answer_em"}


def markdown(comparison: Comparison) -> str:
    """Return the table of means and, below it, of paired differences, each with its 95 % interval."""
    head = f"{comparison.title} ({comparison.questions} questions; 95 % bootstrap intervals)"
    parts = [head, "", _table(["method", *(label for _, label in COLUMNS)], _mean_rows(comparison))]
    if comparison.differences:
        labels = [label for name, label in COLUMNS if name in _FRACTIONS]
        parts += ["", f"{comparison.reference} minus the others, paired by question", ""]
        parts.append(_table(["method", *labels], _difference_rows(comparison)))
    return "\n".join(parts) + "\n"


def _mean_rows(comparison: Comparison) -> list[list[str]]:
    return [[method, *(_mean(name, row[name]) for name, _ in COLUMNS)] for method, row in comparison.means.items()]


def _difference_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [method, *(f"{_signed(row[name])}" for name, _ in COLUMNS if name in _FRACTIONS)]
        for method, row in comparison.differences.items()
    ]


def _mean(name: str, value: Interval) -> str:
    if name not in _FRACTIONS:
        return f"{value.mean:.2f}" if value.mean < 100 else f"{value.mean:.0f}"
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _signed(value: Interval) -> str:
    return f"{value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])
