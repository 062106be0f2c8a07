"""Thresholds of the verdicts: what each promises, by simulation, and its errors."""

import numpy as np
import pytest

from evidencegym.confidence.chunks import ScoredChunks
from evidencegym.confidence.conformal_thresholds import conformal_thresholds
from evidencegym.confidence.verdicts import Thresholds, Verdict
from evidencegym.data.errors import ConfigError
from tests.confidence.made_chunks import made


def judged(random: np.random.Generator, questions: int) -> list[ScoredChunks]:
    """Return questions with none to two correct texts of five, correct ones scored higher on the whole."""
    found = []
    for number, count in enumerate(random.integers(0, 3, questions)):
        right = [place < int(count) for place in range(5)]
        scores = [float(np.tanh(random.normal(0.5 if is_right else -0.5, 0.5))) for is_right in right]
        found.append(made(f"q{number}", scores, right))
    return found


@pytest.mark.parametrize(("alpha", "alpha_lower"), [(0.1, 0.1), (0.2, 0.05)])
def test_verdicts_err_no_more_than_promised(alpha: float, alpha_lower: float) -> None:
    random = np.random.default_rng(0)
    unfounded, lost = [], []
    for _ in range(40):
        thresholds = conformal_thresholds(judged(random, 60), alpha, alpha_lower)
        for question in judged(random, 100):
            verdict = thresholds.verdict(question.scores)
            if any(question.right):
                lost.append(verdict is Verdict.INCORRECT)
            unfounded.append(verdict is Verdict.CORRECT and not any(question.right))
    assert np.mean(unfounded) <= alpha + 0.02
    assert np.mean(lost) == pytest.approx(alpha_lower, abs=0.025)


def test_each_threshold_is_a_conformal_quantile() -> None:
    wrong = [-(n / 100) for n in range(20)]
    questions = [made(str(n), [score, 0.5 + n / 100], [False, True]) for n, score in enumerate(wrong)]
    assert conformal_thresholds(questions, 0.1, 0.3) == Thresholds(*[(-0.01 + 0.55) / 2] * 2)
    none = [made(f"none{n}", [0.9], [False]) for n in range(10)]
    found = conformal_thresholds([*questions, *none], 0.1, 0.3)
    assert found.upper == 0.9 and found.lower == pytest.approx(0.55)


def test_a_score_at_a_threshold_is_on_neither_side() -> None:
    ties = [made(str(n), [0.25, 0.25], [False, True]) for n in range(20)]
    thresholds = conformal_thresholds(ties, 0.1)
    assert thresholds == Thresholds(0.25, 0.25)
    assert thresholds.verdict([0.25, 0.25]) is Verdict.AMBIGUOUS


def test_questions_without_texts_count_for_the_upper_threshold_only() -> None:
    questions = [made(str(n), [0.5, -0.5], [True, False]) for n in range(9)]
    empty = [made(f"e{n}", [], []) for n in range(9)]
    assert conformal_thresholds([*questions, *empty], 0.1, 0.1) == Thresholds(0.0, 0.0)


def test_too_few_questions() -> None:
    questions = [made(str(n), [0.5, -0.5], [n < 8, False]) for n in range(12)]
    with pytest.raises(ConfigError, match=r"alpha 0\.1 needs at least 9 questions with a correct text .* found 8"):
        conformal_thresholds(questions, 0.1)
    with pytest.raises(ConfigError, match=r"alpha 0\.05 needs at least 19 questions to calibrate on, found 12"):
        conformal_thresholds(questions, 0.05)


def test_scores_of_a_retriever() -> None:
    with pytest.raises(ConfigError, match=r"lie in \[-1, 1\]"):
        conformal_thresholds([made(str(n), [12.5], [True]) for n in range(30)])


def test_a_least_overlap_makes_texts_wrong() -> None:
    questions = [made(str(n), [0.8, 0.1], [True, True], [0.1, 0.9]) for n in range(20)]
    assert conformal_thresholds(questions, 0.1).upper < 0.8
    assert conformal_thresholds(questions, 0.1, least_overlap=0.5) == Thresholds(0.8, 0.8)
