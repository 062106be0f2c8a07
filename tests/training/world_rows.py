"""Rows of a tiny synthetic world, and controllers fitted to them."""

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.controllers.forest import ForestController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.world import World
from evidencegym.envs.features import FeatureMap
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.fit import FitSettings, fit_controller
from evidencegym.training.parts import PartStore
from tests.fakes import OverlapGenerator

RULES = Rules()


@lru_cache(maxsize=1)
def rows() -> pa.Table:
    """Return the rows of twelve questions."""
    world = World(300, 1)
    records = list(world.questions(12, "train"))
    engine = Engine(BM25Retriever.build(world.passages()), OverlapGenerator())
    policies = [UniformController(seed, avoid=[RULES.operations.stop]) for seed in range(2)]
    with TemporaryDirectory() as folder:
        store = PartStore(Path(folder), {})
        collect(records, RULES, lambda _: engine, policies, store, CollectSettings())
        return store.compact(record.uid for record in records)


def fitted(targets: str) -> ForestController:
    """Return a small controller fitted to these targets."""
    names = RULES.operations.names
    settings = FitSettings(trees=10, jobs=1, targets=targets, cost_weight=0.05, answer_weight=0.5)
    return fit_controller(rows(), FeatureMap(names).names, names, settings)
