"""Fitting thresholds: bounds that are kept, ties, what is reported; compared with a search over all pairs."""

from itertools import pairwise, product
from math import isnan

import numpy as np
import pytest

from evidencegym.confidence.calibration import Judged, calibrate, verdict_table
from evidencegym.confidence.calibration_settings import CalibrationSettings
from evidencegym.confidence.verdicts import Thresholds, Verdict
from evidencegym.data.errors import ConfigError


def case(question: int, score: float, held: int, kind: str = "", wanted: int = 2) -> Judged:
    return Judged(f"q{question}", kind, (score - 0.1, score), held, wanted)


def drawn(count: int, seed: int, decimals: int) -> list[Judged]:
    """Return cases whose scores rise with what is held; few decimals make ties."""
    random = np.random.default_rng(seed)
    held = random.integers(0, 3, count).tolist()
    scores = np.clip(random.normal(np.array(held) - 1.0, 0.8) / 2, -1, 1).round(decimals).tolist()
    return [Judged(f"q{n // 2}", "ab"[n % 2], (score,), own, 2) for n, (score, own) in enumerate(zip(scores, held))]


def errors(judged: list[Judged], thresholds: Thresholds, means: str) -> tuple[float, float, int, int]:
    """Return both errors, how many verdicts are ambiguous, and how many are right."""
    given = [(thresholds.verdict(j.scores), j.truth) for j in judged]
    deserving = {"relevant": ("full", "some"), "complete": ("full",)}[means]
    undeserving = [verdict for verdict, truth in given if truth not in deserving]
    supported = [verdict for verdict, truth in given if truth != "none"]
    right = sum(
        (verdict is Verdict.CORRECT and truth in deserving) or (verdict is Verdict.INCORRECT and truth == "none")
        for verdict, truth in given
    )
    return (
        undeserving.count(Verdict.CORRECT) / max(1, len(undeserving)),
        supported.count(Verdict.INCORRECT) / max(1, len(supported)),
        sum(verdict is Verdict.AMBIGUOUS for verdict, _ in given),
        right,
    )


@pytest.mark.parametrize("means", ["relevant", "complete"])
@pytest.mark.parametrize(("seed", "decimals"), [(0, 1), (1, 1), (2, 6), (3, 6), (4, 0)])
def test_no_pair_within_the_bounds_is_better(means: str, seed: int, decimals: int) -> None:
    judged = drawn(40, seed, decimals)
    settings = CalibrationSettings(means, 0.2, 0.1)
    found = errors(judged, calibrate(judged, settings).thresholds, means)
    scores = sorted({max(j.scores) for j in judged})
    places = [-1.0, *((a + b) / 2 for a, b in pairwise(scores)), 1.0]
    tried = [
        errors(judged, Thresholds(upper, lower), means) for upper, lower in product(places, places) if lower <= upper
    ]
    best = min((ambiguous, -right) for wrong, missed, ambiguous, right in tried if wrong <= 0.2 and missed <= 0.1)
    assert found[0] <= 0.2 and found[1] <= 0.1
    assert (found[2], -found[3]) == best


def test_what_is_well_separated_leaves_nothing_ambiguous() -> None:
    judged = [case(n, 0.5 + n / 100, 2) for n in range(10)] + [case(20 + n, -0.5 - n / 100, 0) for n in range(10)]
    thresholds = calibrate(judged).thresholds
    assert thresholds == Thresholds(0.0, 0.0)
    assert [row.cases for row in calibrate(judged).table] == [10, 0, 10]


def test_equal_scores_are_never_parted() -> None:
    """Five of ten cases with one score hold nothing: no bound below one half lets them be called correct."""
    judged = [case(n, 0.25, 2 * (n % 2)) for n in range(10)]
    bounded = CalibrationSettings(correct_error=0.4, incorrect_error=0.4)
    assert calibrate(judged, bounded).thresholds == Thresholds(1, -1)
    free = calibrate(judged, CalibrationSettings(correct_error=1.0, incorrect_error=0.0)).thresholds
    assert free.verdict((0.25,)) is Verdict.CORRECT and free.lower == -1


