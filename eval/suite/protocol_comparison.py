"""The comparison of one protocol: means with intervals, and the learned controller's paired tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..analysis import Analysis, Plot, Row, spread, spread_columns
from ..protocols import LEARNED
from ..statistics import Interval, bootstrap_columns, holm, sign_flip_p
from .protocols import TITLES
from .scores import COLUMNS, Scores

TESTED = ("support_recall", "answer_f1")
MEANS = ("support_recall", "answer_f1", "answer_em", "retrievals", "documents", "tokens")


class PairedTest(NamedTuple):
    """A paired test of the learned controller against a baseline.

    Attributes:
        baseline: its name.
        column: what is compared.
        difference: learned minus baseline.
        p: of the sign-flip permutation test.
        p_holm: corrected over the family.
    """

    baseline: str
    column: str
    difference: Interval
    p: float
    p_holm: float


@dataclass(frozen=True)
class ProtocolComparison:
    """The comparison of one data set under one protocol.

    Attributes:
        dataset: its name.
        protocol: its name.
        questions: number of questions.
        means: method -> column -> mean with interval.
        tests: the paired tests, by baseline and column; none without the learned controller.
        seeds: method -> number of seeds, where there are several.
    """

    dataset: str
    protocol: str
    questions: int
    means: dict[str, dict[str, Interval]]
    tests: tuple[PairedTest, ...]
    seeds: dict[str, int]

    def means_table(self) -> Analysis:
        """Return the table of methods."""
        elsewhere = any(own["external_searches"].mean for own in self.means.values())
        shown = [*MEANS[:4], *(["external_searches"] if elsewhere else []), *MEANS[4:]]
        columns = [("method", "method"), *(part for name in shown for part in spread_columns(name, COLUMNS[name]))]
        rows: list[Row] = []
        for method, own in self.means.items():
            row: Row = {"method": method}
            for name in shown:
                row |= spread(name, own[name])
            rows.append(row)
        intervals = "95 % percentile bootstrap intervals over questions"
        asks = f"{self.questions} questions; means with {intervals}{self._seeded()}."
        plot = Plot("method", "support_recall", "", "support_recall_low", "support_recall_high")
        return Analysis(f"means_{self.protocol}", f"{self._title}: methods", asks, columns, rows, plot)

    def tests_table(self) -> Analysis:
        """Return the table of paired tests."""
        columns = [("baseline", "baseline")]
        for name in TESTED:
            columns += spread_columns(name, f"Δ {COLUMNS[name]}")
            columns += [(f"{name}_p", "p"), (f"{name}_p_holm", "p (Holm)")]
        rows: dict[str, Row] = {}
        for test in self.tests:
            row = rows.setdefault(test.baseline, {"baseline": test.baseline})
            row |= spread(test.column, test.difference)
            row |= {f"{test.column}_p": test.p, f"{test.column}_p_holm": test.p_holm}
        asks = (
            f"{LEARNED} minus the baseline, paired by question ({self.questions} questions): 95 % paired bootstrap "
            "interval, two-sided p of a sign-flip permutation test (9,999 flips), and p corrected by Holm's step-down "
            f"procedure over the family of {len(self.tests)} tests: all baselines of this table x support recall and "
            "F1, for this data set and protocol"
        )
        plot = Plot("baseline", "support_recall", "", "support_recall_low", "support_recall_high")
        title = f"{self._title}: {LEARNED} minus each baseline"
        return Analysis(f"tests_{self.protocol}", title, f"{asks}.", columns, list(rows.values()), plot)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "questions": self.questions,
            "means": {m: {c: v._asdict() for c, v in own.items()} for m, own in self.means.items()},
            "tests": [{**test._asdict(), "difference": test.difference._asdict()} for test in self.tests],
            "seeds": self.seeds,
        }

    @property
    def _title(self) -> str:
        return TITLES[self.protocol].capitalize()

    def _seeded(self) -> str:
        if not self.seeds:
            return ""
        return "; " + ", ".join(f"{name}: mean of {number} seeds" for name, number in self.seeds.items())


def compare_protocol(dataset: str, protocol: str, methods: Mapping[str, Scores], seed: int = 0) -> ProtocolComparison:
    """Compare the methods of a protocol; all see the same resamples.

    Args:
        dataset: its name.
        protocol: its name.
        methods: name -> scores on the same questions, at least one.
        seed: of resamples and flips.
    """
    stacked = np.concatenate([own.values for own in methods.values()], axis=1)
    found = iter(bootstrap_columns(stacked, seed))
    means = {method: {name: next(found) for name in COLUMNS} for method in methods}
    seeds = {name: own.seeds for name, own in methods.items() if own.seeds > 1}
    questions = len(next(iter(methods.values())).uids)
    return ProtocolComparison(dataset, protocol, questions, means, paired_tests(methods, seed), seeds)


def paired_tests(methods: Mapping[str, Scores], seed: int = 0) -> tuple[PairedTest, ...]:
    """Return the tests of the learned controller against all others, corrected as one family."""
    if LEARNED not in methods or len(methods) < 2:
        return ()
    learned = methods[LEARNED]
    family = [(name, column) for name in methods if name != LEARNED for column in TESTED]
    differences = np.stack([learned.column(c) - methods[name].column(c) for name, c in family], axis=1)
    intervals, p_values = bootstrap_columns(differences, seed), sign_flip_p(differences, seed)
    found = zip(family, intervals, p_values, holm(p_values))
    return tuple(PairedTest(name, column, interval, p, p_holm) for (name, column), interval, p, p_holm in found)
