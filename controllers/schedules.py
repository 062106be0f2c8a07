"""Schedules: controllers that are an ordered list of wishes, with nothing learned about which operation pays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import Controller, Decision, check_mask, place_of

Columns = Mapping[str, NDArray[np.float32]]


class Wish(NamedTuple):
    """An operation that a schedule wants where a condition holds.

    Attributes:
        operation: its name.
        where: (batch,) bool, or one for all rows.
    """

    operation: str
    where: NDArray[np.bool_] | bool = True


class Schedule(Controller):
    """Takes the first wish whose condition holds and whose operation is valid.

    Where no wish can be granted: ``stop_answer``, else ``retrieve_more``, else the first valid operation. So a schedule
    that may not stop goes on retrieving.

    Args:
        feature_names: names of the features, those that the schedule reads among them.
        operations: names of the operation set, those that the schedule needs among them.

    Attributes:
        needs: the operations of the schedule beyond ``retrieve_more`` and ``stop_answer``.
        reads: the features of the schedule.

    Raises:
        ConfigError: if a feature or an operation is missing.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ("documents",)

    def __init__(self, feature_names: Sequence[str], operations: Sequence[str]) -> None:
        self.feature_names = tuple(feature_names)
        self.operations = tuple(operations)
        who = type(self).__name__
        self._columns = {name: place_of(name, self.feature_names, who) for name in self.reads}
        self._ids = {name: place_of(name, self.operations, who) for name in (*self.needs, *_LAST_RESORTS)}

    @abstractmethod
    def wishes(self, features: Columns) -> list[Wish]:
        """Return the wishes, the dearest first.

        Args:
            features: (batch,) float32 for each feature in ``reads``.
        """

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Grant each row its first wish that is valid."""
        check_mask(mask)
        wishes = self.wishes({name: features[:, column] for name, column in self._columns.items()})
        chosen: NDArray[np.int64] = mask.argmax(axis=1).astype(np.int64)
        for operation, where in reversed([*wishes, *map(Wish, _LAST_RESORTS)]):
            granted = where & (mask[:, self._ids[operation]] > 0)
            chosen = np.where(granted, self._ids[operation], chosen)
        return Decision(chosen)


_LAST_RESORTS = ("stop_answer", "retrieve_more")


def found_sufficient(features: Columns) -> NDArray[np.bool_]:
    """Return (batch,) bool: the present evidence was probed and found sufficient; reads ``probed``, ``verdict``."""
    sufficient: NDArray[np.bool_] = (features["probed"] > 0) & (features["verdict"] > 0)
    return sufficient
