"""Uniform choice over valid operations: the paper's control for the value of learning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .base import Controller, Decision, check_mask


class UniformController(Controller):
    """Chooses uniformly among the valid operations.

    Args:
        seed: with the decision's key it fixes the choice.
        avoid: action ids taken only where nothing else is valid; collection avoids ``stop_answer``, which it tries from
            every state anyway.
    """

    def __init__(self, seed: int = 0, avoid: Sequence[int] = ()) -> None:
        self.seed = seed
        self.avoid = tuple(avoid)

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Choose by a hash of seed and key, so that neither batching nor order changes a choice."""
        check_mask(mask)
        wanted = mask.astype(bool)
        wanted[:, list(self.avoid)] = False
        wanted = np.where(wanted.any(axis=1, keepdims=True), wanted, mask > 0)
        chosen = [int(np.flatnonzero(row)[_draw(self.seed, key, int(row.sum()))]) for row, key in zip(wanted, keys)]
        return Decision(np.array(chosen, np.int64))


def _draw(seed: int, key: str, n: int) -> int:
    """Return a number in 0..n-1; with 64 bits of hash the bias of the remainder is negligible."""
    digest = hashlib.blake2b(f"{seed}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % n
