"""The continuation model: how much answer quality would going on add? It may veto ``stop_answer``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.trees import TreeArrays

PERMISSIVE_THRESHOLD = 0.0


class ContinuationModel:
    """A forest on trajectory prefixes that predicts the gain in answer F1 from continuing.

    The paper runs it with permissive thresholds and gives no number. Its episodes use nearly all of their four steps,
    so "permissive" is read as: going on is permitted wherever any gain is predicted. The threshold is 0, our choice.

    Args:
        trees: predicts the gain from the features of a state.
        threshold: stopping is vetoed above it.
    """

    def __init__(self, trees: TreeArrays, threshold: float = PERMISSIVE_THRESHOLD) -> None:
        self.trees = trees
        self.threshold = threshold

    def veto(self, features: NDArray[np.float32], mask: NDArray[np.int8], stop: int) -> NDArray[np.int8]:
        """Return the mask without ``stop`` where it is vetoed; it stays where it is the only valid operation."""
        vetoed = (self.trees.predict(features) > self.threshold) & (mask.sum(axis=1) > 1)
        allowed = mask.copy()
        allowed[vetoed, stop] = 0
        return allowed

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything that can change a veto."""
        return self.trees.arrays("continuation_") | {"continuation_threshold": np.array([self.threshold])}

    def narrow_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return self.trees.narrow_arrays("continuation_") | {"continuation_threshold": np.array([self.threshold])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ContinuationModel:
        """Rebuild the model from saved arrays.

        Raises:
            ManifestMismatchError: if an array is missing or damaged.
        """
        trees = TreeArrays.from_arrays(arrays, "continuation_")
        threshold = arrays.get("continuation_threshold")
        if threshold is None or threshold.shape != (1,):
            raise ManifestMismatchError("the threshold of the continuation model is missing or damaged; train again")
        return cls(trees, float(threshold[0]))
