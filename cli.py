"""The console script: one thin function per command; the only place that composes training and evaluation."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

from jsonargparse import ArgumentParser, Namespace

from . import __version__
from .data.errors import EvidenceGymError
from .data.locks import locked

_Split = Literal["train", "dev"]
_OUT = "folder of the run: everything is written there, and a killed command goes on from there"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (0 done, 1 refused with a message, 130 interrupted)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        parser = build_parser()
        given = with_shipped_config(list(sys.argv[1:] if arguments is None else arguments))
        config = parser.instantiate(parser.parse_args(given))
        return _COMMANDS[config.command](config[config.command])
    except EvidenceGymError as error:
        print(f"evidencegym: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        print("\nevidencegym: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def with_shipped_config(arguments: list[str]) -> list[str]:
    """Let ``--config NAME`` and ``--config=NAME`` name a configuration that ships, where there is no such file."""
    from .configs import path

    given = [part for word in arguments for part in (word.split("=", 1) if word.startswith("--config=") else [word])]
    for i, word in enumerate(given[:-1]):
        name = given[i + 1]
        if word == "--config" and not Path(name).is_file() and "/" not in name:
            given[i + 1] = str(path(name))
    return given


def build_parser() -> ArgumentParser:
    """Return the parser of all commands."""
    parser = ArgumentParser(
        prog="evidencegym",
        version=__version__,
        description="Learned control of evidence operations in multi-hop questions. Begin with: evidencegym quickstart",
    )
    commands = parser.add_subcommands(dest="command", title="commands")
    for name, (fill, help_text) in _PARSERS.items():
        command = ArgumentParser(description=help_text)
        commands.add_subcommand(name, command, help=help_text)
        fill(command)  # afterwards, since a command may have commands of its own
    return parser


def _run_arguments(parser: ArgumentParser) -> None:
    """Add what every command that works on a task and a run folder takes."""
    from .actions.workers import Workers
    from .envs.settings import TaskSettings

    parser.add_argument("--config", action="config", help="YAML file of settings, or the name of a shipped one")
    parser.add_argument("--out", type=Path, default=Path("runs/run"), help=_OUT)
    parser.add_argument("--seed", type=int, default=0, help="seed of every random choice")
    parser.add_class_arguments(TaskSettings, None, as_group=False)
    parser.add_class_arguments(Workers, "workers")


def _collect_arguments(parser: ArgumentParser) -> None:
    from .training.collect import CollectSettings
    from .training.fit_evaluator import EvaluatorSettings
    from .training.fit_ranker import RankerSettings

    _run_arguments(parser)
    parser.add_class_arguments(CollectSettings, "collect")
    parser.add_class_arguments(RankerSettings, "ranker_fit")
    parser.add_class_arguments(EvaluatorSettings, "evaluator_fit")


def _train_arguments(parser: ArgumentParser) -> None:
    from .training.fit import FitSettings
    from .training.fit_floor import FloorSettings
    from .training.iterate import IterateSettings

    _collect_arguments(parser)
    parser.add_class_arguments(FitSettings, "fit")
    parser.add_class_arguments(FloorSettings, "floor_fit")
    parser.add_class_arguments(IterateSettings, "iterate")
    parser.add_argument("--evaluate", type=bool, default=False, help="evaluate on the dev questions afterwards")
    parser.add_argument(
        "--variant", type=str, default="", help="name of a further controller of the run, for a benchmark to compare"
    )
    _tracking_arguments(parser)


def _tracking_arguments(parser: ArgumentParser) -> None:
    from .training.run_metrics import EPISODES
    from .training.tracking import Kind, Mode

    parser.add_argument("--tracking", type=Kind, default="none", help="where to track the run besides its own folder")
    parser.add_argument(
        "--tracking_mode", type=Mode | None, default=None, help="of W&B; WANDB_MODE when left out, else offline"
    )
    parser.add_argument("--tracking_episodes", type=int, default=EPISODES, help="episodes in the tracked table at most")


def _quickstart_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("runs/quickstart"), help=_OUT)
    parser.add_argument("--seed", type=int, default=0, help="seed of every random choice")


def _evaluate_arguments(parser: ArgumentParser) -> None:
    _run_arguments(parser)
    parser.add_argument(
        "--controller", type=Path, default=None, help="folder of a controller; that of the run by default"
    )
    parser.add_argument("--cost_weight", type=float, default=0.0, help="lambda: weight of the expected cost")
    _tracking_arguments(parser)


def _answer_arguments(parser: ArgumentParser) -> None:
    from .generation.chat_settings import ChatSettings
    from .generation.local_settings import LocalSettings
    from .generation.recording_settings import RecordingSettings
    from .retrieval.external_settings import ExternalSettings

    parser.add_argument(
        "--corpus", type=Path, required=True, help="folder of .txt, .md or .jsonl files, or one .jsonl file"
    )
    parser.add_argument("--question", type=str, required=True, help="the question")
    parser.add_argument("--run", type=Path, default=Path("runs/quickstart"), help="run whose controller decides")
    parser.add_argument("--json", action="store_true", help="print the whole record as JSON")
    parser.add_argument("--cost_weight", type=float, default=0.0, help="lambda: weight of the expected cost")
    parser.add_argument(
        "--generator", type=str, default="", help="packaged, chat, local, or a folder; that of the run if empty"
    )
    parser.add_class_arguments(ChatSettings, "chat")
    parser.add_class_arguments(LocalSettings, "local")
    parser.add_class_arguments(RecordingSettings, "recording")
    parser.add_class_arguments(ExternalSettings, "external")


def _calibrate_arguments(parser: ArgumentParser) -> None:
    from .confidence.calibration_settings import CalibrationSettings
    from .training.fit_evaluator import EvaluatorSettings

    _run_arguments(parser)
    parser.add_argument("--split", type=_Split, default="train", help="the labelled questions of a saved evaluator")
    parser.add_class_arguments(CalibrationSettings, "calibration")
    parser.add_class_arguments(EvaluatorSettings, "evaluator_fit")


def _train_evaluator_arguments(parser: ArgumentParser) -> None:
    from .training.evaluator_t5_settings import T5TrainSettings

    _run_arguments(parser)
    parser.add_argument("--popqa", type=Path | None, default=None, help="train on this file of PopQA in their place")
    parser.add_class_arguments(T5TrainSettings, "t5")


def _conformal_arguments(parser: ArgumentParser) -> None:
    from .confidence.conformal_settings import ConformalSettings

    _run_arguments(parser)
    parser.add_argument("--answers", type=bool, default=True, help="also answer from all and from trusted passages")
    parser.add_class_arguments(ConformalSettings, "conformal")


def _score_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dataset", type=str, required=True, help="hotpotqa, 2wikimultihopqa, musique, popqa or arc")
    parser.add_argument("--gold", type=Path, required=True, help="official file with the answers")
    parser.add_argument("--predictions", type=Path, required=True, help="predictions in the official format")
    parser.add_argument("--aliases", type=Path, default=None, help="2WikiMultiHopQA's file of aliases")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _benchmark_arguments(parser: ArgumentParser) -> None:
    from .actions.workers import Workers
    from .eval.suite.settings import AnalysisSettings, MethodSettings, SourceSettings

    parser.add_argument("--config", action="config", help="YAML file of settings, or the name of a shipped one")
    parser.add_argument("--out", type=Path, default=Path("benchmark"), help="folder of the benchmark; it is resumed")
    parser.add_argument("--seed", type=int, default=0, help="seed of samples, resamples and permutations")
    parser.add_argument("--train", type=bool, default=False, help="first train the runs that are not there")
    parser.add_argument(
        "--train_with", type=list[str], default=[], help="further arguments of `train`, beside --config and --out"
    )
    for settings in (MethodSettings, AnalysisSettings, SourceSettings):
        parser.add_class_arguments(settings, None, as_group=False)
    parser.add_class_arguments(Workers, "workers")
    _tracking_arguments(parser)


def _report_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="what evaluate or benchmark wrote, a run, or a folder of runs")
    parser.add_argument("--out", type=Path, default=Path("report.html"), help="the page; the tables lie beside it, .md")
    parser.add_argument("--plain", action="store_true", help="do not compress the episodes, for old browsers")


def _recording_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subcommands(dest="action", title="actions")
    for name, help_text in {
        "info": "print how much a recording holds, by backend and kind",
        "export": "write it as JSON lines, compressed where the name ends in .gz",
        "import": "add exported lines to it; it is made where it is missing",
        "prune": "remove responses",
    }.items():
        action = ArgumentParser(description=help_text)
        action.add_argument("file", type=Path, help="the recording")
        if name in {"export", "import"}:
            action.add_argument("lines", type=Path, help="the file of JSON lines")
        if name == "prune":
            action.add_argument("--backend", type=str, default="", help="all of the backend of this fingerprint")
            action.add_argument("--failures", action="store_true", help="failures, so that they are asked again")
            action.add_argument("--unused_by", type=Path | None, default=None, help="what this recording lacks")
        actions.add_subcommand(name, action, help=help_text)


def quickstart(config: Namespace) -> int:
    """Train and evaluate on a synthetic world."""
    from .actions.workers import Workers
    from .envs.settings import TaskSettings
    from .training.collect import CollectSettings
    from .training.fit import FitSettings

    settings, parts = TaskSettings(), {"collect": CollectSettings(), "fit": FitSettings()}
    with locked(config.out), _tracked(config, settings, **parts) as tracker:
        _train(settings, parts, config.out, config.seed, Workers())
        tracker.training()
        _evaluate(settings, config.out, config.out / "controller", config.seed, 0.0, Workers())
        tracker.evaluation()
    print(f"\nEverything is in {config.out}. Next:")
    print('  ask your own documents:  evidencegym answer --corpus FOLDER --question "..."')
    print("  train on real questions: evidencegym train --config hotpotqa --data FOLDER --evaluate true")
    return 0


def collect(config: Namespace) -> int:
    """Collect the rows that a controller is trained on."""
    with locked(config.out):
        settings = _settings(config)
        rows = _collect(settings, _parts(config), config.out, config.seed, config.workers)[0]
    print(f"{rows.num_rows} rows in {config.out / 'collection' / 'rows.parquet'}")
    return 0


def train(config: Namespace) -> int:
    """Collect what is missing, then fit a controller."""
    settings = _settings(config)
    parts = _parts(config)
    if config.variant:
        return _train_variant(config, settings)
    with locked(config.out), _tracked(config, settings, **parts) as tracker:
        _train(settings, parts, config.out, config.seed, config.workers)
        tracker.training()
        if config.evaluate:
            _evaluate(settings, config.out, config.out / "controller", config.seed, 0.0, config.workers)
            tracker.evaluation()
    return 0


def _train_variant(config: Namespace, settings: Any) -> int:
    """Fit a further controller to the rows of the run, beside its own."""
    from .data.errors import ConfigError
    from .envs.build import CONTROLLERS

    if config.evaluate or config.iterate.rounds or Path(config.variant).name != config.variant:
        raise ConfigError(
            "--variant takes a name without a folder, and neither --evaluate nor --iterate.rounds; "
            "`evidencegym benchmark` compares the variants of a run"
        )
    folder = config.out / CONTROLLERS / config.variant
    with locked(config.out):
        _train(settings, _parts(config), config.out, config.seed, config.workers, folder)
    return 0


def evaluate(config: Namespace) -> int:
    """Compare a trained controller with its baselines on the dev questions."""
    controller = config.controller or config.out / "controller"
    settings = _settings(config)
    with locked(config.out), _tracked(config, settings, cost_weight=config.cost_weight) as tracker:
        _evaluate(settings, config.out, controller, config.seed, config.cost_weight, config.workers)
        tracker.evaluation()
    return 0


def answer(config: Namespace) -> int:
    """Answer a question over own documents and show why."""
    from .data.storage import to_json
    from .envs.rendering import render_trace
    from .eval.answering import answer_question, supporting_passages
    from .generation.choose import GeneratorSource

    kind, recording = config.generator, config.recording
    other = GeneratorSource(kind, config.chat, config.local, recording) if kind else None
    elsewhere = None if config.external.where == "none" else config.external
    episode = answer_question(
        config.question, config.corpus, config.run, config.cost_weight, other, recording, elsewhere
    )
    found = episode.final.answer
    if config.json:
        from .data.records import Record
        from .eval.results import result_of

        print(to_json(result_of(Record(episode.question), episode)), end="")
        return 0
    print(f"Answer: {found.text if found and found.text else '(none found)'}\n\nSupporting passages:")
    for title, text in supporting_passages(episode):
        print(f"  {title}: {text}")
    print(f"\nTrace:\n{render_trace(episode.steps)}")
    print(f"ended by {episode.final.end}; in all {_spent(episode.final.cost)}")
    return 0


def calibrate(config: Namespace) -> int:
    """Fit the thresholds of an evaluator's verdicts and store them with it."""
    from .confidence.calibration_table import calibration_table
    from .confidence.manifests import KIND
    from .data.manifests import read_manifest
    from .envs.build import EVALUATOR, build_retriever, load_records
    from .training.calibrate import calibrate_folder
    from .training.evaluators import prepare_evaluators

    settings = _settings(config)
    folder = _evaluator_to_calibrate(settings.evaluator, config.out / EVALUATOR)
    with locked(config.out):
        records = load_records(settings, "train" if settings.evaluator == "fit" else config.split)
        retriever = build_retriever(settings, records, _shared(config.out, config.workers))
        if settings.evaluator == "fit":
            with _progress() as show:
                advance = _Bars(show).advance
                prepare_evaluators("fit", records, retriever, config.out, config.evaluator_fit, config.seed, advance)
        else:
            calibrate_folder(folder, records, retriever, config.calibration, config.seed)
    _print_markdown(calibration_table(read_manifest(folder, KIND)["thresholds"]))
    print(f"stored in {folder}")
    return 0


