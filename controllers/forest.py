"""The random-forest action-value controller of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..actions.costs import weighted_parts
from ..data.errors import ConfigError, ManifestMismatchError
from ..data.records import content_hash
from ..data.trees import TreeArrays
from .action_rows import count_columns, row_names, valid_rows
from .base import Controller, Decision, as_mask, best_valid
from .continuation import ContinuationModel
from .decision_kernel import spread


class ForestController(Controller):
    """Takes the valid operation with the highest v_hat(s, a) - lambda * c(s, a).

    Args:
        trees: v_hat, on the rows of :func:`.action_rows.action_rows`.
        feature_names: names of the state's features.
        operations: names of the operation set.
        expected_costs: mean cost of each operation at training, by kind of cost.
        continuation: may veto ``stop_answer``; None for no veto.
        cost_weight: lambda, at least 0 (paper: 0).
        cost_weights: w_k of each kind of cost, tokens in thousands (default: tokens only).
        manifest: what else is known of the controller; saved with it.

    Raises:
        ManifestMismatchError: if a forest was trained on other rows, or there is not one expected cost an operation.
        ConfigError: if ``cost_weight`` is negative.
    """

    def __init__(
        self,
        trees: TreeArrays,
        feature_names: Sequence[str],
        operations: Sequence[str],
        expected_costs: Sequence[Mapping[str, float]],
        continuation: ContinuationModel | None = None,
        cost_weight: float = 0.0,
        cost_weights: Mapping[str, float] | None = None,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        rows = row_names(feature_names, operations)
        if trees.n_features != len(rows):
            raise ManifestMismatchError(
                f"the forest reads {trees.n_features} numbers a row, the features give {len(rows)}"
            )
        if continuation is not None and continuation.trees.n_features != len(feature_names):
            raise ManifestMismatchError(
                f"the continuation model reads {continuation.trees.n_features} numbers a state, "
                f"there are {len(feature_names)} features"
            )
        if len(expected_costs) != len(operations):
            raise ManifestMismatchError(
                f"expected costs of {len(operations)} operations, found {len(expected_costs)}; train again"
            )
        if cost_weight < 0:
            raise ConfigError(f"cost_weight (lambda) must not be negative, found {cost_weight}")
        self.trees = trees
        self.feature_names = tuple(feature_names)
        self.operations = tuple(operations)
        self.expected_costs = tuple(dict(cost) for cost in expected_costs)
        self.continuation = continuation
        self.cost_weight = cost_weight
        self.cost_weights = dict(cost_weights or {"prompt_tokens": 1.0, "completion_tokens": 1.0})
        self.manifest = dict(manifest or {})
        self._counts = count_columns(self.feature_names, self.operations)
        self._costs = cost_matrix(self.expected_costs)
        self._stop = self.operations.index("stop_answer")

    @property
    def fingerprint(self) -> str:
        """A hash of everything that can change a decision."""
        arrays = self.trees.arrays("value_") | (self.continuation.arrays() if self.continuation else {})
        content = [f"{name}:{arrays[name].tobytes().hex()}" for name in sorted(arrays)]
        costs = [repr(sorted(cost.items())) for cost in (*self.expected_costs, self.cost_weights)]
        return content_hash(*self.feature_names, *self.operations, *costs, repr(self.cost_weight), *content)

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Score every valid operation and take the best; the continuation model's veto comes after the mask."""
        values = self.values(features, mask)
        allowed = mask if self.continuation is None else self.continuation.veto(features, mask, self._stop)
        return Decision(best_valid(values, allowed), values, allowed)

    def values(self, features: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return (batch, operations) float64: v_hat - lambda * c where valid, nan elsewhere."""
        valid = as_mask(mask, (len(features), len(self.operations)))
        predicted = self.trees.predict(valid_rows(features, valid, self._counts, self._costs))
        values: NDArray[np.float64] = np.empty(valid.shape)
        spread(predicted, valid, values)
        return values - self.cost_weight * self._penalties() if self.cost_weight else values

    def _penalties(self) -> NDArray[np.float64]:
        return np.array([weighted_parts(cost, self.cost_weights) for cost in self.expected_costs])


def cost_matrix(expected_costs: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Return (operations, 3): thousands of tokens, generator calls, retrievals."""
    return np.array(
        [
            [
                (cost.get("prompt_tokens", 0.0) + cost.get("completion_tokens", 0.0)) / 1000,
                cost.get("generator_calls", 0.0),
                cost.get("retrievals", 0.0),
            ]
            for cost in expected_costs
        ]
    )
