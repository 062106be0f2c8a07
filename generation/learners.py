"""The learners that the parts of the extractive generator are fitted with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ..data.trees import TreeArrays

Rows = NDArray[np.float32]
Scores = list[NDArray[np.float64]]
BAGS = 3
_NEGATIVES = 40


def boosted(rows: Rows, labels: NDArray[np.bool_], seed: int, rows_per_tree: int = 40, **settings: Any) -> TreeArrays:
    """Fit histogram boosting on binary labels; with one class only, a constant.

    Few rows get few trees: ten and one for each ``rows_per_tree``, until ``max_iter`` is reached.
    """
    if len(rows) == 0 or labels.all() or not labels.any():
        return constant(rows.shape[1], 4.0 if len(labels) and labels.all() else -4.0)
    chosen: dict[str, Any] = {
        "max_iter": 100,
        "learning_rate": 0.07,
        "max_leaf_nodes": 16,
        "min_samples_leaf": 20,
        "l2_regularization": 1.0,
        "max_bins": 64,
    }
    chosen |= settings
    chosen["max_iter"] = min(chosen["max_iter"], 10 + len(rows) // rows_per_tree)
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=seed, **chosen)
    # The sets are small: more threads cost more than they bring, and wait for each other where the machine is busy.
    with threadpool_limits(limits=1, user_api="openmp"):
        return TreeArrays.from_boosting(model.fit(rows, labels))


def averaged(models: Sequence[TreeArrays]) -> TreeArrays:
    """Return one ensemble that predicts the mean of several boosted ones."""
    sizes = [len(m.feature) for m in models]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    right = [np.where(m.feature >= 0, m.right + start, 0) for m, start in zip(models, starts)]
    return TreeArrays(
        feature=np.concatenate([m.feature for m in models]),
        right=np.concatenate(right).astype(np.int32),
        value=np.concatenate([m.value for m in models]),
        roots=np.concatenate([m.roots + start for m, start in zip(models, starts)]).astype(np.int32),
        base=sum(m.base for m in models),
        divide_by=float(len(models)),
        n_features=models[0].n_features,
    )


def constant(n_features: int, value: float) -> TreeArrays:
    """Return an ensemble that gives one number."""
    none = np.zeros(0, np.int32)
    return TreeArrays(none, none, np.zeros(0), none, value, 1.0, n_features)


def logistic(
    rows: NDArray[np.float64], labels: NDArray[np.bool_], intercept: bool, strength: float = 1.0
) -> NDArray[np.float64]:
    """Fit logistic regression; return the weights (the intercept last). With one class only, all weights are 0."""
    width = rows.shape[1] + intercept
    if len(rows) == 0 or labels.all() or not labels.any():
        out = np.zeros(width)
        if intercept and len(rows):
            out[-1] = 2.0 if labels.all() else -2.0
        return out
    spread = rows.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    model = LogisticRegression(C=strength, fit_intercept=intercept, max_iter=1000).fit(rows / scale, labels)
    weights = model.coef_[0] / scale
    return np.concatenate([weights, model.intercept_]) if intercept else weights


def joined(parts: Sequence[Rows], width: int) -> Rows:
    """Return the rows one after another; without parts, no rows of ``width`` features."""
    return np.concatenate(parts) if parts else np.zeros((0, width), np.float32)


def sample(right: NDArray[np.bool_], cross: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.int64]:
    """Return all right candidates and up to 40 wrong ones: the half with the best associations, the rest at random."""
    wrong = np.nonzero(~right)[0]
    if len(wrong) > _NEGATIVES:
        ordered = wrong[np.argsort(-cross[wrong], kind="stable")]
        half_way = _NEGATIVES // 2
        wrong = np.concatenate([ordered[:half_way], random.choice(ordered[half_way:], half_way, replace=False)])
    return np.concatenate([np.nonzero(right)[0], wrong])
