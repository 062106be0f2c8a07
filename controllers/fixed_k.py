"""Fixed-k: the paper's non-adaptive baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError
from .base import Controller, Decision, check_mask, place_of


class FixedKController(Controller):
    """Runs ``retrieve_more`` k times, then stops.

    Args:
        feature_names: names of the features, ``retrievals`` among them.
        operations: names of the operations, ``retrieve_more`` and ``stop_answer`` among them.
        k: number of retrievals, at least 1.

    Raises:
        ConfigError: if ``k`` is below 1, or the feature or one of the two operations is missing.
    """

    def __init__(self, feature_names: Sequence[str], operations: Sequence[str], k: int = 4) -> None:
        if k < 1:
            raise ConfigError(f"k must be at least 1, found {k}")
        self.k = k
        self._retrievals = place_of("retrievals", feature_names, "fixed-k")
        self._retrieve = place_of("retrieve_more", operations, "fixed-k")
        self._stop = place_of("stop_answer", operations, "fixed-k")

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Retrieve while fewer than k were made, else stop; where neither may run, take the first that may."""
        check_mask(mask)
        more = features[:, self._retrievals] < self.k
        wanted = np.where(more, self._retrieve, self._stop)
        other = np.where(mask[:, self._stop] > 0, self._stop, self._retrieve)
        rows = np.arange(len(mask))
        chosen = np.where(mask[rows, wanted] > 0, wanted, other)
        return Decision(np.where(mask[rows, chosen] > 0, chosen, mask.argmax(axis=1)).astype(np.int64))
