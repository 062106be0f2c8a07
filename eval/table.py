"""Comparison tables as Markdown."""

from __future__ import annotations

from .comparison import COLUMNS, Comparison
from .statistics import Interval

_FRACTIONS = {"support_recall", "full_support", "answer_f1", "answer_em"}


def markdown(comparison: Comparison) -> str:
    """Return the table of means and, below it, of paired differences, each with its 95 % interval.

    Where something failed, a table says what, and how often over all questions.
    """
    head = f"{comparison.title} ({comparison.questions} questions; 95 % bootstrap intervals)"
    parts = [head, "", _table(["method", *(label for _, label in COLUMNS)], _mean_rows(comparison))]
    if comparison.differences:
        labels = [label for name, label in COLUMNS if name in _FRACTIONS]
        parts += ["", f"{comparison.reference} minus the others, paired by question", ""]
        parts.append(_table(["method", *labels], _difference_rows(comparison)))
    if comparison.failures:
        operations = sorted({name for failed in comparison.failures.values() for name in failed})
        parts += ["", "Failures, in all", "", _table(["method", *operations], _failure_rows(comparison, operations))]
    return "\n".join(parts) + "\n"


def _mean_rows(comparison: Comparison) -> list[list[str]]:
    return [[method, *(_mean(name, row[name]) for name, _ in COLUMNS)] for method, row in comparison.means.items()]


def _difference_rows(comparison: Comparison) -> list[list[str]]:
    return [
        [method, *(f"{_signed(row[name])}" for name, _ in COLUMNS if name in _FRACTIONS)]
        for method, row in comparison.differences.items()
    ]


def _failure_rows(comparison: Comparison, operations: list[str]) -> list[list[str]]:
    return [
        [method, *(str(comparison.failures.get(method, {}).get(name, 0)) for name in operations)]
        for method in comparison.means
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
