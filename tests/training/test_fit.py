"""Fitting: equal bytes, honest costs, clear refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.ensemble import RandomForestRegressor

from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.action_rows import action_rows, count_columns
from evidencegym.controllers.continuation import PERMISSIVE_THRESHOLD
from evidencegym.controllers.files import load_controller, save_controller
from evidencegym.controllers.forest import ForestController, cost_matrix
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import rollout
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.fit import FitSettings, expected_costs, fit_controller
from evidencegym.training.parts import PartStore
from evidencegym.training.rows import feature_matrix
from evidencegym.training.targets import one_step
from tests.small_world import engine, records

RULES = Rules()
NAMES = RULES.operations.names
FEATURES = FeatureMap(NAMES).names


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    shared, store = engine(), PartStore(tmp_path_factory.mktemp("rows"), {})
    policies = [UniformController(seed, avoid=[RULES.operations.stop]) for seed in range(4)]
    collect(records(), RULES, lambda _: shared, policies, store, CollectSettings(episodes=4))
    return store.compact(record.uid for record in records())


def fit(rows: pa.Table, **changed: Any) -> ForestController:
    chosen = {"trees": 12, "min_samples_leaf": 2, "jobs": 1} | changed
    return fit_controller(rows, FEATURES, NAMES, FitSettings(**chosen), {"dataset": "small"})


def saved(controller: ForestController, folder: Path) -> dict[str, bytes]:
    save_controller(controller, folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_two_fits_give_equal_bytes_whatever_the_jobs(rows: pa.Table, tmp_path: Path) -> None:
    first = saved(fit(rows), tmp_path / "a")
    assert first == saved(fit(rows), tmp_path / "b")
    assert first == saved(fit(rows, jobs=2), tmp_path / "c")
    assert first["arrays.npz"] != saved(fit(rows, seed=14), tmp_path / "d")["arrays.npz"]


def test_the_controller_holds_the_forest_of_scikit_learn(rows: pa.Table) -> None:
    ids = np.array([NAMES.index(name) for name in rows.column("operation").to_pylist()])
    matrix = action_rows(
        feature_matrix(rows), ids, count_columns(FEATURES, NAMES), cost_matrix(expected_costs(rows, NAMES))
    )
    forest = RandomForestRegressor(12, min_samples_leaf=2, max_features=1 / 3, random_state=13, n_jobs=1)
    expected = forest.fit(matrix, one_step(rows)).predict(matrix)
    assert fit(rows).trees.predict(matrix).tobytes() == expected.tobytes()


def test_the_continuation_model_learns_the_gain_of_going_on(rows: pa.Table) -> None:
    prefix = [r for r in rows.to_pylist() if r["chosen"] and r["step"] > 0 and r["operation"] != "stop_answer"]
    matrix = np.array([r["features"] for r in prefix], np.float32)
    gain = np.array([r["final_f1"] - r["answer_f1"] for r in prefix])
    forest = RandomForestRegressor(12, min_samples_leaf=2, max_features=1 / 3, random_state=13, n_jobs=1)
    model = fit(rows).continuation
    assert model is not None and model.threshold == PERMISSIVE_THRESHOLD
    assert model.trees.predict(matrix).tobytes() == forest.fit(matrix, gain).predict(matrix).tobytes()
    assert fit(rows, continuation=False).continuation is None


def test_expected_costs_are_means_over_the_rows(rows: pa.Table) -> None:
    costs = dict(zip(NAMES, expected_costs(rows, NAMES)))
    assert costs["retrieve_more"] == dict.fromkeys(costs["retrieve_more"], 0.0) | {"retrievals": 1.0}
    assert costs["sufficiency_check"]["generator_calls"] == 1 and costs["sufficiency_check"]["prompt_tokens"] == 7
    assert 0 < costs["rewrite_query"]["retrievals"] <= 1
    assert set(costs["compress"].values()) == set(costs["stop_answer"].values()) == {0.0}


def test_the_manifest_says_how_it_was_made(rows: pa.Table, tmp_path: Path) -> None:
    save_controller(fit(rows, jobs=2), tmp_path / "a")
    manifest = load_controller(tmp_path / "a", FEATURES, NAMES).manifest
    assert manifest["rows"] == rows.num_rows and manifest["dataset"] == "small"
    assert manifest["fit"]["trees"] == 12 and manifest["fit"]["targets"] == "one_step" and "jobs" not in manifest["fit"]


def test_a_fitted_controller_beats_chance_on_what_it_was_fitted_on(rows: pa.Table) -> None:
    from evidencegym.eval.runner import Method, run_method

    def recall(policy: Any) -> float:
        # Free to stop, one-step targets stop at once (half the support is worth more than any gain), so all must go on.
        retrieving = Rules(operation_set(disabled=["stop_answer", "sufficiency_check"]))
        results = run_method(Method("m", retrieving, policy), records(), engine())
        return float(np.mean([result["metrics"]["support_recall"] for result in results]))

    learned = fit(rows, continuation=False, trees=40)
    assert recall(learned) >= np.mean([recall(UniformController(seed)) for seed in range(5)])
    assert len(rollout([r.question for r in records()], RULES, engine(), learned)) == 8


def test_the_paper_s_numbers_are_the_default() -> None:
    made = FitSettings()
    assert (made.trees, made.min_samples_leaf, made.seed, made.targets) == (300, 8, 13, "one_step")


@pytest.mark.parametrize(
    "changed",
    [
        {"trees": 0},
        {"min_samples_leaf": 0},
        {"max_features": 0.0},
        {"max_features": 1.5},
        {"targets": "x"},
        {"discount": 1.1},
        {"discount": float("nan")},
        {"trace": -0.1},
        {"cost_weight": -1.0},
        {"cost_weight": float("inf")},
        {"cost_weights": {"coffee": 1.0}},
        {"cost_weights": {"retrievals": -1.0}},
        {"answer_weight": -0.5},
        {"folds": 1},
        {"continuation_threshold": "lenient"},
        {"continuation_threshold": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        FitSettings(**changed)


@pytest.mark.parametrize("jobs", [0, -3])
def test_jobs_are_at_least_one(jobs: int) -> None:
    with pytest.raises(ConfigError, match=f"fit.jobs must be at least 1, found {jobs}"):
        FitSettings(jobs=jobs)


def test_rows_that_do_not_fit_are_refused(rows: pa.Table) -> None:
    with pytest.raises(ConfigError, match="cannot fit a controller to no rows; collect first"):
        fit_controller(rows.slice(0, 0), FEATURES, NAMES)
    with pytest.raises(ConfigError, match="cannot fit a controller to no rows"):
        fit_controller(pa.table({}), FEATURES, NAMES)
    with pytest.raises(ManifestMismatchError, match="rows hold operations that the set lacks: gap_query"):
        fit_controller(rows, FEATURES, [name for name in NAMES if name != "gap_query"])
    with pytest.raises(
        ManifestMismatchError, match=f"rows of {len(FEATURES)} features, found {len(FEATURES) - 1} names"
    ):
        fit_controller(rows, FEATURES[:-1], NAMES)


def test_a_model_of_going_on_needs_states_that_went_on(rows: pa.Table) -> None:
    first = rows.filter(pa.compute.equal(rows.column("step"), 0))
    with pytest.raises(ConfigError, match="continuation to false"):
        fit(first)
    assert fit(first, continuation=False).continuation is None


def test_a_fitted_threshold_is_the_best_out_of_fold(rows: pa.Table) -> None:
    permissive, fitted = fit(rows), fit(rows, continuation_threshold="fitted")
    assert permissive.continuation is not None and fitted.continuation is not None
    assert permissive.manifest["fit"]["threshold"] == 0.0
    assert fitted.manifest["fit"]["threshold"] == fitted.continuation.threshold != 0.0
    assert fitted.fingerprint == fit(rows, continuation_threshold="fitted").fingerprint
    number = fit(rows, continuation_threshold=0.25).continuation
    assert number is not None and number.threshold == 0.25


@pytest.mark.parametrize("targets", ["q_lambda", "fitted_q"])
def test_targets_over_several_steps_are_noted_and_repeat(rows: pa.Table, targets: str, tmp_path: Path) -> None:
    made = fit(rows, targets=targets, answer_weight=0.5, cost_weight=0.1)
    assert made.continuation is None and made.manifest["fit"]["continuation"] is False
    assert made.manifest["fit"] | {"targets": targets, "answer_weight": 0.5, "discount": 1.0} == made.manifest["fit"]
    again = fit(rows, targets=targets, answer_weight=0.5, cost_weight=0.1, jobs=2)
    assert saved(made, tmp_path / "a") == saved(again, tmp_path / "b")
    assert made.fingerprint != fit(rows, targets=targets).fingerprint
    assert fit(rows, targets=targets, continuation=True).continuation is not None
