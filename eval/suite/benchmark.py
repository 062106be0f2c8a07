"""The benchmark: every data set, every method, then the analyses and the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...actions.workers import Workers
from ...controllers.adaptive import AdaptiveRAGController
from ...data.records import content_hash
from ...data.storage import MANIFEST, to_json, write_text
from ...data.versions import versions
from ...envs.features import FeatureMap
from ..report_folder import ANALYSIS
from .ablations import UNRANKED
from .analyses import Analyses
from .baselines import ADAPTIVE
from .contender import Contender
from .folder import BenchmarkFolder, Progress
from .ground import Ground, open_ground
from .importance import importance_table
from .plan import IMPORTANCE, Plan
from .protocols import may_stop
from .regret import measure_regret, regret_table
from .settings import AnalysisSettings, MethodSettings, SourceSettings
from .stops import stop_table
from .summary import DataSetSummary, Summary
from .trained import Trained, open_trained

Fit = Callable[[Trained, Ground, int], AdaptiveRAGController]
"""Reads or fits the controller of Adaptive-RAG of a run, on at most so many questions."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark.

    Attributes:
        methods: which methods run, on which questions.
        analyses: which analyses are made.
        source: where questions and passages come from.
        out: everything is written there.
        seed: of samples, resamples and flips.
        fit_adaptive: gives the controller of Adaptive-RAG.
    """

    methods: MethodSettings
    analyses: AnalysisSettings
    source: SourceSettings
    out: Path
    seed: int
    fit_adaptive: Fit

    def run(self, progress: Progress | None = None, workers: Workers | None = None) -> Summary:
        """Run what is missing, and write the analyses and the summary anew; a killed run goes on from there.

        Raises:
            ConfigError: if a setting does not fit a run.
            DataError: if a file is missing, damaged or cannot be written.
            ManifestMismatchError: if a method in the folder was made from something else.
        """
        names = dict.fromkeys((*self.methods.datasets, *self._sources()))
        trained = {name: open_trained(self.methods.run_of(name), name, self.source) for name in names}
        crew = workers or Workers()
        for name in self.methods.datasets:
            self._data_set(trained, name, progress, crew)
        return self._summarise()

    def _data_set(self, trained: dict[str, Trained], name: str, progress: Progress | None, workers: Workers) -> None:
        share_in = None if workers.here else self.out / "index" / name
        ground = open_ground(name, trained[name], self.methods.sample, self.seed, share_in)
        folder = BenchmarkFolder(self.out / name, _about(ground, self.source, self.seed))
        plan = self._plan(trained, ground)
        contenders = list(plan.contenders())
        folder.begin((*contenders, *plan.regrets()))
        folder.run(contenders, _Progress(name, contenders, progress).tell, workers)
        self._importance(folder, plan)
        self._regrets(folder, plan, progress)
        write_text(folder.folder / "environment.json", to_json(versions()))
        task = ground.trained.settings
        for analysis in Analyses(folder, task.caps.steps, list(task.operations), self.seed).make():
            analysis.write(folder.folder / ANALYSIS)

    def _importance(self, folder: BenchmarkFolder, plan: Plan) -> None:
        """Write the feature importance, unless it is there."""
        contender = plan.importance()
        if contender is None:
            return
        known = folder.methods.get(contender.key) == contender.made_from
        if not known or not (folder.folder / ANALYSIS / f"{IMPORTANCE}.json").exists():
            names = FeatureMap(list(contender.settings.operations)).names
            importance_table(contender, names, self.seed).write(folder.folder / ANALYSIS)
            folder.begin([contender])

    def _regrets(self, folder: BenchmarkFolder, plan: Plan, progress: Progress | None) -> None:
        """Measure the regret that is missing, and write its analyses."""
        contenders = list(plan.regrets())
        bars = _Progress(folder.folder.name, contenders, progress)
        for contender in contenders:
            file = folder.file(contender.protocol, contender.name)
            regrets = measure_regret(contender, file, partial(bars.tell, contender))
            regret_table(contender.name, regrets, self.seed).write(folder.folder / ANALYSIS)
            if may_stop(contender.name):
                stop_table(contender.name, regrets).write(folder.folder / ANALYSIS)

    def _plan(self, trained: dict[str, Trained], ground: Ground) -> Plan:
        methods, analyses = self.methods, self.analyses
        adaptive = None
        if ADAPTIVE in methods.baselines:
            own = open_trained(ground.trained.folder, ground.dataset, self.source.as_trained)
            adaptive = self.fit_adaptive(own, ground, methods.adaptive_questions)
        folder = methods.unranked_of(ground.dataset) if UNRANKED in analyses.ablations else None
        unranked = open_trained(folder, ground.dataset, self.source) if folder else None
        others = {name: trained[name] for name in self._sources() if name != ground.dataset}
        return Plan(ground, methods, analyses, others, unranked, adaptive, self.seed)

    def _sources(self) -> list[str]:
        """Return the data sets whose runs are transferred."""
        return (self.analyses.transfer_from or self.methods.datasets) if self.analyses.transfer else []

    def _summarise(self) -> Summary:
        summary = Summary([DataSetSummary.read(folder, self.seed) for folder in data_set_folders(self.out)])
        summary.write(self.out)
        return summary


class _Progress:
    """Progress over the contenders of a data set: one bar a protocol.

    Args:
        dataset: its name.
        contenders: all that will run.
        progress: told of name, finished episodes, and all episodes of a protocol.
    """

    def __init__(self, dataset: str, contenders: Iterable[Contender], progress: Progress | None) -> None:
        self._dataset = dataset
        self._progress = progress
        self._finished: Counter[str] = Counter()
        self._total: Counter[str] = Counter()
        for contender in contenders:
            self._total[contender.protocol] += len(contender.records)

    def tell(self, contender: Contender, size: int) -> None:
        """Note that so many more episodes of a contender are finished."""
        protocol = contender.protocol
        self._finished[protocol] += size
        if self._progress and size:
            self._progress(f"{self._dataset}: {protocol}", self._finished[protocol], self._total[protocol])


def data_set_folders(out: Path) -> list[Path]:
    """Return the folders of the data sets of a benchmark, by name."""
    return sorted(child for child in out.iterdir() if (child / MANIFEST).is_file())


def _about(ground: Ground, source: SourceSettings, seed: int) -> dict[str, Any]:
    """Return what all methods of a data set share."""
    return {
        "dataset": ground.dataset,
        "corpus": "own folder" if source.corpus not in {"pooled", "own"} else source.corpus,
        "retriever": ground.retriever.fingerprint,
        "generator": ground.generator.fingerprint,
        "unit": ground.generator.unit,
        "questions": content_hash(*(record.uid for record in ground.records)),
        "n_questions": len(ground.records),
        "seed": seed,
    }
