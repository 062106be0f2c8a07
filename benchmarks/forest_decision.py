"""How much faster is a decision through the plain arrays than through scikit-learn's ``predict`` (n_jobs=1)?

    python benchmarks/forest_decision.py

Every ratio is between medians of turns taken in one run, on inputs that rotate (repeated ones flatter branchy code),
and every prediction is checked to be bit-equal.
"""

from __future__ import annotations

import io
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from timing import medians, record

from evidencegym.data.storage import load_folder, save_folder
from evidencegym.data.trees import TreeArrays

STATES = 10_000


def forest(trees: int, features: int, **limits: int) -> RandomForestRegressor:
    """Fit a forest to noise with some signal."""
    rng = np.random.default_rng(0)
    rows = rng.random((16_000, features), np.float32)
    target = rows[:, 0] * rows[:, 1] + rows[:, 2] + 0.3 * rng.standard_normal(len(rows))
    model = RandomForestRegressor(trees, max_features=1 / 3, random_state=13, n_jobs=2, **limits).fit(rows, target)
    model.n_jobs = 1
    return model


def ratio(
    model: RandomForestRegressor, arrays: TreeArrays, states: NDArray[np.float32], rows: int, rounds: int
) -> float:
    """Return how many times faster the arrays predict ``rows`` rows at once."""
    turns = {
        name: (cycle(states[i : i + rows] for i in range(0, len(states) - rows, rows)), predict)
        for name, predict in (("sklearn", model.predict), ("arrays", arrays.predict))
    }
    calls = {name: (lambda rows=rows, predict=predict: predict(next(rows))) for name, (rows, predict) in turns.items()}
    found = medians(calls, rounds)
    return found["sklearn"] / found["arrays"]


def files(model: RandomForestRegressor, arrays: TreeArrays) -> dict[str, float]:
    """Compare size and loading time of the two kinds of file."""
    with TemporaryDirectory() as folder:
        save_folder(Path(folder) / "arrays", arrays.arrays("value_"), {"kind": "trees"})
        joblib.dump(model, Path(folder) / "model.joblib")
        sizes = [(Path(folder) / name).stat().st_size for name in ("arrays/arrays.npz", "model.joblib")]
        dumped = (Path(folder) / "model.joblib").read_bytes()

        def load() -> Any:
            return TreeArrays.from_arrays(load_folder(Path(folder) / "arrays", "trees")[0], "value_")

        found = medians({"joblib": lambda: joblib.load(io.BytesIO(dumped)), "arrays": load}, 20)
    return {"size_of_joblib": sizes[0] / sizes[1], "loads_times_faster": found["joblib"] / found["arrays"]}


def main() -> None:
    """Measure the paper's controller and a forest of 200 trees of depth 12."""
    deep, paper = forest(200, 80, max_depth=12), forest(300, 80, min_samples_leaf=8)
    states = np.random.default_rng(1).random((STATES, 80), np.float32)
    numbers: dict[str, Any] = {}
    for name, model in (("200 trees, depth 12", deep), ("300 trees, leaf 8", paper)):
        arrays = TreeArrays.from_forest(model)
        if not np.array_equal(arrays.predict(states), model.predict(states)):
            raise SystemExit(f"{name}: predictions differ")
        rows = {f"times_faster_{n}_rows": round(ratio(model, arrays, states, n, 60), 1) for n in (1, 7, 224, 1792)}
        numbers[name] = {"nodes": len(arrays.feature), "bit_equal_states": STATES, **rows}
    numbers["300 trees, leaf 8"] |= files(paper, TreeArrays.from_forest(paper))
    record("forest_decision", numbers)


if __name__ == "__main__":
    main()
