"""Epsilon-greedy exploration around another controller: the behaviour of further rounds of collection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError
from ..data.records import content_hash
from .base import Controller, Decision
from .uniform import UniformController


class EpsilonController(Controller):
    """Lets another controller choose, and with probability epsilon chooses uniformly.

    Args:
        controller: chooses otherwise.
        epsilon: in [0, 1].
        seed: with the decision's key it fixes when to explore, and what.
        avoid: action ids taken only where nothing else is valid, by either; collection avoids ``stop_answer``, which it
            tries from every state anyway.

    Raises:
        ConfigError: if ``epsilon`` is out of range.
    """

    def __init__(self, controller: Controller, epsilon: float, seed: int = 0, avoid: Sequence[int] = ()) -> None:
        if not 0 <= epsilon <= 1:
            raise ConfigError(f"epsilon must be in [0, 1], found {epsilon}")
        self.controller = controller
        self.epsilon = epsilon
        self.seed = seed
        self.avoid = tuple(avoid)
        self._uniform = UniformController(seed, avoid)

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Choose; neither batching nor order changes a choice if they change none of the controller's."""
        wanted = mask.copy()
        wanted[:, list(self.avoid)] = 0
        wanted = np.where(wanted.any(axis=1, keepdims=True), wanted, mask)
        greedy = self.controller.decide(features, wanted, keys)
        explores = np.array([_share(self.seed, key) < self.epsilon for key in keys], np.bool_)
        drawn = self._uniform.act(features, mask, keys)
        return Decision(np.where(explores, drawn, greedy.operations))


def _share(seed: int, key: str) -> float:
    """Return a number in [0, 1), independent of the one that the uniform choice draws from the same key."""
    return int(content_hash("epsilon", str(seed), key), 16) / 2**64
