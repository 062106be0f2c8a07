"""Compare the targets of training: one_step, q_lambda and fitted_q fitted to the same rows.

    python benchmarks/targets.py                                             # the synthetic world
    python benchmarks/targets.py --run runs/musique --data FOLDER            # rows and models of a run of `train`

Each controller runs on the dev questions free and at equal documents; every figure has the paired 95 % interval of its
difference to one_step, and the free ones a permutation test. ``--discount``, ``--trace``, ``--cost_weight`` and
``--answer_weight`` are those of training. The record is ``records/targets_<dataset>.json``.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from synthetic import arguments, collected, settings, world_index, world_questions
from timing import RECORDS

from evidencegym.actions.engine import Engine
from evidencegym.controllers.files import KIND
from evidencegym.data.records import Record
from evidencegym.data.storage import read_manifest
from evidencegym.envs.build import CONTROLLER, build_retriever, build_rules, load_ranker, load_records
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.comparison import column
from evidencegym.eval.protocols import EQUAL, FREE, retrieving
from evidencegym.eval.runner import Method, run_method
from evidencegym.eval.statistics import bootstrap_mean, paired_difference, permutation_p
from evidencegym.eval.suite.settings import SourceSettings
from evidencegym.eval.suite.trained import open_trained
from evidencegym.generation.choose import load_generator
from evidencegym.training.fit import FitSettings, fit_controller
from evidencegym.training.parts import read_rows
from evidencegym.training.targets import ONE_STEP, TARGETS

COLUMNS = ("support_recall", "full_support", "answer_f1", "documents", "retrievals", "tokens", "generator_calls")
TESTED = ("support_recall", "answer_f1", "retrievals", "tokens")


class Stage(NamedTuple):
    """Where the controllers are fitted and compared."""

    task: TaskSettings
    rows: Any
    records: Sequence[Record]
    engine: Engine


def synthetic_stage(given: Namespace, folder: Path) -> Stage:
    """Collect on a synthetic world with the packaged generator."""
    retriever = world_index(given.passages, given.index or folder)
    rows = collected(world_questions(given.passages, given.questions, "train"), retriever, folder / "rows")
    dev = world_questions(given.passages, given.dev, "dev")
    return Stage(settings(given.passages), rows, dev, Engine(retriever, load_generator("packaged")))


def run_stage(given: Namespace) -> Stage:
    """Read the rows of a run, and the models that it was trained with."""
    dataset = read_manifest(given.run / CONTROLLER, KIND)["dataset"]
    trained = open_trained(given.run, dataset, SourceSettings(data=given.data, dev_questions=given.dev))
    task = trained.settings
    records = load_records(task, "dev")
    retriever = build_retriever(task, records)
    engine = Engine(retriever, trained.generator(), ranker=load_ranker(task.ranker, retriever, given.run))
    return Stage(task, read_rows(given.run / "collection"), records, engine)


def measured(stage: Stage, fitting: FitSettings) -> dict[str, Any]:
    """Fit and run one kind of targets: per protocol the columns, question by question."""
    names = build_rules(stage.task).operations.names
    begun = time.perf_counter()
    controller = fit_controller(stage.rows, FeatureMap(names).names, names, fitting)
    seconds = time.perf_counter() - begun
    methods = {FREE: build_rules(stage.task), EQUAL: retrieving(stage.task)}
    found: dict[str, Any] = {"seconds": seconds, "operations": {}}
    for protocol, rules in methods.items():
        results = run_method(Method(fitting.targets, rules, controller), stage.records, stage.engine)
        found[protocol] = {name: column(results, name) for name in COLUMNS}
        found["operations"][protocol] = _operation_use(results)
    return found


def _operation_use(results: Sequence[Any]) -> dict[str, float]:
    """Return the mean number of runs of each operation in a question."""
    counts: dict[str, int] = {}
    for result in results:
        for operation in result["operations"]:
            counts[operation] = counts.get(operation, 0) + 1
    return {name: counts[name] / len(results) for name in sorted(counts)}


def compared(found: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return means with intervals, and the differences to one_step."""
    numbers: dict[str, Any] = {}
    for targets, own in found.items():
        numbers[targets] = {"fit_seconds": round(own["seconds"], 1), "operations": own["operations"]}
        for protocol in (FREE, EQUAL):
            base = found[ONE_STEP][protocol]
            numbers[targets][protocol] = {n: bootstrap_mean(v, seed)._asdict() for n, v in own[protocol].items()}
            if targets != ONE_STEP:
                numbers[targets][f"{protocol}_minus_{ONE_STEP}"] = {
                    name: paired_difference(values, base[name], seed)._asdict()
                    | ({"p": permutation_p(values, base[name], seed)} if name in TESTED else {})
                    for name, values in own[protocol].items()
                }
    return numbers


def show(numbers: dict[str, Any]) -> None:
    """Print one line for each protocol and targets."""
    for protocol in (FREE, EQUAL):
        print(f"{protocol}:")
        for targets, own in numbers.items():
            values = "  ".join(f"{name} {own[protocol][name]['mean']:.3f}" for name in TESTED)
            other = own.get(f"{protocol}_minus_{ONE_STEP}")
            versus = (
                "".join(
                    f"  {n} {other[n]['mean']:+.3f} [{other[n]['low']:+.3f}, {other[n]['high']:+.3f}]"
                    for n in ("support_recall", "answer_f1")
                )
                if other
                else ""
            )
            print(f"  {targets:9} {values}{versus}")


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    made = arguments(__doc__)
    made.add_argument("--run", type=Path, help="run of `evidencegym train` whose rows and models are used")
    made.add_argument("--data", type=Path, help="folder of the official files")
    made.add_argument("--passages", type=int, default=2000, help="size of the synthetic world")
    made.add_argument("--questions", type=int, default=400, help="train questions of the synthetic world")
    made.add_argument("--dev", type=int, help="dev questions; all (synthetic: 200) when left out")
    made.add_argument("--seed", type=int, default=0, help="seed of the intervals")
    made.add_argument("--trees", type=int, default=300)
    for name, default in (("discount", 1.0), ("trace", 0.5), ("cost_weight", 0.0), ("answer_weight", 0.0)):
        made.add_argument(f"--{name}", type=float, default=default)
    made.add_argument("--name", default="", help="added to the record's name")
    return made


def main() -> None:
    """Fit, run, compare, record."""
    given = parser().parse_args()
    if given.run is None:
        given.dev = given.dev or 200
    chosen = {name: getattr(given, name) for name in ("trees", "discount", "trace", "cost_weight", "answer_weight")}
    with TemporaryDirectory() as folder:
        stage = run_stage(given) if given.run else synthetic_stage(given, Path(folder))
        found = {}
        for targets in TARGETS:
            found[targets] = measured(stage, FitSettings(targets=targets, jobs=1, **chosen))
    numbers = compared(found, given.seed)
    show(numbers)
    fit = {name: value for name, value in asdict(FitSettings(**chosen)).items() if name not in {"jobs", "targets"}}
    head = {"dataset": stage.task.dataset, "rows": stage.rows.num_rows, "questions": len(stage.records), "fit": fit}
    RECORDS.mkdir(exist_ok=True)
    file = RECORDS / f"targets_{stage.task.dataset}{given.name and '_' + given.name}.json"
    file.write_text(json.dumps(head | {"targets": numbers}, indent=2) + "\n")
    print(f"written to {file}")


if __name__ == "__main__":
    main()
