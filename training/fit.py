"""Fitting a forest controller to collected rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from ..actions.costs import COST_NAMES
from ..controllers.action_rows import action_rows, count_columns
from ..controllers.continuation import PERMISSIVE_THRESHOLD, ContinuationModel
from ..controllers.forest import ForestController, cost_matrix
from ..data.errors import ConfigError, ManifestMismatchError
from ..data.trees import TreeArrays
from .rows import feature_matrix
from .targets import targets


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How to fit; trees, leaf and seed are the paper's.

    Attributes:
        trees: trees of each forest, at least 1.
        min_samples_leaf: rows in a leaf, at least 1.
        max_features: share of the features that a split looks at, in (0, 1]; the paper is silent, 1/3 is our choice.
        seed: seed of the forests.
        targets: a name in :data:`.targets.TARGETS`.
        continuation: whether to fit the continuation model.
        continuation_threshold: predicted gain in answer F1 above which stopping is vetoed.
        jobs: processes, at least 1; they change no tree.

    Raises:
        ConfigError: if a number is out of range.
    """

    trees: int = 300
    min_samples_leaf: int = 8
    max_features: float = 1 / 3
    seed: int = 13
    targets: str = "one_step"
    continuation: bool = True
    continuation_threshold: float = PERMISSIVE_THRESHOLD
    jobs: int = 2

    def __post_init__(self) -> None:
        if self.trees < 1 or self.min_samples_leaf < 1 or not 0 < self.max_features <= 1:
            raise ConfigError(
                "fit needs trees >= 1, min_samples_leaf >= 1 and max_features in (0, 1], "
                f"found {self.trees}, {self.min_samples_leaf}, {self.max_features}"
            )
        if self.jobs < 1:
            raise ConfigError(f"fit.jobs must be at least 1, found {self.jobs}")
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"fit.seed must be in 0..{2**32 - 1}, found {self.seed}")
        targets(self.targets)


def fit_controller(
    rows: pa.Table,
    feature_names: Sequence[str],
    operations: Sequence[str],
    settings: FitSettings | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> ForestController:
    """Fit the action-value forest and the continuation model.

    Args:
        rows: what ``collect`` compacted.
        feature_names: names of the features in the rows.
        operations: names of the operation set in the order of their ids.
        settings: see :class:`FitSettings`.
        manifest: what else to note in the controller's manifest.

    Raises:
        ConfigError: if there are no rows, or the continuation model finds no state that went on.
        ManifestMismatchError: if the rows were collected with other features or operations.
    """
    chosen = settings or FitSettings()
    if not rows.num_rows:
        raise ConfigError("cannot fit a controller to no rows; collect first")
    features = feature_matrix(rows)
    _check_rows(rows, features.shape[1], feature_names, operations)
    ids = np.array([list(operations).index(name) for name in rows.column("operation").to_pylist()], np.int64)
    costs = expected_costs(rows, operations)
    matrix = action_rows(features, ids, count_columns(feature_names, operations), cost_matrix(costs))
    values = _forest(matrix, targets(chosen.targets)(rows), chosen)
    noted = asdict(chosen)
    noted.pop("jobs")
    return ForestController(
        TreeArrays.from_forest(values),
        feature_names,
        operations,
        costs,
        _continuation(rows, features, chosen) if chosen.continuation else None,
        manifest={**(manifest or {}), "fit": noted, "rows": rows.num_rows},
    )


def _check_rows(rows: pa.Table, width: int, feature_names: Sequence[str], operations: Sequence[str]) -> None:
    if width != len(feature_names):
        raise ManifestMismatchError(
            f"expected rows of {width} features, found {len(feature_names)} names; collect again"
        )
    if lacking := sorted(set(rows.column("operation").to_pylist()) - set(operations)):
        raise ManifestMismatchError(f"the rows hold operations that the set lacks: {', '.join(lacking)}; collect again")


def expected_costs(rows: pa.Table, operations: Sequence[str]) -> list[dict[str, float]]:
    """Return the mean cost of each operation over the rows; zeros for one that was never valid."""
    names = np.asarray(rows.column("operation").to_pylist(), dtype=object)
    columns = {kind: np.asarray(rows.column(kind).to_numpy(), np.float64) for kind in COST_NAMES}
    return [
        {
            kind: float(column[names == name].mean()) if (names == name).any() else 0.0
            for kind, column in columns.items()
        }
        for name in operations
    ]


def _continuation(rows: pa.Table, features: NDArray[np.float32], settings: FitSettings) -> ContinuationModel:
    """Fit the gain in answer F1 from going on, over the states from which the behaviour episode did go on."""
    operation = np.asarray(rows.column("operation").to_pylist(), dtype=object)
    chosen = np.asarray(rows.column("chosen").to_numpy(zero_copy_only=False), bool)
    held = np.asarray(rows.column("step").to_numpy(), np.int64) > 0
    prefix = chosen & held & (operation != "stop_answer")
    if not prefix.any():
        raise ConfigError(
            "the rows hold no state from which an episode went on, which the continuation model needs: "
            "caps and operations leave no second step; set fit.continuation to false"
        )
    gain = rows.column("final_f1").to_numpy() - rows.column("answer_f1").to_numpy()
    forest = _forest(features[prefix], np.asarray(gain, np.float64)[prefix], settings)
    return ContinuationModel(TreeArrays.from_forest(forest), settings.continuation_threshold)


def _forest(matrix: NDArray[np.float32], target: NDArray[np.float64], settings: FitSettings) -> RandomForestRegressor:
    forest = RandomForestRegressor(
        n_estimators=settings.trees,
        min_samples_leaf=settings.min_samples_leaf,
        max_features=settings.max_features,
        random_state=settings.seed,
        n_jobs=settings.jobs,
    )
    return forest.fit(matrix, target)