def _evaluator_to_calibrate(wanted: str, fitted: Path) -> Path:
    from .confidence.packaged import PACKAGED
    from .data.errors import ConfigError
    from .training.pipeline import COLLECTION

    if wanted in {"none", PACKAGED}:
        raise ConfigError(
            "which evaluator? --evaluator fit fits one, with its thresholds, and a folder names a saved one; the "
            "packaged one belongs to the installation and stays as it is"
        )
    if wanted != "fit" and (Path(wanted).parent / COLLECTION).exists():
        raise ConfigError(
            f"{wanted} belongs to a run, whose rows were collected under its thresholds: copy the folder and calibrate "
            "the copy"
        )
    return fitted if wanted == "fit" else Path(wanted)


def train_evaluator(config: Namespace) -> int:
    """Train the paper's T5 evaluator on labelled passages."""
    from .data.task_formats import read_task
    from .envs.build import load_records
    from .training.evaluator_t5 import train_t5

    records = load_records(_settings(config), "train") if config.popqa is None else read_task("popqa", config.popqa)
    with locked(config.out), _progress() as show:
        made = train_t5(records, config.out / "evaluator", config.t5, show("training"))
    print(f"{made.folder}: {made.pairs} pairs, {made.relevant} of them relevant; mean loss by epoch {made.losses}")
    print(f"it has no thresholds yet: evidencegym calibrate --evaluator {made.folder} --split dev ...")
    return 0


