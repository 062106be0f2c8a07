"""The whole of training: generators, collection, fit; every part is kept in the run's folder and resumed from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.workers import Workers
from ..controllers.files import save_controller
from ..controllers.forest import ForestController
from ..controllers.uniform import UniformController
from ..data.records import Record, content_hash
from ..envs.build import build_rules, rules_of
from ..envs.features import FeatureMap
from ..envs.rollout import Policy
from ..envs.settings import TaskSettings
from ..generation.base import Generator
from ..ranking.base import Ranker
from ..retrieval.base import Retriever
from .collect import CollectSettings, collect
from .correction import NO_CORRECTION, Correction
from .fit import FitSettings, fit_controller
from .generators import Generators
from .parts import PartStore
from .rankers import NO_RANKERS, Rankers
from .rows import ROW_FORMAT

COLLECTION = "collection"

Progress = Callable[[int, int], None]


class Behaviour(NamedTuple):
    """Whom a collection follows.

    Attributes:
        policies: one an episode.
        noted: what the manifest says of them: all that can change a choice.
    """

    policies: Sequence[Policy]
    noted: Mapping[str, Any]


def collect_rows(
    settings: TaskSettings,
    records: Sequence[Record],
    retriever: Retriever,
    generators: Generators,
    folder: Path,
    collecting: CollectSettings,
    seed: int,
    progress: Progress | None = None,
    workers: Workers | None = None,
    rankers: Rankers = NO_RANKERS,
    behaviour: Behaviour | None = None,
    correction: Correction = NO_CORRECTION,
) -> Any:
    """Collect, resuming what ``folder`` holds, and return the compacted rows (a ``pyarrow.Table``).

    Without a ``behaviour`` it is uniform over the valid operations and avoids stopping, which is tried from every
    state.
    """
    rules = build_rules(settings)
    followed = behaviour or uniform_behaviour(rules, collecting.episodes, seed)
    manifest = _collection_manifest(settings, records, retriever, generators, rankers, followed)
    store = PartStore(folder, manifest | correction.depends(records))
    engine_of = engines(retriever, generators, rankers, correction)
    collect(records, rules, engine_of, followed.policies, store, collecting, progress, workers)
    return store.compact(record.uid for record in records)


def uniform_behaviour(rules: Rules, episodes: int, seed: int) -> Behaviour:
    """Return the behaviour of the first collection: uniform over the valid operations, avoiding ``stop_answer``."""
    stop = rules.operations.stop
    policies = [UniformController(seed * 1_000_003 + episode, avoid=[stop]) for episode in range(episodes)]
    return Behaviour(policies, {"policy": "uniform without stop_answer", "seed": seed, "episodes": episodes})


def engines(
    retriever: Retriever, generators: Generators, rankers: Rankers, correction: Correction = NO_CORRECTION
) -> Callable[[Record], Engine]:
    """Return what gives each question its engine; questions with the same models share one."""
    made: dict[tuple[int, int, int], Engine] = {}

    def engine_of(record: Record) -> Engine:
        generator, ranker, evaluator = generators.of(record), rankers.of(record), correction.of(record)
        key = id(generator), id(ranker), id(evaluator)
        if key not in made:
            made[key] = Engine(retriever, generator, ranker=ranker, evaluator=evaluator, external=correction.external)
        return made[key]

    return engine_of


def fit_rows(
    settings: TaskSettings,
    rows: Any,
    folder: Path,
    fitting: FitSettings,
    generator: Generator,
    seed: int,
    ranker: Ranker | None = None,
    correction: Correction = NO_CORRECTION,
) -> ForestController:
    """Fit a controller to compacted rows and save it in ``folder``."""
    controller = controller_of(settings, rows, fitting, generator, seed, ranker, correction=correction)
    save_controller(controller, folder)
    return controller


def controller_of(
    settings: TaskSettings,
    rows: Any,
    fitting: FitSettings,
    generator: Generator,
    seed: int,
    ranker: Ranker | None = None,
    noted: Mapping[str, Any] | None = None,
    correction: Correction = NO_CORRECTION,
) -> ForestController:
    """Fit a controller to compacted rows; its manifest says how it was made, and what is ``noted``."""
    operations = build_rules(settings).operations.names
    manifest = {
        "dataset": settings.dataset,
        "caps": asdict(settings.caps),
        "rules": rules_of(settings),
        "collection_seed": seed,
        "generator": generator.fingerprint,
        **settings.generator_source.noted(),
        "ranker": ranker.fingerprint if ranker else "",
        "ranker_source": settings.ranker,
        "encoder_source": settings.encoder.source(),
        "retrieval_source": settings.retrieval.source(),
        "questions": len(set(rows.column("question_id").to_pylist())),
        "data": content_hash(*rows.column("question_id").to_pylist()),
        **correction.noted(settings),
        **(noted or {}),
    }
    return fit_controller(rows, FeatureMap(operations).names, operations, fitting, manifest)


def _collection_manifest(
    settings: TaskSettings,
    records: Sequence[Record],
    retriever: Retriever,
    generators: Generators,
    rankers: Rankers,
    behaviour: Behaviour,
) -> dict[str, Any]:
    """Return everything that the rows depend on."""
    operations = build_rules(settings).operations
    return {
        "dataset": settings.dataset,
        "questions": content_hash(*sorted(record.uid for record in records)),
        "operations": list(operations.names),
        "disabled": sorted(operations.disabled),
        "features": list(FeatureMap(operations.names).names),
        "caps": asdict(settings.caps),
        "rules": rules_of(settings),
        "retriever": retriever.fingerprint,
        "generators": sorted({generators.of(record).fingerprint for record in records}),
        "rankers": sorted({ranker.fingerprint for record in records if (ranker := rankers.of(record))}),
        "behaviour": dict(behaviour.noted),
        "row_format": ROW_FORMAT,
    }
