"""The protocol that every controller follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError, InvalidOperationError
from .decision_kernel import choose

_ALL_ZERO = "a mask is all zero: no operation may run, not even stop_answer"


class Decision(NamedTuple):
    """What a controller decided.

    Attributes:
        operations: (batch,) int64 action ids, each valid.
        values: (batch, operations) float64 with nan where invalid, or None where the controller has no values.
        allowed: (batch, operations) int8, the mask less what the controller itself vetoed; None where nothing is.
    """

    operations: NDArray[np.int64]
    values: NDArray[np.float64] | None = None
    allowed: NDArray[np.int8] | None = None


class Controller(ABC):
    """Chooses one valid operation for each row of a batch; results do not depend on how rows are batched."""

    @abstractmethod
    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Choose.

        Args:
            features: (batch, features) float32.
            mask: (batch, operations) int8, no row all zero.
            keys: (batch,) one text a decision; random streams depend on nothing but it and the controller's seed.

        Raises:
            InvalidOperationError: if a row of the mask is all zero.
        """

    def act(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> NDArray[np.int64]:
        """Return the chosen action ids, (batch,) int64."""
        return self.decide(features, mask, keys).operations


def check_mask(mask: NDArray[np.int8]) -> None:
    """Refuse a mask that leaves no choice.

    Raises:
        InvalidOperationError: if a row is all zero.
    """
    if not mask.any(axis=1).all():
        raise InvalidOperationError(_ALL_ZERO)


def best_valid(values: NDArray[np.float64], mask: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the valid operation of the highest value in each row; ties go to the lowest action id.

    Raises:
        InvalidOperationError: if a row of the mask is all zero, or the mask has another shape than the values.
    """
    chosen: NDArray[np.int64] = np.empty(len(mask), np.int64)
    if not choose(np.ascontiguousarray(values, np.float64), as_mask(mask, values.shape), chosen):
        raise InvalidOperationError(_ALL_ZERO)
    return chosen


def as_mask(mask: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Return a mask as the compiled loops read it, which look at no bounds.

    Raises:
        InvalidOperationError: if it has another shape.
    """
    if mask.ndim != 2 or mask.shape != shape:
        raise InvalidOperationError(f"expected a mask of shape {shape}, found {mask.shape}")
    return np.ascontiguousarray(mask, np.int8)


def place_of(name: str, names: Sequence[str], needed_by: str) -> int:
    """Return where a name stands.

    Raises:
        ConfigError: if it is not there.
    """
    if name not in names:
        raise ConfigError(f"{needed_by} needs {name}, found {', '.join(names)}")
    return list(names).index(name)