def conformal(config: Namespace) -> int:
    """Calibrate conformal retrieval confidence on train questions and report it on dev questions."""
    from .actions.engine import Engine
    from .envs.build import build_retriever, load_records
    from .eval.conformal_report import conformal_report
    from .generation.choose import load_generator

    settings = _settings(config)
    with locked(config.out):
        train_records, dev = (load_records(settings, split) for split in ("train", "dev"))
        retriever = build_retriever(settings, [*train_records, *dev], _shared(config.out, config.workers))
        generator = load_generator(settings.generator_source.at_inference(config.out / "generator"))
        engine = Engine(retriever, generator) if config.answers else None
        report = conformal_report(retriever, train_records, dev, config.conformal, config.seed, engine)
        report.write(config.out / "conformal")
    _print_markdown(report.markdown())
    print(f"written to {config.out / 'conformal'}")
    return 0


def score(config: Namespace) -> int:
    """Score any system's predictions with the official metrics."""
    from .eval import score as scoring

    scores = scoring.score(config.dataset, config.gold, config.predictions, config.aliases)
    for warning in scores.warnings():
        print(f"evidencegym: {warning}", file=sys.stderr)
    print(scoring.to_json(scores) if config.json else scoring.format_scores(scores), end="")
    return 0


def _tracked(config: Namespace, settings: Any, **noted: Any) -> AbstractContextManager[Any]:
    from .training.run_metrics import EPISODES, tracked_run

    kind, mode = config.get("tracking", "none"), config.get("tracking_mode")
    episodes = config.get("tracking_episodes", EPISODES)
    return tracked_run(config.out, settings, {"seed": config.seed, **noted}, kind, mode, episodes)


