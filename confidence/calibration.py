"""Fitting both thresholds to labelled questions, and what the verdicts are worth there.

A verdict hangs on the largest score alone. The error of a correct verdict is bounded over the evidence that does not
deserve it, that of an incorrect one over the evidence that holds support, so that thresholds do not hang on how often
retrieval fails; within the bounds as few verdicts as possible are ambiguous, then as many as possible right.

Thresholds lie halfway between neighbouring largest scores, or at -1 or 1. Of equally good ones the largest upper one
and the smallest lower one are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError
from .calibration_settings import CalibrationSettings
from .clustered import Share, clustered_share
from .verdicts import Thresholds, Verdict

Column = NDArray[np.float64]
FULL, SOME, NONE = "full", "some", "none"
_CORRECT = {"relevant": {FULL, SOME}, "complete": {FULL}}
"""Which evidence deserves a correct verdict, by what it means; an incorrect one is deserved where none is held."""


class Judged(NamedTuple):
    """A body of evidence with its scores and its truth.

    Attributes:
        question: names the question; evidence of one question is one cluster.
        type: the data set's name of the kind of question.
        scores: one for each document, in [-1, 1].
        held: how many of the supporting documents are among them.
        wanted: how many there are, at least 1.
    """

    question: str
    type: str
    scores: tuple[float, ...]
    held: int
    wanted: int

    @property
    def truth(self) -> str:
        """Whether full, some or none of the support is held."""
        return NONE if self.held == 0 else FULL if self.held >= self.wanted else SOME


class VerdictRow(NamedTuple):
    """What a verdict is worth on one kind of question.

    Attributes:
        type: the kind of question; empty for all together.
        verdict: the verdict.
        cases: bodies of evidence that got it.
        share: of all of this kind.
        accuracy: share of those with this verdict that deserve it; nan for ambiguous, which claims nothing.
        support_recall: mean share of the support that they hold; nan where there are none.
        truths: how many of them hold full, some, none of it.
    """

    type: str
    verdict: Verdict
    cases: int
    share: Share
    accuracy: Share
    support_recall: float
    truths: dict[str, int]


class Calibration(NamedTuple):
    """Fitted thresholds, and what was measured on the evidence that they were fitted to.

    Attributes:
        thresholds: the fitted ones.
        settings: how they were fitted.
        table: one row for each verdict, first over all questions, then by type in alphabetical order.
    """

    thresholds: Thresholds
    settings: CalibrationSettings
    table: tuple[VerdictRow, ...]

    def summary(self) -> dict[str, Any]:
        """Return what is stored beside the thresholds, as JSON holds it; nan becomes null."""
        settings = {**asdict(self.settings), "depths": list(self.settings.depths)}
        measured = [_plain(row) for row in self.table]
        return {"criterion": self.settings.criterion, "settings": settings, "measured": measured}


def calibrate(judged: Sequence[Judged], settings: CalibrationSettings | None = None, seed: int = 0) -> Calibration:
    """Fit thresholds by the criterion of the settings; the order of ``judged`` changes nothing but the intervals.

    The scores must come from an evaluator that was not fitted on these questions.

    Args:
        judged: bodies of evidence.
        settings: criterion and bounds.
        seed: of the bootstrap over questions that gives the intervals.

    Raises:
        ConfigError: if there is no evidence, or no supporting document is annotated for some.
    """
    chosen = settings or CalibrationSettings()
    if not judged or any(case.wanted < 1 for case in judged):
        raise ConfigError("calibration needs questions with annotated support; leave those without it out")
    thresholds = _fitted(judged, chosen)
    return Calibration(thresholds, chosen, verdict_table(judged, thresholds, chosen.correct_means, seed))


def verdict_table(
    judged: Sequence[Judged], thresholds: Thresholds, correct_means: str = "relevant", seed: int = 0
) -> tuple[VerdictRow, ...]:
    """Return shares and accuracy of each verdict over all evidence and by type, with 95 % intervals by question."""
    types = sorted({case.type for case in judged} - {""})
    groups = {"": list(judged)} | {kind: [case for case in judged if case.type == kind] for kind in types}
    kinds = [(kind, group, verdict) for kind, group in groups.items() for verdict in Verdict]
    return tuple([_row(kind, group, verdict, thresholds, correct_means, seed) for kind, group, verdict in kinds])


def _row(
    kind: str, group: Sequence[Judged], verdict: Verdict, thresholds: Thresholds, correct_means: str, seed: int
) -> VerdictRow:
    given = [thresholds.verdict(case.scores) is verdict for case in group]
    claims = {Verdict.CORRECT: _CORRECT[correct_means], Verdict.INCORRECT: {NONE}}.get(verdict)
    right = [got and claims is not None and case.truth in claims for case, got in zip(group, given)]
    with_it = [case for case, got in zip(group, given) if got]
    recall = [case.held / case.wanted for case in with_it]
    truths = [case.truth for case in with_it]
    return VerdictRow(
        kind,
        verdict,
        sum(given),
        _clustered(group, given, [True] * len(group), seed),
        _clustered(group, right, given if claims else [False] * len(group), seed),
        float(np.mean(recall)) if recall else float("nan"),
        {truth: truths.count(truth) for truth in (FULL, SOME, NONE)},
    )


def _clustered(group: Sequence[Judged], parts: Sequence[bool], totals: Sequence[bool], seed: int) -> Share:
    sums: dict[str, list[int]] = {}
    for case, part, total in zip(group, parts, totals):
        known = sums.setdefault(case.question, [0, 0])
        known[0] += part
        known[1] += total
    return clustered_share([part for part, _ in sums.values()], [total for _, total in sums.values()], seed)


def _fitted(judged: Sequence[Judged], settings: CalibrationSettings) -> Thresholds:
    best = np.array([max(case.scores, default=-np.inf) for case in judged])
    finite = np.unique(best[np.isfinite(best)])
    candidates = np.unique(np.concatenate([[-1.0], (finite[1:] + finite[:-1]) / 2, [1.0]]))
    claimed = _CORRECT[settings.correct_means]
    deserves = np.array([case.truth in claimed for case in judged])
    empty = np.array([case.truth == NONE for case in judged])
    upper = _worth(best, deserves, settings.correct_error, candidates)
    lower = _worth(-best, empty, settings.incorrect_error, -candidates)
    return _best(candidates, upper, lower)


def _worth(best: Column, deserves: NDArray[np.bool_], error: float, candidates: Column) -> Column:
    """Return how many cases lie above each candidate, right ones a little more; -inf where too many wrong ones do."""
    right, wrong = (len(own) - np.searchsorted(own, candidates, side="right") for own in _sorted(best, deserves))
    allowed = wrong <= error * np.sum(~deserves)
    worth: Column = np.where(allowed, right + wrong + right / (len(best) + 1), -np.inf)
    return worth


def _sorted(best: Column, deserves: NDArray[np.bool_]) -> tuple[Column, Column]:
    return np.sort(best[deserves]), np.sort(best[~deserves])


def _best(candidates: Column, upper: Column, lower: Column) -> Thresholds:
    """Return the pair with the largest sum of worths among those whose lower one is not above the upper one."""
    reached = np.maximum.accumulate(lower)
    firsts = np.searchsorted(reached, reached, side="left")
    together = np.round(upper + reached, 9)
    chosen = len(together) - 1 - int(np.argmax(together[::-1]))
    return Thresholds(float(candidates[chosen]), float(candidates[firsts[chosen]]))


def _plain(row: VerdictRow) -> dict[str, Any]:
    shares = {name: [_number(value) for value in getattr(row, name)[:3]] for name in ("share", "accuracy")}
    return {**row._asdict(), **shares, "verdict": row.verdict.value, "support_recall": _number(row.support_recall)}


def _number(value: float) -> float | None:
    return None if isnan(value) else round(value, 4)
