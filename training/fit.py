"""Fitting a forest controller to collected rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..actions.costs import COST_NAMES
from ..controllers.action_rows import action_rows, count_columns
from ..controllers.continuation import PERMISSIVE, ContinuationModel, best_threshold, fixed_threshold
from ..controllers.forest import ForestController, cost_matrix
from ..data.errors import ConfigError, ManifestMismatchError
from .fitted_q import Iteration, fitted_q, q_lambda
from .forests import Forest, out_of_fold, question_folds
from .returns import Return, transitions
from .rows import check_columns, feature_matrix
from .targets import FITTED_Q, ONE_STEP, check_targets, one_step

INNER_TREES = 100
"""Most trees of a forest that only serves the next iteration."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How to fit; trees, leaf and seed are the paper's.

    Attributes:
        trees: trees of each forest, at least 1.
        min_samples_leaf: rows in a leaf, at least 1.
        max_features: share of the features that a split looks at, in (0, 1]; the paper is silent, 1/3 is our choice.
        seed: seed of the forests and of the folds.
        targets: one_step (the paper), q_lambda (returns over the trajectories) or fitted_q (fitted Q iteration).
        discount: gamma of the return, in [0, 1]; one_step targets know none.
        trace: share in [0, 1] of the trajectory's own return in q_lambda.
        cost_weight: lambda of the return, at least 0; one_step targets know none.
        cost_weights: w_k of each kind of cost, tokens in thousands.
        answer_weight: worth of the final answer's token F1 in the return, at least 0; one_step targets know none.
        folds: folds of questions for what must not have seen its question, at least 2.
        continuation: whether to fit the continuation model; left out, with one_step targets only, since the others say
            themselves when to stop.
        continuation_threshold: predicted gain in answer F1 above which stopping is vetoed: permissive (0), fitted (the
            best for the answer F1, out of fold), or a number.
        jobs: processes, at least 1; they change no tree.

    Raises:
        ConfigError: if a number is out of range.
    """

    trees: int = 300
    min_samples_leaf: int = 8
    max_features: float = 1 / 3
    seed: int = 13
    targets: str = ONE_STEP
    discount: float = 1.0
    trace: float = 0.5
    cost_weight: float = 0.0
    cost_weights: dict[str, float] = field(default_factory=lambda: {"prompt_tokens": 1.0, "completion_tokens": 1.0})
    answer_weight: float = 0.0
    folds: int = 3
    continuation: bool | None = None
    continuation_threshold: float | str = PERMISSIVE
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
        if not 0 <= self.trace <= 1:
            raise ConfigError(f"fit.trace must be in [0, 1], found {self.trace}")
        if self.folds < 2:
            raise ConfigError(f"fit.folds must be at least 2, found {self.folds}")
        check_targets(self.targets)
        fixed_threshold(self.continuation_threshold)
        _ = self.worth

    @property
    def worth(self) -> Return:
        """The return that the settings describe."""
        return Return(self.discount, self.cost_weight, self.cost_weights, self.answer_weight)

    @property
    def vetoes(self) -> bool:
        """Whether a continuation model is fitted."""
        return self.targets == ONE_STEP if self.continuation is None else self.continuation

    @property
    def forest(self) -> Forest:
        """How the forests are grown."""
        return Forest(self.trees, self.min_samples_leaf, self.max_features, self.seed, self.jobs)

    @property
    def inner(self) -> Forest:
        """How the forests between two iterations are grown: fewer trees, of drawn thresholds."""
        return self.forest._replace(trees=min(self.trees, INNER_TREES), extra=True)


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
    check_columns(rows)
    features = feature_matrix(rows)
    _check_rows(rows, features.shape[1], feature_names, operations)
    ids = np.array([list(operations).index(name) for name in rows.column("operation").to_pylist()], np.int64)
    costs = expected_costs(rows, operations)
    matrix = action_rows(features, ids, count_columns(feature_names, operations), cost_matrix(costs))
    values = chosen.forest.fit(matrix, action_values(rows, feature_names, operations, chosen))
    continuation = _continuation(rows, features, chosen) if chosen.vetoes else None
    noted = asdict(chosen) | {"continuation": chosen.vetoes}
    noted.pop("jobs")
    if continuation is not None:
        noted["threshold"] = continuation.threshold
    return ForestController(
        values,
        feature_names,
        operations,
        costs,
        continuation,
        manifest={**(manifest or {}), "fit": noted, "rows": rows.num_rows},
    )


def action_values(
    rows: pa.Table, feature_names: Sequence[str], operations: Sequence[str], settings: FitSettings
) -> NDArray[np.float64]:
    """Return (rows,) the targets that the settings name."""
    if settings.targets == ONE_STEP:
        return one_step(rows)
    moves = transitions(rows, operations, settings.worth)
    costs = cost_matrix(expected_costs(rows, operations))
    iteration = Iteration(
        moves, feature_names, operations, costs, settings.inner, folds=settings.folds, fold_seed=settings.seed
    )
    if settings.targets == FITTED_Q:
        return fitted_q(moves, settings.discount, iteration)
    return q_lambda(moves, settings.discount, settings.trace, iteration)


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
    gain = np.asarray(rows.column("final_f1").to_numpy() - rows.column("answer_f1").to_numpy(), np.float64)[prefix]
    matrix = features[prefix]
    threshold = fixed_threshold(settings.continuation_threshold)
    if threshold is None:
        questions = np.asarray(rows.column("question_id").to_pylist(), dtype=np.str_)[prefix]
        predicted = out_of_fold(
            lambda kept: settings.forest.fit(matrix[kept], gain[kept]),
            lambda model, asked: model.predict(matrix[asked]),
            question_folds(questions, settings.folds, settings.seed),
            settings.folds,
        )
        threshold = best_threshold(predicted, gain)
    return ContinuationModel(settings.forest.fit(matrix, gain), threshold)