def report(config: Namespace) -> int:
    """Write results as one HTML page and as Markdown tables."""
    from .eval.report import write_report

    written = write_report(config.folder, config.out, config.plain)
    print(f"{written.episodes} episodes of {', '.join(written.data_sets)}: {written.html}; tables: {written.markdown}")
    return 0


def recording(config: Namespace) -> int:
    """Show, share or shrink a recording of a generator's responses."""
    from .generation import recording_tools as tools

    given = config[config.action]
    if config.action == "info":
        _print_markdown(tools.info(given.file))
    elif config.action == "export":
        print(tools.export(given.file, given.lines))
    elif config.action == "import":
        print(tools.add(given.file, given.lines))
    else:
        print(tools.prune(given.file, given.backend, given.failures, given.unused_by))
    return 0


def benchmark(config: Namespace) -> int:
    """Run methods on data sets, analyse and summarise them."""
    from .data.errors import ConfigError
    from .eval.suite.benchmark import Benchmark
    from .eval.suite.settings import AnalysisSettings, MethodSettings, SourceSettings

    kinds = MethodSettings, AnalysisSettings, SourceSettings
    methods, analyses, source = (_chosen(config, kind) for kind in kinds)
    runs = [run for name in methods.datasets for run in (methods.run_of(name), methods.unranked_of(name)) if run]
    if config.out.resolve() in {run.resolve() for run in runs}:
        raise ConfigError(f"--out is the folder of a run, {config.out}; name another one")
    if config.train:
        _train_missing(methods, source, config.seed, config.train_with)
    with locked(config.out), _tracked(config, methods, analyses=analyses, source=source) as tracker:
        run = Benchmark(methods, analyses, source, config.out, config.seed, _adaptive)
        with _progress() as show:
            summary = run.run(_Bars(show).advance, config.workers)
        tracker.trackers.note(lambda trackers: trackers.log(summary.metrics()))
    _print_markdown(summary.headline())
    print(f"written to {config.out}; a page of it: evidencegym report {config.out}")
    return 0


