"""Policy iteration: collect with the controller so far, add the rows to those before, fit again; stop by validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..actions.workers import Workers
from ..controllers.epsilon import EpsilonController
from ..controllers.files import save_controller
from ..controllers.forest import ForestController
from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import Record, content_hash
from ..data.splits import fold_of
from ..data.storage import to_json, write_text
from ..envs.build import CONTROLLER, build_rules
from ..envs.settings import TaskSettings
from ..retrieval.base import Retriever
from .collect import CollectSettings
from .correction import NO_CORRECTION, Correction
from .fit import FitSettings
from .generators import Generators
from .pipeline import COLLECTION, Behaviour, collect_rows, controller_of, engines
from .rankers import Rankers
from .validation import Validation, validate

ITERATIONS = "iterations"
DECISIONS = "decisions.json"


@dataclass(frozen=True, slots=True)
class IterateSettings:
    """How to iterate.

    Attributes:
        rounds: most rounds of collection after the first, at least 0; with 0 there is no iteration.
        epsilon: share of decisions in a round that are uniform rather than the controller's, in [0, 1].
        folds: one of that many folds of the train questions is held out for validation, at least 2.
        patience: rounds without improvement before it stops, at least 1.

    Raises:
        ConfigError: if a number is out of range.
    """

    rounds: int = 0
    epsilon: float = 0.2
    folds: int = 5
    patience: int = 1

    def __post_init__(self) -> None:
        require_least(self, "iterate", rounds=0, folds=2, patience=1)
        if not 0 <= self.epsilon <= 1:
            raise ConfigError(f"iterate.epsilon must be in [0, 1], found {self.epsilon}")


class Course(NamedTuple):
    """What every round works on.

    Attributes:
        settings: the task.
        records: the train questions, each with gold.
        retriever: searches.
        generators: answer; none is asked about a question that it was fitted on.
        rankers: choose within retrievals, likewise.
        collecting: how to collect.
        fitting: how to fit; its return is what validation looks at.
        seed: of collection, exploration and the held-out fold.
        correction: what a corrective gate needs.
    """

    settings: TaskSettings
    records: Sequence[Record]
    retriever: Retriever
    generators: Generators
    rankers: Rankers
    collecting: CollectSettings
    fitting: FitSettings
    seed: int
    correction: Correction = NO_CORRECTION


Progress = Callable[[str, int, int], None]


def iterate(
    course: Course,
    first: pa.Table,
    run: Path,
    iterating: IterateSettings,
    progress: Progress | None = None,
    workers: Workers | None = None,
) -> ForestController:
    """Iterate from the rows of the first collection, and save the controller of the best round in the run's folder.

    In each round a controller is fitted to the rows so far of all train questions but the held-out ones, and validated
    on these. It is the behaviour of the next round, in which every question is collected again. Dev questions are not
    touched. The final controller is fitted to the rows of all questions, up to the best round.

    Each round has a folder in ``iterations``, with its collection (resumed part by part) and its controller; what was
    decided is in ``iterations/decisions.json``. A run that was killed and one that was not give the same bytes.

    Raises:
        ConfigError: if no question is held out, or none is left to fit to.
        ManifestMismatchError: if a round's folder holds rows collected otherwise.
        DataError: if something cannot be written; the same call goes on from there.
    """
    held_out = [r for r in course.records if fold_of(r.id, iterating.folds, course.seed) == 0]
    if not held_out or len(held_out) == len(course.records):
        raise ConfigError(
            f"iteration needs questions to fit to and to validate on, found {len(held_out)} held out of "
            f"{len(course.records)}; use more train questions, or another number of folds"
        )
    rounds = _Rounds(course, held_out, run / ITERATIONS, iterating, progress, workers)
    aggregated = rounds.run(first)
    controller = controller_of(
        course.settings,
        aggregated,
        course.fitting,
        course.generators.full,
        course.seed,
        course.rankers.full,
        {"iterations": {"settings": asdict(iterating), "best": rounds.best}},
        course.correction,
    )
    save_controller(controller, run / CONTROLLER)
    return controller


class _Rounds:
    """Runs the rounds, and notes what was decided after each."""

    def __init__(
        self,
        course: Course,
        held_out: Sequence[Record],
        folder: Path,
        iterating: IterateSettings,
        progress: Progress | None,
        workers: Workers | None,
    ) -> None:
        self.course = course
        self.held_out = held_out
        self.folder = folder
        self.iterating = iterating
        self.progress = progress
        self.workers = workers
        self.best = 0
        self._engine_of = engines(course.retriever, course.generators, course.rankers, course.correction)
        self._rules = build_rules(course.settings)
        self._noted: list[dict[str, Any]] = []
        self._found: list[Validation] = []

    def run(self, first: pa.Table) -> pa.Table:
        """Return the rows up to the best round."""
        rows, number = [first], 0
        while True:
            controller = self._fit(number, aggregate(rows))
            verdict = self._judge(number, controller, rows[-1].num_rows)
            if verdict != "go on":
                return aggregate(rows[: self.best + 1])
            number += 1
            rows.append(self._collect(number, controller))

    def _fit(self, number: int, rows: pa.Table) -> ForestController:
        held = pa.array(sorted({record.id for record in self.held_out}))
        kept = rows.filter(pc.invert(pc.is_in(rows.column("question_id"), value_set=held)))
        course = self.course
        controller = controller_of(
            course.settings,
            kept,
            course.fitting,
            course.generators.full,
            course.seed,
            course.rankers.full,
            correction=course.correction,
        )
        save_controller(controller, self.folder / str(number) / CONTROLLER)
        return controller

    def _judge(self, number: int, controller: ForestController, collected: int) -> str:
        """Validate, keep the best, and say whether to go on."""
        found = validate(controller, self.held_out, self._rules, self._engine_of, self.course.fitting.worth)
        better = not self._found or found.better_than(self._found[self.best])
        self._found.append(found)
        if better:
            self.best = number
        verdict = self._verdict(number)
        self._noted.append(
            {
                "round": number,
                "behaviour": "uniform" if number == 0 else f"epsilon-greedy controller of round {number - 1}",
                "rows": collected,
                "controller": controller.fingerprint,
                "validation": found._asdict(),
                "better": better,
                "best": self.best,
                "decision": verdict,
            }
        )
        self._write()
        return verdict

    def _verdict(self, number: int) -> str:
        if number - self.best >= self.iterating.patience:
            return f"stop: no improvement since round {self.best}"
        return "go on" if number < self.iterating.rounds else "stop: last round"

    def _collect(self, number: int, controller: ForestController) -> pa.Table:
        course, stop = self.course, self._rules.operations.stop
        seeds = [int(content_hash("round", *map(str, (course.seed, number, n))), 16) for n in range(self.episodes)]
        noted = {
            "policy": "epsilon-greedy without stop_answer",
            "controller": controller.fingerprint,
            "epsilon": self.iterating.epsilon,
            "seed": course.seed,
            "round": number,
            "episodes": self.episodes,
        }
        policies = [EpsilonController(controller, self.iterating.epsilon, seed, avoid=[stop]) for seed in seeds]

        def report(done: int, total: int) -> None:
            if self.progress:
                self.progress(f"round {number}", done, total)

        return collect_rows(
            course.settings,
            course.records,
            course.retriever,
            course.generators,
            self.folder / str(number) / COLLECTION,
            course.collecting,
            course.seed,
            report,
            self.workers,
            course.rankers,
            Behaviour(policies, noted),
            course.correction,
        )

    @property
    def episodes(self) -> int:
        """Behaviour episodes of a question in a round."""
        return self.course.collecting.episodes

    def _write(self) -> None:
        decided = {
            "settings": asdict(self.iterating),
            "seed": self.course.seed,
            "return": asdict(self.course.fitting.worth),
            "train": len(self.course.records) - len(self.held_out),
            "held_out": len(self.held_out),
            "best": self.best,
            "rounds": self._noted,
        }
        write_text(self.folder / DECISIONS, to_json(decided))


def aggregate(rounds: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all rounds; the episodes of a later one are numbered on from those before."""
    shifted, base = [], 0
    for rows in rounds:
        episodes = pc.cast(pc.add(rows.column("episode"), pa.scalar(base, pa.int16())), pa.int16())
        shifted.append(rows.set_column(rows.column_names.index("episode"), rows.schema.field("episode"), episodes))
        base += (pc.max(rows.column("episode")).as_py() or 0) + 1
    return pa.concat_tables(shifted).combine_chunks()
