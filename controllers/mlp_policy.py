"""A policy network as a controller: what policy-gradient training gives, evaluated without a deep-learning library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.records import content_hash
from .base import Controller, Decision, best_valid

CLIP = 10.0


class Layer(NamedTuple):
    """An affine layer.

    Attributes:
        weights: (inputs, outputs) float32.
        bias: (outputs,) float32.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]


class Standardisation(NamedTuple):
    """The standardisation of the features: ``(features - mean) / scale``, clipped to [-CLIP, CLIP].

    Attributes:
        mean: (features,) float64.
        scale: (features,) float64, positive.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]


class MLPPolicy(Controller):
    """Takes the valid operation that a network of tanh layers finds most probable.

    Args:
        layers: from the standardised features to one logit an operation; tanh between them.
        inputs: standardisation of the features.
        feature_names: names of the state's features.
        operations: names of the operation set.
        manifest: what else is known of the policy; saved with it.

    Raises:
        ManifestMismatchError: if the layers do not lead from the features to the operations, or a number is not finite.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        inputs: Standardisation,
        feature_names: Sequence[str],
        operations: Sequence[str],
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        self.layers = tuple(layers)
        self.inputs = inputs
        self.feature_names = tuple(feature_names)
        self.operations = tuple(operations)
        self.manifest = dict(manifest or {})
        self._check()

    @property
    def fingerprint(self) -> str:
        """A hash of everything that can change a decision."""
        arrays = self.arrays()
        content = [f"{name}:{arrays[name].tobytes().hex()}" for name in sorted(arrays)]
        return content_hash(*self.feature_names, *self.operations, *content)

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Take the most probable valid operation; its values are the logarithms of the probabilities."""
        values = self.values(features, mask)
        return Decision(best_valid(values, mask), values)

    def values(self, features: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return (batch, operations) float64: log-probabilities among the valid operations, nan elsewhere."""
        logits = np.where(mask.astype(bool), self.logits(features), -np.inf)
        highest = np.max(logits, axis=1, keepdims=True, initial=-np.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            shifted = logits - highest
            values = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return np.where(mask.astype(bool), values, np.nan)

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return (batch, operations) float64, the mask not yet applied."""
        mean, scale = self.inputs
        # One product a row, of the same shape whatever the batch, so that no bit depends on the batch.
        row = np.clip((features.astype(np.float64) - mean) / scale, -CLIP, CLIP)[:, None, :]
        for number, (weights, bias) in enumerate(self.layers):
            row = np.matmul(np.tanh(row) if number else row, weights.astype(np.float64)) + bias
        logits: NDArray[np.float64] = row[:, 0, :]
        return logits

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        layers = {
            f"{name}_{number}": array
            for number, layer in enumerate(self.layers)
            for name, array in zip(("weights", "bias"), layer)
        }
        return {"mean": self.inputs.mean, "scale": self.inputs.scale, **layers}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        feature_names: Sequence[str],
        operations: Sequence[str],
        manifest: Mapping[str, Any] | None = None,
    ) -> MLPPolicy:
        """Rebuild the policy from saved arrays.

        Raises:
            ManifestMismatchError: if an array is missing, damaged, or does not fit the others.
        """
        number = sum(name.startswith("weights_") for name in arrays)
        layers = [Layer(_array(arrays, f"weights_{i}"), _array(arrays, f"bias_{i}")) for i in range(number)]
        inputs = Standardisation(_array(arrays, "mean"), _array(arrays, "scale"))
        return cls(layers, inputs, feature_names, operations, manifest)

    def _check(self) -> None:
        widths = [len(self.feature_names), *(len(layer.bias) for layer in self.layers)]
        shapes = [layer.weights.shape for layer in self.layers]
        if not self.layers or widths[-1] != len(self.operations) or shapes != list(pairwise(widths)):
            raise ManifestMismatchError(
                f"the layers must lead from {widths[0]} features to {len(self.operations)} operations, "
                f"found {shapes}; train again"
            )
        if any(array.shape != (widths[0],) for array in self.inputs) or not np.all(self.inputs.scale > 0):
            raise ManifestMismatchError(f"mean and scale must be {widths[0]} numbers, scale positive; train again")
        if not all(np.isfinite(array).all() for array in self.arrays().values()):
            raise ManifestMismatchError("the policy holds numbers that are not finite; train again")


def _array(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    found = arrays.get(name)
    if found is None or found.dtype.kind != "f" or found.ndim not in (1, 2):
        raise ManifestMismatchError(f"the array {name} of the policy is missing or damaged; train or copy it again")
    return found