def _train_missing(methods: Any, source: Any, seed: int, further: list[str]) -> None:
    """Train the runs of a benchmark that hold no controller, with the shipped configuration of their data set."""
    from .data.manifests import MANIFEST
    from .envs.build import CONTROLLER

    asked = {"data": source.data, "train_questions": source.train_questions, "seed": seed}
    given = [word for name, value in asked.items() if value is not None for word in (f"--{name}", str(value))]
    for dataset in methods.datasets:
        runs = {methods.run_of(dataset): [], methods.unranked_of(dataset): ["--ranker", "none"]}
        for folder, own in runs.items():
            if folder is not None and not (folder / CONTROLLER / MANIFEST).exists():
                print(f"training {folder}")
                words = with_shipped_config(
                    ["train", "--config", dataset, *given, "--out", str(folder), *further, *own]
                )
                parser = build_parser()
                config = parser.parse_args(words)
                train(parser.instantiate(config)["train"])


def _adaptive(trained: Any, ground: Any, questions: int) -> Any:
    from .data.manifests import MANIFEST
    from .envs.build import load_records
    from .training.adaptive import ADAPTIVE, prepare_adaptive

    # A run that has its classifier is only read, so that several benchmarks may share it.
    fitted = (trained.folder / ADAPTIVE / MANIFEST).exists()
    with nullcontext() if fitted else locked(trained.folder):
        records = load_records(trained.settings, "train")
        return prepare_adaptive(trained.folder, trained.settings, records, ground.retriever, trained.seed, questions)


def _settings(config: Namespace) -> Any:
    from .envs.settings import TaskSettings

    return _chosen(config, TaskSettings)


def _chosen(config: Namespace, kind: Any) -> Any:
    """Return a dataclass of settings whose fields stand in the configuration by their own names."""
    from dataclasses import fields

    return kind(**{item.name: config[item.name] for item in fields(kind)})


