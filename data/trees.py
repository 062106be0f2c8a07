"""Fitted decision trees as plain arrays: they are saved without pickling and predict in a compiled kernel.

The sums are those of scikit-learn (float64, in estimator order), so predictions are bit-equal to its ``predict`` with
``n_jobs=1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ManifestMismatchError
from .tree_files import narrow, widened
from .tree_kernel import LANES, inside, packed, rounded_down, walk_rows, walk_trees, walk_wide

# From this many rows on it pays to send many rows through one tree rather than one row through many trees.
_MANY_ROWS = 64


class TreeArrays:
    """An ensemble of binary regression trees.

    Nodes stand in preorder, so a node's left child is the next node.

    Args:
        feature: (nodes,) int32; the feature tested, or -1 in a leaf.
        right: (nodes,) int32; index of the right child (0 in a leaf).
        value: (nodes,) float64; the threshold of a test (left when x <= threshold), the prediction of a leaf.
        roots: (trees,) int32; first node of each tree.
        base: number that the sum starts from.
        divide_by: number that the sum is divided by (the count of trees for a forest, 1 for boosting).
        n_features: length of a row.

    Raises:
        ManifestMismatchError: if an index points outside the arrays, so that a damaged file is never followed.
    """

    def __init__(
        self,
        feature: NDArray[np.int32],
        right: NDArray[np.int32],
        value: NDArray[np.float64],
        roots: NDArray[np.int32],
        base: float,
        divide_by: float,
        n_features: int,
    ) -> None:
        self.feature = np.ascontiguousarray(feature, np.int32)
        self.right = np.ascontiguousarray(right, np.int32)
        self.value = np.ascontiguousarray(value, np.float64)
        self.roots = np.ascontiguousarray(roots, np.int32)
        self.base = float(base)
        self.divide_by = float(divide_by)
        self.n_features = int(n_features)
        self._check()
        self._packed = packed(self.feature, self.right, self.value, self.roots)

    def _check(self) -> None:
        arrays = (self.feature, self.right, self.value, self.roots)
        sound = (
            all(array.ndim == 1 for array in arrays)
            and isfinite(self.base)
            and isfinite(self.divide_by)
            and self.divide_by > 0
            and len(self.feature) == len(self.right) == len(self.value)
            and inside(self.feature, self.right, self.roots, self.n_features)
        )
        if not sound:
            raise ManifestMismatchError(
                "tree arrays are damaged: they do not fit together, or an index points outside them; "
                "train or copy the model again"
            )

    def predict(self, rows: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return the ensemble's prediction for each row; ``rows`` has shape (n, n_features)."""
        narrow = self._packed is not None and np.asarray(rows).dtype == np.float32
        matrix = np.ascontiguousarray(rows, np.float32 if narrow else np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self.n_features:
            raise ManifestMismatchError(f"expected rows of {self.n_features} features, found shape {matrix.shape}")
        out: NDArray[np.float64] = np.empty(len(matrix), np.float64)
        if self._packed is None or not narrow:
            walk_wide(self.feature, self.right, self.value, self.roots, matrix, self.base, self.divide_by, out)
            return out
        many = len(matrix) - len(matrix) % LANES if len(matrix) >= _MANY_ROWS else 0
        if many:
            walk_rows(*self._packed, matrix[:many], self.base, self.divide_by, out[:many])
        if many < len(matrix):
            walk_trees(*self._packed, matrix[many:], self.base, self.divide_by, out[many:])
        return out

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return the arrays to save, their names starting with ``prefix``."""
        return {
            f"{prefix}feature": self.feature,
            f"{prefix}right": self.right,
            f"{prefix}value": self.value,
            f"{prefix}roots": self.roots,
            f"{prefix}scalars": np.array([self.base, self.divide_by, self.n_features], np.float64),
        }

    def narrow_arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Return :meth:`arrays` without what follows from the rest, in the narrowest types that lose nothing."""
        parts = narrow(self.feature, self.right, self.value, self.roots)
        if parts is None:
            return self.arrays(prefix)
        scalars = self.arrays(prefix)[f"{prefix}scalars"]
        return {f"{prefix}{name}": array for name, array in parts.items()} | {f"{prefix}scalars": scalars}

    @classmethod
    def from_arrays(cls, arrays: Any, prefix: str) -> TreeArrays:
        """Rebuild an ensemble from :meth:`arrays` or :meth:`narrow_arrays`, such as an opened ``.npz`` file holds.

        Raises:
            ManifestMismatchError: if an array is missing or damaged.
        """
        try:
            scalars = np.asarray(arrays[f"{prefix}scalars"], np.float64)
            parts = _parts(arrays, prefix)
        except KeyError as error:
            raise ManifestMismatchError(
                f"the model file has no array {error}; train or copy the model again"
            ) from error
        if scalars.shape != (3,) or not np.all(np.isfinite(scalars)):
            raise ManifestMismatchError(f"the scalars of the model file are damaged: {scalars}; train or copy it again")
        feature, right, value, roots = parts
        return cls(feature, right, value, roots, scalars[0], scalars[1], int(scalars[2]))

    @classmethod
    def from_forest(cls, forest: Any) -> TreeArrays:
        """Flatten a fitted ``RandomForestRegressor`` with one output.

        scikit-learn compares float32 features with float64 thresholds: pass rows of float32 values. For these no
        comparison changes when the thresholds are rounded down to float32, as they are here.
        """
        trees = [_of_sklearn_tree(estimator.tree_) for estimator in forest.estimators_]
        return cls._joined(trees, 0.0, float(len(trees)), forest.n_features_in_)

    @classmethod
    def from_boosting(cls, model: Any) -> TreeArrays:
        """Flatten a fitted ``HistGradientBoostingRegressor`` or a binary ``HistGradientBoostingClassifier``.

        ``predict`` then gives the raw prediction: for a classifier the log-odds, as its ``decision_function`` does.
        Categorical features and missing values are not supported.
        """
        trees = [_of_boosting_nodes(predictor[0].nodes) for predictor in model._predictors]
        return cls._joined(trees, float(np.ravel(model._baseline_prediction)[0]), 1.0, model.n_features_in_)

    @classmethod
    def _joined(cls, trees: Sequence[_Tree], base: float, divide_by: float, n_features: int) -> TreeArrays:
        sizes = [len(tree[0]) for tree in trees]
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32) if trees else np.zeros(0, np.int32)
        feature, right, value = zip(_EMPTY, *trees)
        offsets = [0, *roots]
        shifted = [r + np.where(f >= 0, offset, 0) for r, f, offset in zip(right, feature, offsets)]
        nodes = np.concatenate(feature), np.concatenate(shifted), np.concatenate(value)
        return cls(nodes[0], nodes[1], nodes[2], roots, base, divide_by, n_features)


