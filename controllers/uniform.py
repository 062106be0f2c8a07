"""Uniform choice over valid operations: the paper's control for the value of learning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .base import Controller, Decision


class UniformController(Controller):
    """Chooses uniformly among the valid operations.

    Args:
        seed: with the decision's key it fixes the choice.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Choose by a hash of seed and key, so that neither batching nor order changes a choice."""
        chosen = [int(np.flatnonzero(row)[_draw(self.seed, key, int(row.sum()))]) for row, key in zip(mask, keys)]
        return Decision(np.array(chosen, np.int64))


def _draw(seed: int, key: str, n: int) -> int:
    """Return a number in 0..n-1; 64 bits of hash make the bias of the remainder negligible."""
    digest = hashlib.blake2b(f"{seed}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % n
