"""From calibration questions to the score above which chunks are trusted (2605.05244)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from ..data.errors import ConfigError
from .chunks import ScoredChunks


class Bounds(NamedTuple):
    """The lowest and the highest score of a fold that normalisation goes by."""

    low: float
    high: float

    def normalise(self, score: float) -> float:
        """Return a score on the scale from 0 to 1; one beyond a bound counts as the bound."""
        return min(1.0, max(0.0, (score - self.low) / (self.high - self.low)))


def score_bounds(questions: Iterable[ScoredChunks]) -> Bounds:
    """Return the global bounds of the scores.

    Raises:
        ConfigError: if there are no two different finite scores.
    """
    scores = [score for question in questions for score in question.scores]
    if not np.isfinite(scores).all():
        raise ConfigError("scores to calibrate on must be finite numbers; look at the retriever or evaluator")
    if not scores or min(scores) == max(scores):
        raise ConfigError(
            f"scores cannot be normalised: expected at least two different ones, found {len(set(scores))}; "
            "take more questions, or another retriever"
        )
    return Bounds(min(scores), max(scores))


def least_overlap(questions: Iterable[ScoredChunks], beta: float | None) -> float:
    """Return s_thres, the ``beta`` quantile of RougeL over chunks from wrong documents; 0 where beta is None.

    Raises:
        ConfigError: if beta is out of [0, 1], or there is no chunk from a wrong document.
    """
    if beta is None:
        return 0.0
    if not 0 <= beta <= 1:
        raise ConfigError(f"beta must be in [0, 1], found {beta}")
    wrong = [o for question in questions for o, right in zip(question.overlaps, question.right) if not right]
    if not wrong:
        raise ConfigError("no chunk from a wrong document to set s_thres by; leave beta out where the document decides")
    return float(np.quantile(wrong, beta))


def needed(alpha: float) -> int:
    """Return how many calibration scores ``alpha`` needs at least: 19 at .05, 99 at .01.

    Raises:
        ConfigError: if alpha is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha must lie between 0 and 1, found {alpha}")
    return ceil(1 / _exact(alpha)) - 1


def conformal_rank(count: int, alpha: float, what: str = "correct chunks") -> int:
    """Return ceil((n + 1) (1 - alpha)), the place of the conformal quantile among n sorted scores, from 1.

    Computed exactly on alpha's decimal digits, so that no rounding moves it.

    Raises:
        ConfigError: if n is too small: the place would lie beyond the last score.
    """
    if count < (least := needed(alpha)):
        raise ConfigError(
            f"alpha {alpha} needs at least {least} {what} to calibrate on, found {count}; take more questions, or a "
            "larger alpha"
        )
    return count + 1 - floor((count + 1) * _exact(alpha))


def trust_threshold(correct_scores: Sequence[float], alpha: float) -> float:
    """Return 1 - q_hat, where q_hat is the conformal quantile of 1 - score over correct chunks.

    It is one of the scores itself, so that a chunk with that very score is trusted; with q_hat and the subtraction
    rounding could part them.

    Args:
        correct_scores: normalised scores of correct chunks, in any order.
        alpha: allowed share of correct chunks that are not trusted.

    Raises:
        ConfigError: if there are too few, see :func:`conformal_rank`.
    """
    return sorted(correct_scores, reverse=True)[conformal_rank(len(correct_scores), alpha) - 1]


def _exact(alpha: float) -> Fraction:
    return Fraction(repr(float(alpha)))
