"""Accuracy by type of question, with Wilson's interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

ALL = "all"


class TypeAccuracy(NamedTuple):
    """How many questions of a type were answered right.

    Attributes:
        type: the data set's name of it, or "all".
        questions: at least 1.
        accuracy: share of right answers.
        low: lower end of the 95 % interval.
        high: its upper end.
    """

    type: str
    questions: int
    accuracy: float
    low: float
    high: float


def accuracy_by_type(types: Sequence[str], right: Sequence[float]) -> tuple[TypeAccuracy, ...]:
    """Return a row for each type, in alphabetical order, and one over all questions, which comes last.

    The intervals are Wilson's (1927), without continuity correction: they stay in [0, 1], and are not of width 0 where
    all questions were answered alike. Types of a single name, or of none, give the last row alone.

    Args:
        types: one a question.
        right: 1 or 0 for each question, in the same order; not empty.
    """
    names = sorted(set(types))
    rows = [_row(name, [value for kind, value in zip(types, right) if kind == name]) for name in names]
    return (*(rows if len(rows) > 1 else ()), _row(ALL, right))


def format_types(rows: Sequence[TypeAccuracy]) -> str:
    """Return a table, a line a type."""
    width = max(len(row.type) for row in rows)
    head = f"{'type':<{width}}  questions  accuracy  95 % interval\n"
    return head + "".join(
        f"{row.type:<{width}}  {row.questions:>9}  {row.accuracy:8.3f}  [{row.low:.3f}, {row.high:.3f}]\n"
        for row in rows
    )


def types_object(rows: Sequence[TypeAccuracy]) -> dict[str, dict[str, Any]]:
    """Return the rows as plain values by type."""
    return {row.type: {name: value for name, value in row._asdict().items() if name != "type"} for row in rows}


def _row(name: str, right: Sequence[float]) -> TypeAccuracy:
    from scipy.stats import binomtest

    count = int(sum(right))
    interval = binomtest(count, len(right)).proportion_ci(0.95, "wilson")
    return TypeAccuracy(name, len(right), count / len(right), float(interval.low), float(interval.high))
