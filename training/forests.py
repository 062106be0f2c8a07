"""Forests of training: fitted by scikit-learn, kept as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from ..data.splits import fold_of
from ..data.trees import TreeArrays


class Forest(NamedTuple):
    """How a forest is grown.

    Attributes:
        trees: how many.
        min_samples_leaf: rows in a leaf.
        max_features: share of the features that a split looks at.
        seed: of rows and features.
        jobs: processes; they change no tree.
        extra: whether the thresholds are drawn (extremely randomised trees) rather than the best.
    """

    trees: int
    min_samples_leaf: int
    max_features: float
    seed: int
    jobs: int = 1
    extra: bool = False

    def fit(self, matrix: NDArray[np.float32], target: NDArray[np.float64]) -> TreeArrays:
        """Fit to (rows, features) and (rows,)."""
        kind = ExtraTreesRegressor if self.extra else RandomForestRegressor
        forest = kind(
            n_estimators=self.trees,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=self.seed,
            n_jobs=self.jobs,
        )
        return TreeArrays.from_forest(forest.fit(matrix, target))


def question_folds(questions: Sequence[str] | NDArray[np.str_], n_folds: int, seed: int) -> NDArray[np.int64]:
    """Return (rows,) the fold of each row's question."""
    fold = {question: fold_of(question, n_folds, seed) for question in dict.fromkeys(map(str, questions))}
    return np.array([fold[str(question)] for question in questions], np.int64)


def out_of_fold(
    grow: Callable[[NDArray[np.bool_]], TreeArrays],
    ask: Callable[[TreeArrays, NDArray[np.bool_]], NDArray[np.float64]],
    folds: NDArray[np.int64],
    n_folds: int,
) -> NDArray[np.float64]:
    """Return (rows,) what models say that were grown without the row's question.

    Args:
        grow: fits a model to the rows where the mask holds.
        ask: lets a model speak about the rows where the mask holds.
        folds: (rows,) the fold of each row.
        n_folds: number of folds; with one, or where all rows share a fold, the model is grown on the same rows.
    """
    found: NDArray[np.float64] = np.zeros(len(folds), np.float64)
    for fold in range(n_folds):
        own = folds == fold
        if own.any():
            found[own] = ask(grow(~own if (~own).any() else own), own)
    return found
