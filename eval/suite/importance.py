"""Feature importance: how much do the decisions of the learned controller hang on each feature?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...controllers.base import Controller, Decision
from ...data.errors import ConfigError
from ...envs.rollout import rollout
from ..analysis import Analysis, Plot, Row
from .contender import Contender

REPEATS = 5


class Recorder(Controller):
    """Lets another controller choose, and keeps what it was shown.

    Args:
        controller: chooses.

    Attributes:
        features: (decisions, features) float32 of each batch.
        masks: (decisions, operations) int8 of each batch.
    """

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.features: list[NDArray[np.float32]] = []
        self.masks: list[NDArray[np.int8]] = []

    def decide(self, features: NDArray[np.float32], mask: NDArray[np.int8], keys: Sequence[str]) -> Decision:
        """Choose as the other controller does."""
        self.features.append(features.copy())
        self.masks.append(mask.copy())
        return self.controller.decide(features, mask, keys)


def importance_table(contender: Contender, names: Sequence[str], seed: int = 0) -> Analysis:
    """Run a controller on its questions, permute one feature at a time over its decisions, and see what changes.

    Raises:
        ConfigError: if the contender is the oracle, which reads no features.
    """
    if not isinstance(contender.policy, Controller):
        raise ConfigError("feature importance is that of a controller")
    recorder = Recorder(contender.policy)
    rollout([record.question for record in contender.records], contender.method.rules, contender.engine, recorder)
    features, masks = np.concatenate(recorder.features), np.concatenate(recorder.masks)
    several = masks.sum(axis=1) > 1
    rows = _importances(contender.policy, features[several], masks[several], names, seed)
    asks = (
        f"Which features do the decisions hang on? Over the {int(several.sum())} decisions with a choice on "
        f"{len(contender.records)} questions, the values of one feature are permuted ({REPEATS} times); shown are the "
        "share of the decisions that change, and the mean value that is lost, by the controller's own estimate on the "
        "true features."
    )
    columns = [("feature", "feature"), ("changed", "decisions that change"), ("lost", "value lost")]
    return Analysis("importance", "Feature importance", asks, columns, rows, Plot("changed", "feature", ""))


def _importances(
    controller: Controller, features: NDArray[np.float32], masks: NDArray[np.int8], names: Sequence[str], seed: int
) -> list[Row]:
    """Return a row a feature, the most important first."""
    keys = [""] * len(features)
    if not keys:
        return [{"feature": name, "changed": 0.0, "lost": 0.0} for name in names]
    base, rng = controller.decide(features, masks, keys), np.random.default_rng(seed)
    rows: list[Row] = []
    for column, name in enumerate(names):
        found = []
        for _ in range(REPEATS):
            permuted = features.copy()
            permuted[:, column] = rng.permutation(features[:, column])
            chosen = controller.act(permuted, masks, keys)
            found.append(((chosen != base.operations).mean(), _lost(base, chosen)))
        changed, lost = np.mean(found, axis=0)
        rows.append({"feature": name, "changed": float(changed), "lost": float(lost)})
    return sorted(rows, key=lambda row: (-row["changed"], row["feature"]))


def _lost(base: Decision, chosen: NDArray[np.int64]) -> float:
    if base.values is None:
        return float("nan")
    places = np.arange(len(chosen))
    return float((base.values[places, base.operations] - base.values[places, chosen]).mean())
