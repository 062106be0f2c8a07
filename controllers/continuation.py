"""The continuation model: how much answer quality would going on add? It may veto ``stop_answer``."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError, ManifestMismatchError
from ..data.trees import TreeArrays

PERMISSIVE = "permissive"
FITTED = "fitted"
PERMISSIVE_THRESHOLD = 0.0


def fixed_threshold(wanted: float | str) -> float | None:
    """Return the threshold of a number or of "permissive"; None for "fitted", which :func:`best_threshold` finds.

    Raises:
        ConfigError: if it is anything else, or not finite.
    """
    if isinstance(wanted, str):
        if wanted in {PERMISSIVE, FITTED}:
            return PERMISSIVE_THRESHOLD if wanted == PERMISSIVE else None
    elif isfinite(wanted):
        return float(wanted)
    raise ConfigError(f"a continuation threshold is {PERMISSIVE}, {FITTED} or a finite number, found {wanted!r}")


def best_threshold(predicted: NDArray[np.float64], gained: NDArray[np.float64]) -> float:
    """Return the threshold that gives the highest mean answer F1; of equal ones the lowest, the most permissive.

    Going on happens where the prediction lies above it, and brings what it brought in the data; stopping brings 0.

    Args:
        predicted: (states,) gains in answer F1, at least one, by models that have not seen the state's question.
        gained: (states,) what going on really gained.
    """
    order = np.argsort(predicted, kind="stable")
    kept = np.concatenate([[0.0], np.cumsum(gained[order])])
    values = predicted[order]
    last = np.append(values[1:] > values[:-1], True)
    places = np.concatenate([[0], np.flatnonzero(last) + 1])
    best = places[np.argmin(kept[places])]
    return float(values[best - 1]) if best else float(np.nextafter(values[0], -np.inf))


class ContinuationModel:
    """A forest on trajectory prefixes that predicts the gain in answer F1 from continuing.

    The paper runs it with "permissive" thresholds and gives no number. Its episodes use nearly all of their four steps,
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
