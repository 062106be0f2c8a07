"""The comparison table: every method's means with intervals, and the learned controller's paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError
from .results import failures_of
from .statistics import Interval, bootstrap_columns

Results = Sequence[Mapping[str, Any]]

COLUMNS: tuple[tuple[str, str], ...] = (
    ("support_recall", "support recall"),
    ("full_support", "all support"),
    ("answer_f1", "F1"),
    ("answer_em", "EM"),
    ("documents", "documents"),
    ("retrievals", "retrievals"),
    ("tokens", "tokens"),
    ("generator_calls", "calls"),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Numbers of one protocol.

    Attributes:
        title: what was compared.
        means: method -> column -> mean with interval.
        differences: method -> column -> reference minus method, paired by question.
        reference: the method that the others are compared with.
        questions: number of questions.
        failures: method -> operation -> how often it failed, by name; empty where nothing did.
    """

    title: str
    means: dict[str, dict[str, Interval]]
    differences: dict[str, dict[str, Interval]]
    reference: str
    questions: int
    failures: dict[str, dict[str, int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values for JSON; failures only where there are any."""
        plain = {m: {c: v._asdict() for c, v in row.items()} for m, row in self.means.items()}
        paired = {m: {c: v._asdict() for c, v in row.items()} for m, row in self.differences.items()}
        return {
            "title": self.title,
            "questions": self.questions,
            "reference": self.reference,
            "means": plain,
            "differences": paired,
        } | ({"failures": self.failures} if self.failures else {})


def column(results: Results, name: str) -> NDArray[np.float64]:
    """Return (questions,) the values of a column.

    ``documents``: passages held; ``tokens``: read and written; other names: a metric or a kind of cost.
    """
    return np.array([value_of(result, name) for result in results], np.float64)


def value_of(result: Mapping[str, Any], name: str) -> float:
    """Return the value of one result in a column, see :func:`column`."""
    if name == "documents":
        return float(len(result["passages"]))
    if name == "retrievals":  # a search is a search, wherever it is made
        return float(result["cost"]["retrievals"] + result["cost"].get("external_searches", 0))
    if name == "tokens":
        return float(result["cost"]["prompt_tokens"] + result["cost"]["completion_tokens"])
    return float(result["metrics"][name] if name in result["metrics"] else result["cost"][name])


def compare(title: str, results: Mapping[str, Results], reference: str, seed: int = 0) -> Comparison:
    """Compare methods that ran on the same questions in the same order.

    Args:
        title: what is compared.
        results: method -> per-question results.
        reference: the method whose differences to the others are taken.
        seed: seed of the bootstrap.

    Raises:
        ConfigError: if the methods hold other questions, or another order.
    """
    _check_paired(results)
    columns = {method: _matrix(rows) for method, rows in results.items()}
    means = _intervals(columns, seed)
    others = {m: columns[reference] - own for m, own in columns.items() if m != reference and reference in columns}
    differences = _intervals(others, seed)
    failures = {
        method: dict(sorted(failed.items())) for method, rows in results.items() if (failed := failures_of(rows))
    }
    return Comparison(title, means, differences, reference, len(next(iter(results.values()), [])), failures)


def _matrix(results: Results) -> NDArray[np.float64]:
    """Return (questions, columns) float64, in the order of ``COLUMNS``."""
    return np.stack([column(results, name) for name, _ in COLUMNS], axis=1)


def _intervals(methods: Mapping[str, NDArray[np.float64]], seed: int) -> dict[str, dict[str, Interval]]:
    """Return the intervals of all columns of all methods, from the same resamples."""
    if not methods:
        return {}
    found = iter(bootstrap_columns(np.concatenate(list(methods.values()), axis=1), seed))
    return {method: {name: next(found) for name, _ in COLUMNS} for method in methods}


def _check_paired(results: Mapping[str, Results]) -> None:
    asked = {method: [row["uid"] for row in rows] for method, rows in results.items()}
    first = next(iter(asked), "")
    other = [method for method, uids in asked.items() if uids != asked[first]]
    if other:
        raise ConfigError(f"cannot pair {', '.join(other)} with {first}: they hold other questions, or another order")


def matched(results_by_k: Mapping[int, Results], retrievals: float, name: str) -> NDArray[np.float64]:
    """Return (questions,) what a baseline would score at a mean of ``retrievals``.

    It is the baseline with k retrievals on a share of the questions and k + 1 on the rest, in expectation: the values
    at the two neighbouring k, interpolated question by question. Outside the range of k the nearest one is taken.
    """
    ks = sorted(results_by_k)
    means = [float(column(results_by_k[k], "retrievals").mean()) for k in ks]
    values = [column(results_by_k[k], name) for k in ks]
    if retrievals <= means[0]:
        return values[0]
    for low, high, a, b in zip(means, means[1:], values, values[1:]):
        if retrievals <= high:
            share = (retrievals - low) / (high - low)
            return np.asarray((1 - share) * a + share * b, np.float64)
    return values[-1]
