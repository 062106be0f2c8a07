"""The observation: named features of the evidence state, each with a finite range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..actions.operation_set import GATE
from ..actions.state import EvidenceState
from .feature_groups import GATE_GROUP, GROUPS, Feature


def count_features(operations: Sequence[str]) -> tuple[Feature, ...]:
    """Return one feature for each operation: how often it ran."""
    return tuple(Feature(f"count_{name}", 0, 20, f"times that {name} ran") for name in operations)


class FeatureMap:
    """Turns an evidence state into a vector.

    What depends on the question, on a passage or on the passages held is kept for the states that share it, so that a
    vector costs what the last operation changed.

    Args:
        operations: names of the operation set; each adds the count of its runs, and a gate its own features.

    Attributes:
        features: the features with their ranges and meanings, in the order of the vector.
        names: their names.
        low: (features,) float32, lower ends.
        high: (features,) float32, upper ends.
    """

    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = tuple(operations)
        self._groups = (*GROUPS, GATE_GROUP) if GATE in self.operations else GROUPS
        grouped = [feature for group in self._groups for feature in group.features]
        self.features = (*grouped, *count_features(self.operations))
        self.names = tuple(feature.name for feature in self.features)
        self.low = np.array([feature.low for feature in self.features], np.float32)
        self.high = np.array([feature.high for feature in self.features], np.float32)

    def vector(self, state: EvidenceState) -> NDArray[np.float32]:
        """Return (features,) float32, each value within its range."""
        values = [value for group in self._groups for value in group.values(state)]
        values += map(state.history.count, self.operations)
        return np.array(values, np.float32).clip(self.low, self.high)

    def matrix(self, states: Sequence[EvidenceState]) -> NDArray[np.float32]:
        """Return (states, features) float32."""
        rows = [self.vector(state) for state in states]
        return np.stack(rows) if rows else np.zeros((0, len(self.names)), np.float32)