def _parts(config: Namespace) -> dict[str, Any]:
    """Return the settings of each part of training, by name."""
    names = "collect", "ranker_fit", "evaluator_fit", "fit", "floor_fit", "iterate"
    return {name: config[name] for name in names if name in config}


def _collect(settings: Any, parts: dict[str, Any], out: Path, seed: int, workers: Any) -> tuple[Any, Any]:
    """Return the rows of a collection, and what they were collected with."""
    from .envs.build import GENERATOR, build_retriever, build_rules, load_records
    from .training.correction import prepare_correction
    from .training.fit import FitSettings
    from .training.fit_evaluator import EvaluatorSettings
    from .training.fit_ranker import RankerSettings
    from .training.generators import prepare_generators
    from .training.iterate import Course
    from .training.pipeline import COLLECTION, collect_rows
    from .training.rankers import prepare_rankers

    build_rules(settings)
    records = load_records(settings, "train")
    print(f"{len(records)} train questions of {settings.dataset}; building the index")
    retriever = build_retriever(settings, records, _shared(out, workers))
    print(f"generator: {settings.generator}")
    generators = prepare_generators(settings.generator_source, records, retriever, out / GENERATOR, seed)
    with _progress() as show:
        advance = _Bars(show).advance
        ranking, judging = parts.get("ranker_fit", RankerSettings()), parts.get("evaluator_fit", EvaluatorSettings())
        rankers = prepare_rankers(
            settings.ranker, records, retriever, generators.full, settings.caps, out, ranking, seed, advance
        )
        correction = prepare_correction(settings, records, retriever, out, judging, seed, advance)
        fitting = parts.get("fit", FitSettings())
        course = Course(settings, records, retriever, generators, rankers, parts["collect"], fitting, seed, correction)
        rows = collect_rows(
            settings,
            records,
            retriever,
            generators,
            out / COLLECTION,
            parts["collect"],
            seed,
            show("collecting"),
            workers,
            rankers,
            correction=correction,
        )
    return rows, course


def _train(
    settings: Any, parts: dict[str, Any], out: Path, seed: int, workers: Any, folder: Path | None = None
) -> None:
    """Collect what is missing and fit the run's controller, or a further one in ``folder``."""
    from .envs.build import CONTROLLER
    from .training.floors import prepare_floor
    from .training.iterate import iterate
    from .training.pipeline import fit_rows

    rows, course = _collect(settings, parts, out, seed, workers)
    iterating = None if folder else parts.get("iterate")
    if iterating and iterating.rounds:
        print(f"up to {iterating.rounds} rounds of policy iteration")
        with _progress() as show:
            controller = iterate(course, rows, out, iterating, _Bars(show).advance, workers)
    else:
        print(f"fitting the controller to {rows.num_rows} rows")
        made_with = course.generators.full, seed, course.rankers.full, course.correction
        controller = fit_rows(settings, rows, folder or out / CONTROLLER, course.fitting, *made_with)
    print(f"controller saved in {folder or out / CONTROLLER}")
    if settings.ranker == "fit" and "floor_fit" in parts and folder is None:
        with _progress() as show:
            floor = prepare_floor(course, out, controller, parts["floor_fit"], show("floor"))
        print(f"for the answer, passages below {floor:g} are not read, but for the two best")


def _evaluate(settings: Any, out: Path, controller: Path, seed: int, cost_weight: float, workers: Any) -> None:
    from .actions.engine import Engine
    from .controllers.files import load_controller
    from .data.annotations import require_annotated
    from .envs.build import build_external, build_retriever, build_rules, load_judge, load_ranker, load_records
    from .envs.features import FeatureMap
    from .eval.benchmark import run_benchmark
    from .generation.choose import load_generator

    operations = build_rules(settings).operations.names
    loaded = load_controller(controller, FeatureMap(operations).names, operations, cost_weight)
    records = load_records(settings, "dev")
    require_annotated(records, "evaluate")
    retriever = build_retriever(settings, records, _shared(out, workers))
    judge = load_judge(settings.evaluator, retriever, out, settings.given_thresholds)
    external = build_external(settings) if judge is not None else None
    generator = load_generator(settings.generator_source.at_inference(out / "generator"))
    ranker = load_ranker(settings.ranker, retriever, out, generator.fingerprint)
    engine = Engine(retriever, generator, ranker=ranker, evaluator=judge, external=external)
    judging = {
        "evaluator": judge.fingerprint if judge else None,
        "external": external.fingerprint if external else None,
    }
    _warn_of_transfer(settings, loaded.manifest, engine.generator.fingerprint, judging)
    with _progress() as show:
        benchmark = run_benchmark(
            settings,
            records,
            engine,
            loaded,
            out / "evaluation",
            seed,
            _Bars(show).advance,
            workers,
        )
    _print_markdown(benchmark.markdown())
    print(f"written to {benchmark.folder}")


