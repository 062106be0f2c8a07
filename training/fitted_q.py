"""Targets over several steps: tree-based fitted Q iteration, and Q(lambda) over the trajectories that were followed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..controllers.action_rows import action_rows, count_columns
from ..data.trees import TreeArrays
from .forests import Forest, out_of_fold, question_folds
from .returns import Transitions


class Iteration:
    """One step of Q iteration: from targets to the value of the best operation in each successor.

    Args:
        moves: the transitions.
        feature_names: names of the features.
        operations: names of the operation set.
        costs: (operations, cost features), the expected costs as a forest reads them.
        forest: how the forests are grown.
        folds: folds of questions; a successor is valued by forests grown on the questions of the other folds.
        fold_seed: seed of the folds.
    """

    def __init__(
        self,
        moves: Transitions,
        feature_names: Sequence[str],
        operations: Sequence[str],
        costs: NDArray[np.float64],
        forest: Forest,
        folds: int,
        fold_seed: int,
    ) -> None:
        self._counts = count_columns(feature_names, operations)
        self._costs = costs
        self._forest = forest
        self._n_folds = folds
        self._folds = question_folds(moves.questions, folds, fold_seed)
        self._moves = moves
        self._rows = action_rows(moves.features, moves.operations, self._counts, costs)

    def best_next(self, target: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (rows,) max over a' valid in s' of Q(s', a'), Q fitted to ``target``; 0 where the episode is over."""
        return out_of_fold(
            lambda kept: self._forest.fit(self._rows[kept], target[kept]), self._best, self._folds, self._n_folds
        )

    def _best(self, model: TreeArrays, asked: NDArray[np.bool_]) -> NDArray[np.float64]:
        mask = self._moves.next_mask[asked]
        at, operation = np.nonzero(mask)
        rows = action_rows(self._moves.next_features[asked][at], operation.astype(np.int64), self._counts, self._costs)
        values = np.full(mask.shape, -np.inf)
        values[at, operation] = model.predict(rows)
        return np.where(mask.any(axis=1), values.max(axis=1), 0.0)


def fitted_q(moves: Transitions, discount: float, iteration: Iteration) -> NDArray[np.float64]:
    """Return (rows,) the targets of the last of as many iterations as the longest episode has decisions.

    Q_1 is fitted to the immediate rewards, Q_{k+1} to r + discount * max over a' valid in s' of Q_k(s', a'), where the
    episode goes on. With n decisions left at most, Q_n looks as far ahead as there is anything to see.

    Source: Ernst, Geurts & Wehenkel 2005, *Tree-Based Batch Mode Reinforcement Learning*, figure 1. Deviation: a
    successor is valued by forests that have not seen its question, which takes off part of the optimism of the maximum.
    """
    target = moves.rewards
    for _ in range(moves.horizon - 1):
        target = moves.rewards + discount * iteration.best_next(target)
    return target


def q_lambda(moves: Transitions, discount: float, trace: float, iteration: Iteration) -> NDArray[np.float64]:
    """Return (rows,) Q(lambda)-returns where the behaviour went on, and bootstrapped one-step targets elsewhere.

    G_t = r_t + discount * ((1 - trace) * max_a Q(s_{t+1}, a) + trace * G_{t+1}), G_T = r_T; every other row has
    r + discount * max_a Q(s', a). Q is the first iterate of :func:`fitted_q`.

    Source: Peng & Williams 1996, *Incremental Multi-Step Q-Learning*; Stop-RAG (2510.14337). Like theirs the returns
    are not corrected for what the behaviour chose otherwise than the best.
    """
    best = iteration.best_next(moves.rewards)
    targets: NDArray[np.float64] = moves.rewards + discount * best
    following = _following(moves)
    for row in np.flatnonzero(moves.chosen)[np.argsort(-moves.steps[moves.chosen], kind="stable")]:
        if (after := following[row]) >= 0:
            mixed = (1 - trace) * best[row] + trace * targets[after]
            targets[row] = moves.rewards[row] + discount * mixed
    return targets


def _following(moves: Transitions) -> NDArray[np.int64]:
    """Return (rows,) the row that the behaviour chose next, -1 where the episode ended, or the row was not chosen."""
    places = {
        (str(moves.questions[row]), int(moves.episodes[row]), int(moves.steps[row])): int(row)
        for row in np.flatnonzero(moves.chosen)
    }
    following = np.full(len(moves.steps), -1, np.int64)
    for (question, episode, step), row in places.items():
        following[row] = places.get((question, episode, step + 1), -1)
    return following
