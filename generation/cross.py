"""Associations between what a question asks and how a candidate stands in its text: a hashed conditional logit.

Each pair (question cue, candidate cue) has one weight in a table; a candidate's score is the sum over its pairs.
Weights are fitted by stochastic gradient (AdaGrad) on the listwise loss: the cross-entropy between a softmax over a
question's candidates and the share of each in being right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

TABLE_BITS = 16


class ChoiceSet(NamedTuple):
    """The candidates of one question.

    Attributes:
        question_cues: (Q,) int64.
        cues: (candidates, C) int64.
        target: (candidates,) float64, summing to 1: where the probability should go.
        offset: (candidates,) float64, a fixed score that is added.
    """

    question_cues: NDArray[np.int64]
    cues: NDArray[np.int64]
    target: NDArray[np.float64]
    offset: NDArray[np.float64]


def cross_scores(
    table: NDArray[np.float32], question_cues: NDArray[np.int64], cues: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the score of each candidate, shape (candidates,)."""
    out = np.zeros(len(cues), np.float64)
    if len(cues):
        _scores(table, question_cues[question_cues != 0], cues, out)
    return out


def fit_cross(
    sets: Sequence[ChoiceSet], seed: int, epochs: int = 6, rate: float = 0.05, l2: float = 1e-2
) -> NDArray[np.float32]:
    """Fit a table of 2^16 weights; the same sets and seed give the same table."""
    table = np.zeros(1 << TABLE_BITS, np.float32)
    squares = np.full(1 << TABLE_BITS, 1e-2, np.float32)
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        for i in random.permutation(len(sets)):
            asked, cues, target, offset = sets[i]
            asked = asked[asked != 0]
            scores = cross_scores(table, asked, cues) + offset
            weights = np.exp(scores - scores.max())
            _step(table, squares, asked, cues, weights / weights.sum() - target, rate, l2)
    return table


@njit(cache=True)
def _slot(a, b):  # type: ignore[no-untyped-def]
    x = (a * 0x9E3779B1 + b * 0x85EBCA6B) & 0xFFFFFFFFFFFF
    x ^= x >> 17
    x = (x * 0x2C1B3C6D) & 0xFFFFFFFFFFFF
    x ^= x >> 13
    return x & 0xFFFF


@njit(cache=True)
def _scores(table, asked, cues, out):  # type: ignore[no-untyped-def]
    for r in range(cues.shape[0]):
        total = 0.0
        for j in range(cues.shape[1]):
            if cues[r, j] != 0:
                for q in asked:
                    total += table[_slot(q, cues[r, j])]
        out[r] = total


@njit(cache=True)
def _step(table, squares, asked, cues, gradient, rate, l2):  # type: ignore[no-untyped-def]
    for r in range(cues.shape[0]):
        g0 = gradient[r]
        if abs(g0) < 1e-4:
            continue
        for j in range(cues.shape[1]):
            if cues[r, j] != 0:
                for q in asked:
                    s = _slot(q, cues[r, j])
                    g = g0 + l2 * table[s]
                    squares[s] += g * g
                    table[s] -= rate * g / np.sqrt(squares[s])
