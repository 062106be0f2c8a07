"""The comparison of a controller with its baselines on one data set, written to a folder as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..actions.engine import Engine
from ..actions.workers import Workers
from ..controllers.forest import ForestController
from ..data.records import Record, content_hash
from ..data.storage import to_json, write_text
from ..data.versions import versions
from ..envs.build import rules_of
from ..envs.settings import TaskSettings
from .comparison import Comparison, Results, column, compare, matched
from .protocols import EQUAL, FREE, LEARNED, equal, free, uniform_k
from .runner import Method, evaluate, open_evaluation
from .statistics import Interval, paired_difference
from .table import markdown

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark found.

    Attributes:
        comparisons: protocol -> numbers.
        matched: baseline -> learned minus baseline in support recall at matched mean retrievals.
        retrievals: mean retrievals of the learned controller, free.
        folder: where everything was written.
    """

    comparisons: dict[str, Comparison]
    matched: dict[str, Interval]
    retrievals: float
    folder: Path

    def markdown(self) -> str:
        """Return all tables as Markdown."""
        parts = [markdown(comparison) for comparison in self.comparisons.values()]
        lines = [f"Support recall at matched mean retrievals ({self.retrievals:.2f}), {LEARNED} minus", ""]
        lines += ["| baseline | difference |", "|---|---|"]
        lines += [f"| {name} | {d.mean:+.3f} [{d.low:+.3f}, {d.high:+.3f}] |" for name, d in self.matched.items()]
        return "\n".join([*parts, *lines]) + "\n"


def run_benchmark(
    settings: TaskSettings,
    records: Sequence[Record],
    engine: Engine,
    controller: ForestController,
    folder: Path,
    seed: int = 0,
    progress: Progress | None = None,
    workers: Workers | None = None,
) -> Benchmark:
    """Run every method of both protocols and compare.

    Per-question results go to ``folder/<protocol>/<method>.jsonl``; a killed run goes on from there. The numbers go to
    ``comparison.json`` and ``tables.md``, versions of Python and packages to ``environment.json``.

    Raises:
        ManifestMismatchError: if the folder holds an evaluation made otherwise.
        DataError: if it cannot be written.
    """
    open_evaluation(folder, _manifest(settings, records, engine, controller, seed))
    write_text(folder / "environment.json", to_json(versions()))
    run = _Runner(records, engine, folder, progress, workers)
    found = {
        EQUAL: run.all(EQUAL, equal(settings, controller, seed)),
        FREE: run.all(FREE, free(settings, controller, seed)),
    }
    comparisons = {
        EQUAL: compare(f"{settings.dataset}, at equal documents", found[EQUAL], LEARNED, seed),
        FREE: compare(f"{settings.dataset}, free stopping", found[FREE], LEARNED, seed),
    }
    by_k = {k: run.one("matched", method) for k, method in uniform_k(settings, seed).items()}
    fixed = {k: found[FREE][f"fixed-{k}"] for k in by_k}
    retrievals = float(column(found[FREE][LEARNED], "retrievals").mean())
    differences = {
        name: _at_matched(found[FREE][LEARNED], baseline, retrievals, seed)
        for name, baseline in (("fixed-k", fixed), ("uniform", by_k))
    }
    benchmark = Benchmark(comparisons, differences, retrievals, folder)
    _write(benchmark)
    return benchmark


class _Runner:
    """Runs methods into files under one folder."""

    def __init__(
        self,
        records: Sequence[Record],
        engine: Engine,
        folder: Path,
        progress: Progress | None,
        workers: Workers | None,
    ) -> None:
        self.workers = workers
        self.records = records
        self.engine = engine
        self.folder = folder
        self.progress = progress

    def all(self, protocol: str, methods: Sequence[Method]) -> dict[str, Results]:
        return {method.name: self.one(protocol, method) for method in methods}

    def one(self, protocol: str, method: Method) -> Results:
        def report(done: int, total: int) -> None:
            if self.progress:
                self.progress(f"{protocol}: {method.name}", done, total)

        file = self.folder / protocol / f"{method.name}.jsonl"
        return evaluate(method, self.records, self.engine, file, progress=report, workers=self.workers)


def _at_matched(learned: Results, baseline: dict[int, Results], retrievals: float, seed: int) -> Interval:
    name = "support_recall"
    return paired_difference(column(learned, name), matched(baseline, retrievals, name), seed)


def _write(benchmark: Benchmark) -> None:
    numbers: dict[str, Any] = {name: c.as_dict() for name, c in benchmark.comparisons.items()}
    numbers["matched"] = {
        "retrievals": benchmark.retrievals,
        "support_recall": {name: d._asdict() for name, d in benchmark.matched.items()},
    }
    write_text(benchmark.folder / "comparison.json", to_json(numbers))
    write_text(benchmark.folder / "tables.md", benchmark.markdown())


def _manifest(
    settings: TaskSettings, records: Sequence[Record], engine: Engine, controller: ForestController, seed: int
) -> dict[str, Any]:
    return {
        "dataset": settings.dataset,
        "corpus": "own folder" if settings.corpus not in {"pooled", "own"} else settings.corpus,
        "questions": content_hash(*(record.uid for record in records)),
        "n_questions": len(records),
        "caps": asdict(settings.caps),
        "operations": list(controller.operations),
        "rules": rules_of(settings),
        "engine": engine.fingerprint,
        "unit": engine.generator.unit,
        "controller": controller.fingerprint,
        "cost_weight": controller.cost_weight,
        "seed": seed,
    }