def _parts(arrays: Any, prefix: str) -> Sequence[NDArray[Any]]:
    """Return feature, right, value and roots."""
    if f"{prefix}tests" not in arrays:
        return [arrays[f"{prefix}{name}"] for name in ("feature", "right", "value", "roots")]
    parts = widened(*(arrays[f"{prefix}{name}"] for name in ("tests", "thresholds", "leaves")))
    if parts is None:
        raise ManifestMismatchError("the tree arrays are damaged: they do not fit together; train or copy it again")
    return parts


_Tree = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
_EMPTY: _Tree = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float64))


def _preorder(left: NDArray[Any], right: NDArray[Any], feature: NDArray[Any], value: NDArray[Any]) -> _Tree:
    """Renumber one tree; ``left`` is negative (or 0) in a leaf and ``feature`` is -1 there."""
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if feature[node] >= 0:
            stack.extend((int(right[node]), int(left[node])))
    number = np.empty(len(feature), np.int64)
    number[order] = np.arange(len(order))
    new_feature = feature[order].astype(np.int32)
    new_right = np.where(new_feature >= 0, number[right[order]], 0).astype(np.int32)
    return new_feature, new_right, value[order].astype(np.float64)


def _of_sklearn_tree(tree: Any) -> _Tree:
    leaf = tree.children_left < 0
    feature = np.where(leaf, -1, tree.feature)
    value = np.where(leaf, tree.value[:, 0, 0], rounded_down(tree.threshold))
    return _preorder(tree.children_left, tree.children_right, feature, value)


def _of_boosting_nodes(nodes: NDArray[Any]) -> _Tree:
    leaf = nodes["is_leaf"].astype(bool)
    feature = np.where(leaf, -1, nodes["feature_idx"].astype(np.int64))
    value = np.where(leaf, nodes["value"], nodes["num_threshold"])
    return _preorder(nodes["left"].astype(np.int64), nodes["right"].astype(np.int64), feature, value)
