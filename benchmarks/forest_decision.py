"""How much faster is a decision through the plain arrays than through scikit-learn's ``predict`` (n_jobs=1)?

    python benchmarks/forest_decision.py

The forests are fitted to rows collected in the synthetic world, and asked about the states of these episodes, which
rotate (repeated inputs flatter branchy code). Every ratio is between medians of one run. The contenders take turns in
blocks of 20 calls, as in a program that runs one of them; the figures ``call_by_call`` alternate after each call, so
that each finds the caches as the other left them. Times are this thread's CPU time: on a busy machine a call of
milliseconds is interrupted, one of microseconds is not, and the wall clock would flatter us. Equality is to the bit,
on 10,000 random states: every feature drawn for itself from what was collected.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from timing import medians, record

from evidencegym.controllers.action_rows import action_rows, count_columns
from evidencegym.controllers.files import load_controller, save_controller
from evidencegym.controllers.forest import ForestController, cost_matrix
from evidencegym.data.trees import TreeArrays
from evidencegym.envs.build import build_retriever, build_rules, load_records
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.settings import TaskSettings
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit import FitSettings, expected_costs
from evidencegym.training.generators import prepare_generators
from evidencegym.training.pipeline import collect_rows
from evidencegym.training.rows import feature_matrix
from evidencegym.training.targets import one_step

STATES, QUESTIONS, BLOCK = 10_000, 400, 20
SETTINGS = TaskSettings(train_questions=QUESTIONS)
OPERATIONS = build_rules(SETTINGS).operations.names
NAMES = FeatureMap(OPERATIONS).names

Matrix = NDArray[np.float32]


def collected() -> Any:
    """Collect rows as ``train`` does."""
    records = load_records(SETTINGS, "train")
    retriever = build_retriever(SETTINGS, records)
    with TemporaryDirectory() as folder:
        generators = prepare_generators(SETTINGS.generator, records, retriever, Path(folder) / "generator", 0)
        return collect_rows(SETTINGS, records, retriever, generators, Path(folder) / "rows", CollectSettings(), seed=0)


def fitted(matrix: Matrix, target: NDArray[np.float64], trees: int, **limits: int) -> RandomForestRegressor:
    """Fit a forest as ``train`` does, but for ``limits``."""
    chosen = FitSettings()
    model = RandomForestRegressor(
        trees, max_features=chosen.max_features, random_state=chosen.seed, n_jobs=2, **limits
    ).fit(matrix, target)
    model.n_jobs = 1
    return model


def ratios(slow: Callable[[Matrix], Any], fast: Callable[[Matrix], Any], rows: Matrix, size: int) -> dict[str, float]:
    """Return how many times faster ``fast`` is on ``size`` rows at once, in blocks and call by call."""
    parts = [rows[i : i + size] for i in range(0, len(rows) - size + 1, size)]
    turns = {"slow": (slow, cycle(parts)), "fast": (fast, cycle(parts))}
    calls = {name: partial(lambda call, parts: call(next(parts)), *turn) for name, turn in turns.items()}
    calls_each = 200 if size < 100 else 40
    found = {
        name: medians(calls, calls_each // block, block, time.thread_time)
        for name, block in (("", BLOCK), ("_call_by_call", 1))
    }
    return {f"times_faster_{size}{name}": round(f["slow"] / f["fast"], 1) for name, f in found.items()}


def files(model: RandomForestRegressor, controller: ForestController) -> dict[str, float]:
    """Compare size and loading time of the two kinds of file; ours holds the manifest, too."""
    with TemporaryDirectory() as folder:
        ours = Path(folder) / "controller"
        save_controller(controller, ours)
        joblib.dump(model, Path(folder) / "model.joblib")
        dumped = (Path(folder) / "model.joblib").read_bytes()
        size = sum(file.stat().st_size for file in ours.iterdir())
        load = partial(load_controller, ours, controller.feature_names, controller.operations)
        found = medians({"joblib": lambda: joblib.load(io.BytesIO(dumped)), "ours": load}, 20, clock=time.thread_time)
    return {
        "size_of_joblib": round(size / len(dumped), 3),
        "loads_times_faster": round(found["joblib"] / found["ours"], 1),
    }


def main() -> None:
    """Measure a forest of 200 trees of depth 12, and the controller as trained."""
    table = collected()
    features, costs = feature_matrix(table), expected_costs(table, OPERATIONS)
    counts, priors = count_columns(NAMES, OPERATIONS), cost_matrix(costs)
    ids = np.array([OPERATIONS.index(name) for name in table.column("operation").to_pylist()], np.int64)
    matrix, target = action_rows(features, ids, counts, priors), one_step(table)
    random = np.random.default_rng(1)
    drawn = np.stack([random.choice(column, STATES) for column in features.T], axis=1)
    states = random.permutation(np.unique(features, axis=0))
    every = np.tile(np.arange(len(OPERATIONS)), len(states))
    scored = action_rows(np.repeat(states, len(OPERATIONS), axis=0), every, counts, priors)
    checked = action_rows(drawn, random.integers(0, len(OPERATIONS), STATES), counts, priors)
    single = random.permutation(matrix)

    numbers: dict[str, Any] = {"bit_equal_states": STATES}
    forests = {
        "200 trees, depth 12": fitted(matrix, target, 200, max_depth=12),
        "300 trees, leaf 8": fitted(
            matrix, target, FitSettings().trees, min_samples_leaf=FitSettings().min_samples_leaf
        ),
    }
    for name, model in forests.items():
        arrays = TreeArrays.from_forest(model)
        if not np.array_equal(arrays.predict(checked), model.predict(checked)):
            raise SystemExit(f"{name}: predictions differ")
        numbers[name] = {"nodes": len(arrays.feature), **ratios(model.predict, arrays.predict, single, 1)}
        for size in (7, 224, 1792):
            numbers[name] |= ratios(model.predict, arrays.predict, scored, size)
    paper = forests["300 trees, leaf 8"]
    controller = ForestController(TreeArrays.from_forest(paper), NAMES, OPERATIONS, costs)
    numbers["decide"] = whole(paper, controller, states, scored)
    record("forest_decision", numbers | {"files": files(paper, controller)})


def whole(
    model: RandomForestRegressor, controller: ForestController, states: Matrix, scored: Matrix
) -> dict[str, float]:
    """Compare ``decide`` itself (rows, forest, choice) with scikit-learn's predictions of rows that are there."""
    found: dict[str, float] = {}
    for episodes in (1, 32, 256):
        mask = np.ones((episodes, len(OPERATIONS)), np.int8)
        shown = cycle([states[i : i + episodes] for i in range(0, len(states) - episodes + 1, episodes)])
        size = episodes * len(OPERATIONS)
        decide = partial(_decide, controller, shown, mask, [""] * episodes)
        for key, value in ratios(model.predict, decide, scored, size).items():
            found[key.replace(str(size), f"{episodes}_episodes", 1)] = value
    return found


def _decide(controller: ForestController, states: Any, mask: NDArray[np.int8], keys: list[str], _: Matrix) -> Any:
    return controller.decide(next(states), mask, keys)


if __name__ == "__main__":
    main()