def _warn_of_transfer(settings: Any, manifest: dict[str, Any], generator: str, judging: dict[str, Any]) -> None:
    """Say where an evaluation differs from the controller's training; that may be wanted, so it is no error."""
    from dataclasses import asdict

    from .envs.build import rules_of

    now = {
        "dataset": settings.dataset,
        "caps": asdict(settings.caps),
        "rules": rules_of(settings),
        "generator": generator,
        **judging,
    }
    other = [name for name, value in now.items() if (manifest.get(name) or None) != value]
    if other:
        print(f"evidencegym: the controller was trained with another {', '.join(other)}", file=sys.stderr)


def _shared(out: Path, workers: Any) -> Path | None:
    """Return where the index is saved for several workers to map; one worker needs none."""
    return None if workers.here else out / "index"


def _spent(cost: Any) -> str:
    return ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in cost.as_dict().items() if value)


def _print_markdown(text: str) -> None:
    """Print as written where the output is a file, and as tables on a terminal."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))


class _Bars:
    """Progress bars by name."""

    def __init__(self, show: Callable[[str], Callable[[int, int], None]]) -> None:
        self._show = show
        self._bars: dict[str, Callable[[int, int], None]] = {}

    def advance(self, name: str, done: int, total: int) -> None:
        """Move the bar of that name, which is added when it is first named."""
        if name not in self._bars:
            self._bars[name] = self._show(name)
        self._bars[name](done, total)


class _progress:  # noqa: N801
    """Progress bars on standard error; ``show(name)`` adds one and returns what advances it."""

    def __enter__(self) -> Callable[[str], Callable[[int, int], None]]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bars = Progress(*columns, console=Console(stderr=True))
        self._bars.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _show(self, name: str) -> Callable[[int, int], None]:
        task = self._bars.add_task(name, total=None)
        return lambda done, total: self._bars.update(task, completed=done, total=total)


_COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "quickstart": quickstart,
    "collect": collect,
    "train": train,
    "evaluate": evaluate,
    "answer": answer,
    "benchmark": benchmark,
    "calibrate": calibrate,
    "train_evaluator": train_evaluator,
    "conformal": conformal,
    "score": score,
    "report": report,
    "recording": recording,
}

_PARSERS: dict[str, tuple[Callable[[ArgumentParser], None], str]] = {
    "quickstart": (
        _quickstart_arguments,
        "train and evaluate on a synthetic world, in a few minutes, without any data",
    ),
    "collect": (_collect_arguments, "collect the rows that a controller is trained on (resumable)"),
    "train": (_train_arguments, "collect what is missing, fit a controller, and, if asked, evaluate it"),
    "evaluate": (_evaluate_arguments, "compare a trained controller with its baselines on the dev questions"),
    "benchmark": (_benchmark_arguments, "run methods on data sets under several protocols, with tests and analyses"),
    "answer": (_answer_arguments, "answer a question over your own documents and show why"),
    "calibrate": (_calibrate_arguments, "fit the thresholds of an evaluator's verdicts and store them with it"),
    "train_evaluator": (
        _train_evaluator_arguments,
        "train the T5 evaluator of CRAG on labelled passages (extra local)",
    ),
    "conformal": (_conformal_arguments, "calibrate conformal retrieval confidence and report its coverage"),
    "score": (_score_arguments, "score any system's predictions with the official metrics"),
    "report": (_report_arguments, "write results as one HTML page with an episode browser, and as Markdown tables"),
    "recording": (_recording_arguments, "show, share or shrink a recording of a generator's responses"),
}

if __name__ == "__main__":
    sys.exit(main())