def test_equally_good_thresholds_are_the_widest() -> None:
    """Nothing can be told apart, and both bounds are zero: the thresholds stand at the ends."""
    judged = [case(0, 0.9, 0), case(1, -0.9, 2), case(2, 0.0, 1)]
    assert calibrate(judged, CalibrationSettings("relevant", 0.0, 0.0)).thresholds == Thresholds(1.0, -1.0)


def test_complete_asks_for_more_than_relevant() -> None:
    judged = drawn(200, 7, 6)
    relevant = calibrate(judged, CalibrationSettings("relevant")).thresholds
    complete = calibrate(judged, CalibrationSettings("complete")).thresholds
    assert complete.upper > relevant.upper and complete.lower == relevant.lower


def test_the_order_of_the_cases_changes_no_threshold() -> None:
    judged = drawn(60, 3, 1)
    assert calibrate(judged[::-1]).thresholds == calibrate(judged).thresholds
    assert repr(calibrate(judged)) == repr(calibrate(judged))


def test_evidence_without_documents_is_incorrect_and_counts() -> None:
    judged = [Judged("q0", "", (), 0, 2), *(case(n, n / 10, 1) for n in range(1, 9))]
    found = calibrate(judged)
    assert [row.cases for row in found.table] == [8, 0, 1]


def test_the_table_counts_each_kind_and_clusters_by_question() -> None:
    judged = [
        case(1, 0.9, 2, "bridge"),
        case(1, 0.9, 1, "bridge"),
        case(2, 0.9, 0, "comparison"),
        case(3, 0.0, 1, "comparison"),
        case(4, -0.9, 0, "bridge"),
        case(5, -0.9, 1, "comparison"),
    ]
    rows = {(row.type, row.verdict): row for row in verdict_table(judged, Thresholds(0.5, -0.5))}
    assert list(rows) == [(kind, verdict) for kind in ("", "bridge", "comparison") for verdict in Verdict]
    correct = rows["", Verdict.CORRECT]
    assert (correct.cases, correct.truths) == (3, {"full": 1, "some": 1, "none": 1})
    assert correct.share.share == 0.5 and correct.accuracy.share == pytest.approx(2 / 3)
    assert correct.support_recall == pytest.approx((1 + 0.5 + 0) / 3)
    assert correct.accuracy.low < 2 / 3 < correct.accuracy.high
    assert rows["bridge", Verdict.CORRECT].accuracy.share == 1.0
    assert rows["", Verdict.INCORRECT].accuracy.share == 0.5
    assert isnan(rows["", Verdict.AMBIGUOUS].accuracy.share) and isnan(rows["bridge", Verdict.AMBIGUOUS].support_recall)
    strict = {(row.type, row.verdict): row for row in verdict_table(judged, Thresholds(0.5, -0.5), "complete")}
    assert strict["", Verdict.CORRECT].accuracy.share == pytest.approx(1 / 3)
    assert sum(row.share.share for kind, row in rows.items() if kind[0] == "") == pytest.approx(1)


def test_the_summary_is_plain() -> None:
    summary = calibrate(drawn(30, 1, 6), CalibrationSettings("complete", 0.25, 0.125)).summary()
    assert "all of the support is held" in summary["criterion"] and "0.25" in summary["criterion"]
    assert summary["settings"]["depths"] == [3, 6, 12]
    assert len(summary["measured"]) == 9
    ambiguous = summary["measured"][1]
    assert ambiguous["verdict"] == "ambiguous" and ambiguous["accuracy"] == [None, None, None]


@pytest.mark.parametrize("judged", [[], [case(0, 0.5, 0, wanted=0)]])
def test_questions_without_support_are_refused(judged: list[Judged]) -> None:
    with pytest.raises(ConfigError, match="annotated support"):
        calibrate(judged)


@pytest.mark.parametrize(
    "wrong",
    [
        {"correct_means": "true"},
        {"correct_error": 1.5},
        {"incorrect_error": float("nan")},
        {"depths": ()},
        {"depths": (0, 3)},
        {"depths": (6, 3)},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="calibration"):
        CalibrationSettings(**wrong)  # type: ignore[arg-type]
