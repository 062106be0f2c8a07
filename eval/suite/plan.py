"""What a benchmark runs on one data set: its contenders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...controllers.adaptive import AdaptiveRAGController
from ...controllers.base import Controller
from ...controllers.epsilon import EpsilonController
from ...controllers.forest import ForestController
from ...controllers.uniform import UniformController
from ...data.records import Record
from ...envs.features import FeatureMap
from ...envs.settings import TaskSettings
from ..protocols import LEARNED
from . import ablations
from .baselines import WITH_RANKER, Baseline, baselines_of
from .contender import Contender
from .costs import COST_KINDS
from .ground import Ground
from .protocols import FREE, PROTOCOLS
from .settings import AnalysisSettings, MethodSettings
from .trained import Trained

ORACLE = "oracle"
REGRET = "regret"
IMPORTANCE = "importance"
CAPS = "caps"
FRONTIER = "frontier"
ABLATED = "_ablations"
TRANSFERRED = "_transfer"
FROM = "from_"


def forest_notes(controller: ForestController) -> dict[str, Any]:
    """Return all that can change a choice of a forest controller, for the manifest."""
    return {"policy": "forest", "fingerprint": controller.fingerprint}


@dataclass(frozen=True)
class Plan:
    """Makes the contenders of one data set, in the order in which they run.

    Attributes:
        ground: what they run on.
        methods: which methods.
        analyses: which analyses.
        others: the runs of the other data sets, for transfer.
        unranked: the run without a ranker, if there is one.
        adaptive: the fitted controller of Adaptive-RAG, if it is wanted.
        seed: of the oracle's sample.
    """

    ground: Ground
    methods: MethodSettings
    analyses: AnalysisSettings
    others: Mapping[str, Trained]
    unranked: Trained | None
    adaptive: AdaptiveRAGController | None
    seed: int

    def contenders(self) -> Iterator[Contender]:
        """Yield all contenders: the comparisons first, then what the analyses need."""
        for protocol in self.methods.protocols:
            yield from self.compared(protocol)
        if FREE in self.methods.protocols:
            yield from self._caps()
            yield from self._frontier()
        for protocol in self.methods.protocols:
            if protocol in self.analyses.ablation_protocols:
                yield from self._ablations(protocol)
                yield from self._transfer(protocol)
        if self.analyses.oracle:
            yield from map(self._oracle, self.methods.protocols)

    def regrets(self) -> Iterator[Contender]:
        """Yield the learned controller on the oracle's questions, for its regret under each protocol."""
        if self.analyses.oracle:
            for protocol in self.methods.protocols:
                yield self._forest(REGRET, protocol, self._settings(protocol), self._learned, self._bounded)

    def importance(self) -> Contender | None:
        """Return the learned controller on the questions of the feature importance, if they are wanted."""
        if not self.analyses.importance_questions:
            return None
        protocol = FREE if FREE in self.methods.protocols else self.methods.protocols[0]
        records = self.ground.some(self.analyses.importance_questions, self.seed)
        return self._forest(IMPORTANCE, protocol, self._settings(protocol), self._learned, records)

    def compared(self, protocol: str) -> Iterator[Contender]:
        """Yield the learned controller and the baselines under a protocol."""
        yield self._forest(protocol, LEARNED, self._settings(protocol), self._learned, self.ground.records)
        for baseline in self._baselines(protocol):
            settings = self._settings(protocol)
            plain, everything = replace(settings, ranker="none"), self.ground.records
            yield self._contender(protocol, baseline.name, plain, *baseline[1:], everything)
            if self.methods.baselines_with_ranker and settings.ranker != "none":
                yield self._contender(protocol, _with_ranker(baseline.name), settings, *baseline[1:], everything)

    @cached_property
    def _bounded(self) -> list[Record]:
        """The questions of the oracle."""
        return self.ground.some(self.analyses.oracle_questions, self.seed)

    def _settings(self, protocol: str) -> TaskSettings:
        return PROTOCOLS[protocol](self.ground.trained.settings)

    @cached_property
    def _learned(self) -> ForestController:
        return self.ground.trained.controller(self.methods.cost_weight)

    def _baselines(self, protocol: str) -> Iterator[Baseline]:
        operations = list(self.ground.trained.settings.operations)
        steps = self.ground.trained.settings.caps.steps
        names, seeds = self.methods.baselines, self.methods.seeds
        return baselines_of(names, protocol, steps, seeds, FeatureMap(operations).names, operations, self.adaptive)

    @cached_property
    def _some(self) -> list[Record]:
        return self.ground.some(self.analyses.analysis_questions, self.seed)

    def _contender(
        self,
        folder: str,
        name: str,
        settings: TaskSettings,
        policy: Controller,
        noted: Mapping[str, Any],
        records: Sequence[Record] | None = None,
    ) -> Contender:
        """Return a contender; on the questions of the analyses, if none are given."""
        engine, asked = self.ground.engine(settings.ranker), self._some if records is None else records
        return Contender(folder, name, settings, policy, noted, engine, asked)

    def _forest(
        self,
        folder: str,
        name: str,
        settings: TaskSettings,
        controller: ForestController,
        records: Sequence[Record] | None = None,
    ) -> Contender:
        return self._contender(folder, name, settings, controller, forest_notes(controller), records)

    def _caps(self) -> Iterator[Contender]:
        """Yield learned controller and baselines under other limits on the steps."""
        task, controller = self.ground.trained.settings, self._learned
        for steps in self.analyses.caps:
            if steps == task.caps.steps:
                continue  # that is free stopping itself
            capped = replace(task, caps=replace(task.caps, steps=steps))
            yield self._forest(CAPS, f"{LEARNED}-steps{steps}", capped, controller)
            for baseline in self._baselines(FREE):
                if not baseline.name.startswith("fixed_") or baseline.name == f"fixed_{steps}":
                    name = f"{baseline.name}-steps{steps}"
                    yield self._contender(CAPS, name, replace(capped, ranker="none"), *baseline[1:])

    def _frontier(self) -> Iterator[Contender]:
        """Yield the learned controller with every lambda."""
        for kind in self.analyses.cost_kinds:
            for weight in self.analyses.cost_grid:
                controller = ablations.reweighted(self._learned, weight, COST_KINDS[kind])
                yield self._forest(FRONTIER, f"{kind}-{weight:g}", self._settings(FREE), controller)

    def _ablations(self, protocol: str) -> Iterator[Contender]:
        for name in self.analyses.ablations:
            yield from self._ablation(protocol, f"{protocol}{ABLATED}", name)

    def _ablation(self, protocol: str, folder: str, name: str) -> Iterator[Contender]:
        settings, controller = self._settings(protocol), self._learned
        if name == ablations.NO_VETO:
            if bare := ablations.unvetoed(controller):
                yield self._forest(folder, name, settings, bare)
        elif name == ablations.NO_FLOOR:
            everything = self.ground.engine(settings.ranker, floored=False)
            if everything.fingerprint != self.ground.engine(settings.ranker).fingerprint:
                yield replace(self._forest(folder, name, settings, controller), engine=everything)
        elif name == ablations.NO_RANKER:
            if default := ablations.default_candidates(settings):
                yield self._forest(folder, name, default, controller)
        elif name == ablations.UNRANKED:
            if self.unranked is not None:
                own = PROTOCOLS[protocol](self.unranked.settings)
                yield self._forest(folder, name, own, self.unranked.controller(self.methods.cost_weight))
        elif name == ablations.CONTROLLERS:
            yield from self._controllers(folder, settings)
        elif name in {ablations.UNIFORM, ablations.EPSILON}:
            for seed in self.methods.seeds:
                yield self._contender(folder, f"{name}-seed{seed}", settings, *self._drawing(name, seed, controller))
        elif changed := ablations.removed(name, settings):
            yield self._forest(folder, name, changed, controller)

    def _controllers(self, folder: str, settings: TaskSettings) -> Iterator[Contender]:
        trained = self.ground.trained
        for name, path in trained.others().items():
            yield self._forest(folder, name, settings, trained.controller(self.methods.cost_weight, path))

    def _drawing(self, name: str, seed: int, controller: ForestController) -> tuple[Controller, dict[str, Any]]:
        if name == ablations.UNIFORM:
            return UniformController(seed), {"policy": name, "seed": seed}
        epsilon = self.analyses.epsilon
        noted = {**forest_notes(controller), "policy": name, "epsilon": epsilon, "seed": seed}
        return EpsilonController(controller, epsilon, seed), noted

    def _transfer(self, protocol: str) -> Iterator[Contender]:
        """Yield the controllers of the other runs, with their rankers, on these questions, passages and reader."""
        if not self.analyses.transfer:
            return
        for name, other in self.others.items():
            own, task = self.ground.trained.settings, other.settings
            moved = replace(
                own,
                ranker=task.ranker,
                operations=task.operations,
                disabled=task.disabled,
                deduplicate_titles=task.deduplicate_titles,
                closed_book=task.closed_book,
                compress_in_control=task.compress_in_control,
                evaluator=own.evaluator if own.evaluator != "none" else task.evaluator,
                gate=task.gate,
                compress_strips=task.compress_strips,
            )
            controller = other.controller(self.methods.cost_weight)
            yield self._forest(f"{protocol}{TRANSFERRED}", f"{FROM}{name}", PROTOCOLS[protocol](moved), controller)

    def _oracle(self, protocol: str) -> Contender:
        settings = self._settings(protocol)
        engine = self.ground.engine(settings.ranker)
        return Contender(ORACLE, protocol, settings, None, {"policy": ORACLE}, engine, self._bounded)


def _with_ranker(name: str) -> str:
    """Return the name of a baseline with the ranker; that of a seed's own method keeps its seed at the end."""
    stem, dash, seed = name.partition("-seed")
    return f"{stem}{WITH_RANKER}{dash}{seed}"
