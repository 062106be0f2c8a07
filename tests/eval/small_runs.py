"""Trained runs on a small synthetic world, made by hand: a random controller, and a lexical world to run it on."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evidencegym.actions.workers import Workers
from evidencegym.controllers.files import save_controller
from evidencegym.controllers.forest import ForestController
from evidencegym.envs.build import RANKER, rules_of
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.suite.benchmark import Benchmark
from evidencegym.eval.suite.ground import Ground
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings, SourceSettings
from evidencegym.eval.suite.summary import Summary
from evidencegym.eval.suite.trained import Trained
from evidencegym.generation.extractive import ExtractiveGenerator
from tests.controllers.models import COSTS, FEATURES, OPERATIONS, forest
from tests.ranking.small_rankers import model

SOURCE = SourceSettings(passages=300, dev_questions=8)
QUICK = {
    "analysis_questions": 5,
    "ablations": ["no_gap_query", "no_ranker", "uniform", "no_veto"],
    "ablation_protocols": ["free"],
    "caps": [2],
    "cost_grid": [0.5],
    "oracle_questions": 3,
    "importance_questions": 3,
}


def write_run(folder: Path, seed: int = 0, ranked: bool = False, name: str = "controller") -> Path:
    """Write a run of a random controller, with or without a ranker; returns its folder."""
    settings = TaskSettings(passages=300, ranker="fit" if ranked else "none")
    made = forest(continuation=True, seed=seed)
    manifest = {
        "dataset": "synthetic",
        "caps": asdict(settings.caps),
        "rules": rules_of(settings),
        "collection_seed": 0,
        "generator": ExtractiveGenerator.default().fingerprint,
        "generator_source": "packaged",
        "ranker_source": settings.ranker,
        "questions": 6,
    }
    controller = ForestController(made.trees, FEATURES, OPERATIONS, COSTS, made.continuation, manifest=manifest)
    save_controller(controller, folder / name)
    if ranked:
        model().save(folder / RANKER)
    return folder


def benchmark(
    runs: Path,
    out: Path,
    methods: dict[str, Any] | None = None,
    analyses: dict[str, Any] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    seed: int = 0,
    workers: Workers | None = None,
) -> Summary:
    """Run a quick benchmark of the run in ``runs``."""
    chosen = MethodSettings(
        **{"datasets": ["synthetic"], "runs": str(runs), "baselines": ["fixed_4", "uniform", "s2g"], "seeds": [0, 1]}
        | {"protocols": ["free", "equal"]}
        | (methods or {})
    )
    wanted = AnalysisSettings(**{**QUICK, **(analyses or {})})
    return Benchmark(chosen, wanted, SOURCE, out, seed, _no_adaptive).run(progress, workers)


def _no_adaptive(trained: Trained, ground: Ground, questions: int) -> Any:
    raise AssertionError("adaptive is not among the baselines")


def without_analyses(**more: Any) -> dict[str, Any]:
    """Return settings under which nothing but the comparison runs."""
    none: dict[str, Any] = {"ablations": [], "caps": [], "cost_grid": [], "oracle": False, "importance_questions": 0}
    return none | more


def content(folder: Path) -> dict[str, bytes]:
    """Return the files that must be the same for the same seed: all but seconds."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and "timings" not in file.name)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
