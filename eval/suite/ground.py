"""What the methods of one data set run on: questions, passages, reader, and an engine for each ranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...actions.engine import Engine
from ...confidence.base import Evaluator
from ...data.annotations import require_annotated
from ...data.records import Record, content_hash
from ...envs.build import build_external, build_retriever, load_judge, load_ranker, load_records
from ...generation.base import Generator
from ...retrieval.base import Retriever
from ...retrieval.external import ExternalSource
from .trained import Trained


@dataclass
class Ground:
    """The ground of one data set.

    Attributes:
        dataset: its name.
        trained: the run that was trained on it.
        records: the dev questions, in the order of the file.
        retriever: searches its passages.
        generator: reads and judges, the same for every method.
        evaluator: judges evidence where the run has a corrective gate.
        external: is searched by the gate.
    """

    dataset: str
    trained: Trained
    records: Sequence[Record]
    retriever: Retriever
    generator: Generator
    evaluator: Evaluator | None = None
    external: ExternalSource | None = None
    _engines: dict[tuple[str, bool], Engine] = field(default_factory=dict)

    def engine(self, ranker: str, floored: bool = True) -> Engine:
        """Return the engine with a ranker: "none" or its folder; methods with the same one share its replies.

        The ranker has the floor that was fitted for this reader, unless it is not to be ``floored``.
        """
        key = ranker, floored
        if key not in self._engines:
            reader = self.generator.fingerprint if floored else ""
            ranks = load_ranker(ranker, self.retriever, self.trained.folder, reader)
            self._engines[key] = Engine(
                self.retriever, self.generator, ranker=ranks, evaluator=self.evaluator, external=self.external
            )
        return self._engines[key]

    def some(self, size: int, seed: int) -> list[Record]:
        """Return at most ``size`` of the questions, see :func:`sample`."""
        return sample(self.records, size, seed)


def open_ground(dataset: str, trained: Trained, size: int, seed: int, share_in: Path | None = None) -> Ground:
    """Read the questions of a data set and build its index.

    Args:
        dataset: its name.
        trained: the run that was trained on it.
        size: number of questions; 0 for all.
        seed: of the sample.
        share_in: folder for an index that several workers map.

    Raises:
        ConfigError: if a question has no gold.
        DataError: if a file is missing or malformed.
        ManifestMismatchError: if the run's own generator is not that of the training.
    """
    everything = load_records(trained.settings, "dev")
    records = sample(everything, size, seed)
    require_annotated(records, "run a benchmark on")
    task = trained.settings
    retriever = build_retriever(task, everything, share_in)
    judge = load_judge(task.evaluator, retriever, trained.folder, task.given_thresholds)
    external = build_external(task) if judge is not None else None
    return Ground(dataset, trained, records, retriever, trained.generator(), judge, external)


def sample(records: Sequence[Record], size: int, seed: int) -> list[Record]:
    """Return the ``size`` questions of the smallest hashes, in their order; a smaller sample lies in a larger one."""
    if not size or size >= len(records):
        return list(records)
    hashed = sorted(
        range(len(records)), key=lambda place: (content_hash("sample", str(seed), records[place].uid), place)
    )
    return [records[place] for place in sorted(hashed[:size])]
