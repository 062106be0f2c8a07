"""Controllers trained on what a recording of a language model holds, driving the extractive generator.

The rows are those of ``collect`` along the learned controller's episodes on the recorded questions: every valid
operation of each visited state is tried. What needs a response that the recording lacks is left out, so an operation
that asks the model has rows only where the controller chose it; retrievals that ask nobody and stopping have rows
everywhere. Answers of states in which no episode ended are not recorded either, so the targets are ``one_step``,
without a continuation model. The controllers are compared on dev questions that are not recorded.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evidencegym.actions.engine import Engine
from evidencegym.controllers.forest import ForestController
from evidencegym.data.errors import RecordingMissError
from evidencegym.data.records import Passage, Record
from evidencegym.envs.build import build_retriever, build_rules, load_ranker
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import Policy
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.runner import Method, run_method
from evidencegym.eval.statistics import bootstrap_mean
from evidencegym.eval.suite.ground import sample
from evidencegym.eval.suite.trained import Trained
from evidencegym.generation.base import Generator
from evidencegym.generation.recording import RecordedGenerator
from evidencegym.generation.recording_store import Recording
from evidencegym.generation.tasks import Failed, Usage
from evidencegym.retrieval.base import Retriever
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.fit import FitSettings, fit_controller
from evidencegym.training.parts import PartStore

MISSED = 1_000_000
"""Calls that a response which is not recorded is charged, so that its row is found."""
OTHERS = 100
"""Questions that the controllers are compared on."""
FIT = FitSettings(continuation=False, jobs=1)


@dataclass
class Ground:
    """A trained run with the dev questions and the passages of its data set."""

    trained: Trained
    records: list[Record]
    passages: list[Passage]

    @cached_property
    def by_question(self) -> dict[str, Record]:
        """The dev questions by their text."""
        return {record.question.text: record for record in self.records}

    @cached_property
    def by_id(self) -> dict[str, Passage]:
        """The passages by their id."""
        return {passage.id: passage for passage in self.passages}

    @cached_property
    def retriever(self) -> Retriever:
        """Searches the passages."""
        return build_retriever(self.trained.settings, self.records)

    def engine(self, generator: Generator) -> Engine:
        """Return an engine with a generator and the run's ranker."""
        ranker = load_ranker(self.trained.settings.ranker, self.retriever, self.trained.folder)
        return Engine(self.retriever, generator, ranker=ranker)


class OnlyRecorded(RecordedGenerator):
    """Replays; what is not recorded is ``Failed``, at a price that no response has."""

    def _served(self, kind: str, tasks: Sequence[Any]) -> list[Any]:
        return [self._one(kind, task) for task in tasks]

    def _one(self, kind: str, task: Any) -> Any:
        try:
            return super()._served(kind, [task])[0]
        except RecordingMissError:
            return Failed("not recorded", Usage(calls=MISSED))


def rows_of(records: Sequence[Record], settings: TaskSettings, engine: Engine, policy: Policy) -> pa.Table:
    """Return the rows along a policy's episodes, without those that lack a response."""
    rules = build_rules(settings)
    with tempfile.TemporaryDirectory() as folder:
        store = PartStore(Path(folder), {})
        collect(records, rules, lambda record: engine, [policy], store, CollectSettings(episodes=1))
        table = store.compact([record.uid for record in records])
    return table.filter(pc.less(table.column("generator_calls"), MISSED))


def fitted(rows: pa.Table, settings: TaskSettings) -> ForestController:
    """Return a controller fitted to the rows."""
    operations = list(build_rules(settings).operations.names)
    return fit_controller(rows, FeatureMap(operations).names, operations, FIT)


def reverse(ground: Ground, uids: Sequence[str], recording: Path, context_documents: int = 6) -> dict[str, Any]:
    """Train on the recorded questions ``uids``, with either generator, and drive the extractive generator on others."""
    own, wanted = ground.trained.generator(), set(uids)
    settings = ground.trained.settings
    settings = replace(settings, caps=replace(settings.caps, context_documents=context_documents))
    records = [record for record in ground.records if record.uid in wanted]
    others = sample([record for record in ground.records if record.uid not in wanted], OTHERS, 0)
    learned = ground.trained.controller()
    engines = {
        "language_model": ground.engine(OnlyRecorded(None, Recording(recording, read_only=True), "replay")),
        "extractive": ground.engine(own),
    }
    rows = {name: rows_of(records, settings, engine, learned) for name, engine in engines.items()}
    # The same gaps as in the recording: of an operation that asks, what the controller chose.
    everything = rows["extractive"]
    asking = pc.and_(pc.greater(everything["generator_calls"], 0), pc.invert(everything["chosen"]))
    rows["extractive, same gaps"] = everything.filter(pc.invert(asking))
    controllers = {name: fitted(table, settings) for name, table in rows.items()} | {"the run's own": learned}
    engine, rules = engines["extractive"], build_rules(settings)
    found = {n: run_method(Method(n, rules, policy), others, engine) for n, policy in controllers.items()}
    return {
        "questions": len(records),
        "other_questions": len(others),
        "rows": {name: dict(sorted(Counter(t.column("operation").to_pylist()).items())) for name, t in rows.items()},
        **{name: _scores(results) for name, results in found.items()},
    }


def _scores(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    columns: dict[str, list[float]] = {
        "support_recall": [r["metrics"]["support_recall"] for r in results],
        "answer_f1": [r["metrics"]["answer_f1"] for r in results],
        "retrievals": [r["cost"]["retrievals"] for r in results],
        "generator_calls": [r["cost"]["generator_calls"] for r in results],
    }
    return {name: bootstrap_mean(np.array(values))._asdict() for name, values in columns.items()}
