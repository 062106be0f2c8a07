"""The continuation model: how much answer quality would going on add? It may veto ``stop_answer``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.trees import TreeArrays

PERMISSIVE_THRESHOLD = 0.25


class ContinuationModel:
    """A forest on trajectory prefixes that predicts the gain in answer F1 from continuing.

    The paper runs it with permissive thresholds and gives no number; 0.25 is our choice: stopping is vetoed only
    where a gain of more than a quarter of an answer is predicted.

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
        """Return the arrays to save."""
        return self.trees.arrays("continuation_") | {"continuation_threshold": np.array([self.threshold])}

    @classmethod
    def from_arrays(cls, arrays: Any) -> ContinuationModel:
        """Rebuild the model from saved arrays."""
        return cls(TreeArrays.from_arrays(arrays, "continuation_"), float(arrays["continuation_threshold"][0]))
