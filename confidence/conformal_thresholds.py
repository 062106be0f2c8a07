"""Thresholds of the gate's verdicts with a conformal guarantee each, from an evaluator's scores."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.errors import ConfigError
from .chunks import ScoredChunks
from .conformal_calibration import conformal_rank
from .verdicts import Thresholds, checked


def conformal_thresholds(
    questions: Sequence[ScoredChunks], alpha: float = 0.1, alpha_lower: float | None = None, least_overlap: float = 0.0
) -> Thresholds:
    """Return thresholds on an evaluator's scores, calibrated on whole questions.

    For a further question that is exchangeable with these, and as many texts:

    - upper: with probability at least 1 - ``alpha`` no wrong text lies above it, so that at most a share ``alpha`` of
      the questions gets the verdict "correct" without holding a correct text. It is the conformal quantile of the best
      score among a question's wrong texts.
    - lower: of the questions that hold a correct text, at most a share ``alpha_lower`` gets the verdict "incorrect". It
      is the conformal quantile, from below, of the best score among all texts of such a question.

    Each question gives one number, so nothing is clustered here. A lower threshold above the upper one means that any
    threshold between them keeps both promises; both are then their mean.

    Args:
        questions: what the evaluator scored, in [-1, 1]; see ``evaluated_chunks``.
        alpha: for the upper threshold, between 0 and 1.
        alpha_lower: for the lower one; ``alpha`` when None.
        least_overlap: s_thres, as in a calibration.

    Raises:
        ConfigError: if there are too few questions, or a score is out of [-1, 1].
    """
    if any(not -1 <= score <= 1 for question in questions for score in question.scores):
        raise ConfigError("an evaluator's scores lie in [-1, 1]; found others, such as a retriever's")
    masks = [question.correct(least_overlap) for question in questions]
    wrong = [_best_wrong(question, mask) for question, mask in zip(questions, masks)]
    answerable = [max(question.scores) for question, mask in zip(questions, masks) if any(mask)]
    under = alpha if alpha_lower is None else alpha_lower
    upper = sorted(wrong)[conformal_rank(len(wrong), alpha, "questions") - 1]
    rank = conformal_rank(len(answerable), under, "questions with a correct text among those found")
    lower = sorted(answerable, reverse=True)[rank - 1]
    return checked(upper, lower) if lower <= upper else checked(*[(upper + lower) / 2] * 2)


def _best_wrong(question: ScoredChunks, correct: Sequence[bool]) -> float:
    """Return the best score of the texts that are not correct, the lowest possible one without any."""
    return max((score for score, counts in zip(question.scores, correct) if not counts), default=-1.0)
