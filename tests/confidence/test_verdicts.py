"""Thresholds and their verdicts: both sides, ties included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.confidence.thresholded import ThresholdedEvaluator
from evidencegym.confidence.verdicts import PUBLISHED, Thresholds, Verdict, checked
from evidencegym.data.errors import ConfigError
from tests.judges import OverlapEvaluator

CUTS = Thresholds(0.5, -0.5)
SCORES = st.lists(st.floats(-1, 1), max_size=6)


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((0.6, -1.0), Verdict.CORRECT),
        ((0.5, -1.0), Verdict.AMBIGUOUS),
        ((-0.5, -1.0), Verdict.AMBIGUOUS),
        ((-0.6, -1.0), Verdict.INCORRECT),
        ((-0.6, 0.0), Verdict.AMBIGUOUS),
        ((), Verdict.INCORRECT),
    ],
)
def test_a_score_at_a_threshold_is_on_neither_side(scores: tuple[float, ...], verdict: Verdict) -> None:
    assert CUTS.verdict(scores) is verdict


def test_equal_thresholds_leave_only_the_tie_ambiguous() -> None:
    assert [Thresholds(0.0, 0.0).verdict([score]) for score in (0.1, 0.0, -0.1)] == list(Verdict)


@given(SCORES, st.floats(-1, 1))
def test_a_further_document_never_makes_evidence_worse(scores: list[float], more: float) -> None:
    order = [Verdict.INCORRECT, Verdict.AMBIGUOUS, Verdict.CORRECT]
    assert order.index(CUTS.verdict([*scores, more])) >= order.index(CUTS.verdict(scores))


@pytest.mark.parametrize("pair", [(-0.5, 0.5), (1.5, 0.0), (0.0, -1.5), (float("nan"), 0.0)])
def test_thresholds_out_of_order_or_range_are_refused(pair: tuple[float, float]) -> None:
    with pytest.raises(ConfigError, match="lower <= upper"):
        checked(*pair)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_pairs_are_valid(name: str) -> None:
    assert checked(*PUBLISHED[name]) == PUBLISHED[name]


def test_given_thresholds_change_the_fingerprint_and_not_the_scores() -> None:
    bare = OverlapEvaluator(None)
    low, high = (ThresholdedEvaluator(bare, Thresholds(cut, -0.5)) for cut in (0.1, 0.2))
    assert len({bare.fingerprint, low.fingerprint, high.fingerprint}) == 3
    assert low.score([]) == high.score([]) == bare.score([])
