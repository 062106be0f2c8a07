"""Small forests on random rows, for tests of controllers."""

from functools import lru_cache
from itertools import pairwise

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from evidencegym.actions.operation_set import PRESETS
from evidencegym.controllers.action_rows import row_names
from evidencegym.controllers.continuation import ContinuationModel
from evidencegym.controllers.forest import ForestController
from evidencegym.controllers.mlp_policy import Layer, MLPPolicy, Standardisation
from evidencegym.data.trees import TreeArrays
from evidencegym.envs.features import FeatureMap

OPERATIONS = PRESETS["paper"]
FEATURES = FeatureMap(OPERATIONS).names
COSTS = tuple(
    {"prompt_tokens": 100.0 * i, "completion_tokens": 10.0 * i, "generator_calls": float(i), "retrievals": i / 2}
    for i in range(len(OPERATIONS))
)


@lru_cache(maxsize=8)
def trees(width: int, seed: int, scale: float = 1.0) -> TreeArrays:
    """Return a forest of eight trees that reads rows of ``width`` numbers and predicts about ``scale``."""
    random = np.random.default_rng(seed)
    rows = random.uniform(0, 6, (300, width)).astype(np.float32)
    target = scale * (np.sin(rows.sum(axis=1)) + random.normal(0, 0.1, 300))
    made = RandomForestRegressor(n_estimators=8, min_samples_leaf=4, random_state=seed, n_jobs=1)
    return TreeArrays.from_forest(made.fit(rows, target))


def leaf(width: int, value: float) -> TreeArrays:
    """Return one tree of one leaf: the same value for every row."""
    return TreeArrays(
        np.array([-1], np.int32), np.zeros(1, np.int32), np.array([value]), np.zeros(1, np.int32), 0.0, 1.0, width
    )


def forest(
    continuation: bool = False, cost_weight: float = 0.0, seed: int = 0, values: TreeArrays | None = None
) -> ForestController:
    """Return a forest controller over the paper's operations."""
    width = len(row_names(FEATURES, OPERATIONS))
    vetoing = ContinuationModel(trees(len(FEATURES), seed + 1), 0.1) if continuation else None
    found = values or trees(width, seed)
    return ForestController(found, FEATURES, OPERATIONS, COSTS, vetoing, cost_weight, manifest={"note": "test"})


def network(seed: int = 0, hidden: tuple[int, ...] = (16, 8)) -> MLPPolicy:
    """Return a policy network with random weights over the paper's operations."""
    random = np.random.default_rng(seed)
    widths = [len(FEATURES), *hidden, len(OPERATIONS)]
    layers = [
        Layer(random.normal(0, 1, (a, b)).astype(np.float32), random.normal(0, 1, b).astype(np.float32))
        for a, b in pairwise(widths)
    ]
    inputs = Standardisation(random.normal(0, 1, widths[0]), random.uniform(0.5, 2, widths[0]))
    return MLPPolicy(layers, inputs, FEATURES, OPERATIONS, {"note": "test"})
