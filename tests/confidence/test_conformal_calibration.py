"""The conformal quantile: its place, its coverage by simulation, and against MAPIE."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta as beta_law
from scipy.stats import kstest

from evidencegym.confidence.conformal import calibrate
from evidencegym.confidence.conformal_calibration import (
    Bounds,
    conformal_rank,
    least_overlap,
    needed,
    score_bounds,
    trust_threshold,
)
from evidencegym.data.errors import ConfigError
from tests.confidence.made_chunks import ENDS, drawn, made


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 19), (0.01, 99), (0.1, 9), (0.2, 4), (0.5, 1), (0.3, 3)])
def test_how_many_chunks_an_alpha_needs(alpha: float, least: int) -> None:
    assert needed(alpha) == least
    assert conformal_rank(least, alpha) <= least
    with pytest.raises(ConfigError, match=rf"alpha {alpha} needs at least {least} correct chunks .* found {least - 1}"):
        conformal_rank(least - 1, alpha)


@pytest.mark.parametrize(
    ("count", "alpha", "rank"),
    [(19, 0.05, 19), (99, 0.01, 99), (100, 0.1, 91), (99, 0.1, 90), (9, 0.3, 7), (69, 0.7, 21)],
)
def test_the_place_is_exact(count: int, alpha: float, rank: int) -> None:
    assert conformal_rank(count, alpha) == rank


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan")])
def test_an_alpha_out_of_range(alpha: float) -> None:
    with pytest.raises(ConfigError, match="alpha must lie between 0 and 1"):
        conformal_rank(100, alpha)


@given(
    st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]), min_size=9, max_size=60), st.sampled_from([0.1, 0.2, 0.5])
)
def test_enough_scores_reach_the_threshold_ties_included(scores: list[float], alpha: float) -> None:
    threshold = trust_threshold(scores, alpha)
    trusted = sum(score >= threshold for score in scores)
    assert threshold in scores
    assert trusted >= (len(scores) + 1) * (1 - alpha) - 1e-9
    above = sum(score > threshold for score in scores)
    assert above < (len(scores) + 1) * (1 - alpha) + 1e-9


def coverages(alpha: float, count: int, runs: int) -> NDArray[np.float64]:
    """Return the coverage of each of many calibrations, known exactly since the scores are uniform on [0, 30]."""
    random = np.random.default_rng(7)
    made_ = (calibrate(drawn(random, count, "q"), ENDS, alpha, 5, "x").threshold for _ in range(runs))
    return 1 - np.fromiter(made_, np.float64)


@pytest.mark.parametrize(("alpha", "count"), [(0.05, 19), (0.1, 50), (0.2, 33)])
def test_coverage_of_exchangeable_scores_follows_its_exact_law(
    alpha: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evidencegym.confidence.conformal.diagnose", lambda *_: None)
    found = coverages(alpha, count, 2000)
    rank = conformal_rank(count, alpha)
    law = beta_law(rank, count + 1 - rank)
    assert law.mean() >= 1 - alpha
    assert found.mean() == pytest.approx(law.mean(), abs=4 * law.std() / np.sqrt(len(found)))
    assert kstest(found, law.cdf).pvalue > 0.001


def test_ties_only_raise_the_coverage() -> None:
    random = np.random.default_rng(2)
    kept = []
    for _ in range(3000):
        *scores, new = random.integers(0, 4, 20)
        kept.append(new >= trust_threshold(list(scores), 0.2))
    assert np.mean(kept) >= 0.8 - 4 * np.sqrt(0.16 / 3000)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.35])
def test_q_hat_is_that_of_mapie(alpha: float) -> None:
    mapie = pytest.importorskip("mapie.regression", reason="needs mapie, which the extra `test` brings")
    from sklearn.dummy import DummyRegressor

    zero = DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
    for count in (40, 101, 160):
        scores = np.random.default_rng(count).beta(3, 2, count)
        mapped = mapie.SplitConformalRegressor(
            zero, confidence_level=1 - alpha, conformity_score="absolute", prefit=True
        )
        mapped.conformalize(np.zeros((count, 1)), 1 - scores)
        _, interval = mapped.predict_interval(np.zeros((1, 1)))
        assert 1 - trust_threshold(list(scores), alpha) == pytest.approx(float(interval[0, 1, 0]), abs=1e-12)


def test_scores_beyond_the_bounds_count_as_the_bounds() -> None:
    bounds = score_bounds([made("a", [2.0, 6.0], [True, False]), made("b", [4.0], [True]), made("c", [], [])])
    assert bounds == Bounds(2.0, 6.0)
    assert [bounds.normalise(score) for score in (0.0, 2.0, 3.0, 6.0, 9.0)] == [0.0, 0.0, 0.25, 1.0, 1.0]


@pytest.mark.parametrize("scores", [[], [3.0, 3.0]])
def test_scores_without_a_range(scores: list[float]) -> None:
    with pytest.raises(ConfigError, match="at least two different ones"):
        score_bounds([made("a", scores, [True] * len(scores))])


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_scores_that_are_no_numbers(score: float) -> None:
    with pytest.raises(ConfigError, match="finite"):
        score_bounds([made("a", [1.0, score], [True, True])])


def test_the_least_overlap_is_a_quantile_over_wrong_documents() -> None:
    questions = [made("a", [1.0, 2.0, 3.0], [False, False, True], [0.1, 0.2, 0.9]), made("b", [1.0], [False], [0.3])]
    assert least_overlap(questions, 0.5) == pytest.approx(0.2)
    assert least_overlap(questions, 1.0) == pytest.approx(0.3)
    assert least_overlap(questions, None) == 0.0
    with pytest.raises(ConfigError, match="beta must be in"):
        least_overlap(questions, 1.5)
    with pytest.raises(ConfigError, match="no chunk from a wrong document"):
        least_overlap([made("a", [1.0], [True], [0.5])], 0.9)
