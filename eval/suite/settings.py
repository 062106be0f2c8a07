"""Settings of a benchmark: what runs, on what, and which analyses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from ...data.bounds import require_least
from ...data.errors import ConfigError
from ...generation.chat_settings import ChatSettings
from ...generation.local_settings import LocalSettings
from ...generation.recording_settings import LIVE, RecordingSettings
from .ablations import ABLATIONS
from .baselines import check_baselines
from .costs import COST_KINDS
from .protocols import PROTOCOLS

DATASET = "{dataset}"


@dataclass(frozen=True)
class SourceSettings:
    """Where the questions and the passages come from; everything else is that of the trained runs, unless named here.

    Attributes:
        data: folder of the official files; left out, the variable EVIDENCEGYM_DATA.
        corpus: pooled, own, or a path, as in training.
        train_questions: how many questions the runs were trained on; left out, the number in each run's controller.
        dev_questions: how many questions to read; all when left out (synthetic: 200).
        passages: size of the synthetic world.
        world_seed: seed of the synthetic world.
        generator: reads and judges in the place of the runs' generators, for every method: packaged, chat (a language
            model behind a server), local (one in this process), or the folder of a saved one; empty for the runs' own.
        chat: the server of the generator chat.
        local: the model of the generator local.
        recording: whether the generator's responses are recorded or replayed.
        context_documents: passages that the generator is shown at most, at least 1; left out, the number in each run's
            controller.

    Raises:
        ConfigError: if ``context_documents`` is below 1.
    """

    data: Path | None = None
    corpus: str = "pooled"
    train_questions: int | None = None
    dev_questions: int | None = None
    passages: int = 2000
    world_seed: int = 1
    generator: str = ""
    chat: ChatSettings = field(default=ChatSettings())
    local: LocalSettings = field(default=LocalSettings())
    recording: RecordingSettings = field(default=RecordingSettings())
    context_documents: int | None = None

    def __post_init__(self) -> None:
        if self.context_documents is not None:
            require_least(self, "benchmark", context_documents=1)

    @property
    def as_trained(self) -> SourceSettings:
        """The same source for what belongs to a run: its own generator, its own limits."""
        recording = LIVE if self.generator else self.recording
        return replace(self, generator="", context_documents=None, recording=recording)


@dataclass(frozen=True)
class MethodSettings:
    """Which methods run, and on which questions.

    Attributes:
        datasets: hotpotqa, 2wikimultihopqa, musique, synthetic.
        runs: folder of the trained run of each data set; ``{dataset}`` stands for its name.
        unranked: folder of a run that was trained without a ranker, likewise; empty for none.
        protocols: free, equal, equal_with_checks, equal_6.
        baselines: fixed_K, uniform, ircot, self_ask, s2g, corag, adaptive; crag and crag_K where the runs have a gate.
        baselines_with_ranker: whether each baseline also runs with the run's ranker, as NAME+ranker.
        adaptive_questions: train questions that the classifier of ``adaptive`` is fitted on at most.
        seeds: seeds of the methods that draw.
        sample: number of dev questions, drawn by the benchmark's seed; 0 for all.
        cost_weight: lambda of the learned controller.

    Raises:
        ConfigError: if a name is unknown or repeated, or a number is out of range.
    """

    datasets: list[str] = field(default_factory=lambda: ["hotpotqa", "2wikimultihopqa", "musique"])
    runs: str = "runs/{dataset}"
    unranked: str = ""
    protocols: list[str] = field(default_factory=lambda: list(PROTOCOLS))
    baselines: list[str] = field(
        default_factory=lambda: [
            "fixed_1", "fixed_2", "fixed_3", "fixed_4", "uniform", "ircot", "self_ask", "s2g", "corag", "adaptive",
        ]
    )  # fmt: skip
    baselines_with_ranker: bool = False
    adaptive_questions: int = 2000
    seeds: list[int] = field(default_factory=lambda: [0])
    sample: int = 0
    cost_weight: float = 0.0

    def __post_init__(self) -> None:
        if not (self.datasets and self.seeds and self.protocols):
            raise ConfigError("a benchmark needs at least one of datasets, one of seeds and one of protocols")
        no_repeats("datasets", self.datasets)
        no_repeats("seeds", self.seeds)
        known_names("protocols", self.protocols, PROTOCOLS)
        check_baselines(self.baselines)
        require_least(self, "benchmark", sample=0, adaptive_questions=1)
        if len(self.datasets) > 1 and DATASET not in self.runs:
            raise ConfigError(f"runs must hold {DATASET} where there are several data sets, found {self.runs!r}")

    def run_of(self, dataset: str) -> Path:
        """Return the folder of the trained run of a data set."""
        return Path(self.runs.replace(DATASET, dataset))

    def unranked_of(self, dataset: str) -> Path | None:
        """Return the folder of its run without a ranker, if one is named."""
        return Path(self.unranked.replace(DATASET, dataset)) if self.unranked else None


@dataclass(frozen=True)
class AnalysisSettings:
    """Which analyses are made beyond the comparison.

    Attributes:
        analysis_questions: questions that ablations, cap sweep, frontier and transfer run on, drawn by the benchmark's
            seed; 0 for all.
        ablations: of the learned controller; names in ``ABLATIONS``.
        ablation_protocols: those of ``protocols`` under which ablations and transfer run.
        epsilon: share of uniform decisions in the ablation ``epsilon``, in [0, 1].
        caps: limits on the control steps, each at least 1, for the cap sweep at free stopping.
        cost_grid: values of lambda, above 0, for the frontier at free stopping.
        cost_kinds: what lambda weighs: tokens (in thousands), retrievals.
        transfer: whether each run's controller and ranker run on the other data sets.
        transfer_from: the data sets whose runs do; those of ``datasets`` when left out.
        oracle: whether the oracle runs, with regret and stops.
        oracle_questions: questions that it runs on at most.
        importance_questions: questions whose decisions the feature importance is read off; 0 for none.

    Raises:
        ConfigError: if a name is unknown or repeated, or a number is out of range.
    """

    analysis_questions: int = 1000
    ablations: list[str] = field(default_factory=lambda: list(ABLATIONS))
    ablation_protocols: list[str] = field(default_factory=lambda: ["free", "equal"])
    epsilon: float = 0.1
    caps: list[int] = field(default_factory=lambda: [1, 2, 3, 4])
    cost_grid: list[float] = field(default_factory=lambda: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
    cost_kinds: list[str] = field(default_factory=lambda: list(COST_KINDS))
    transfer: bool = True
    transfer_from: list[str] = field(default_factory=list)
    oracle: bool = True
    oracle_questions: int = 100
    importance_questions: int = 200

    def __post_init__(self) -> None:
        known_names("ablations", self.ablations, ABLATIONS)
        known_names("ablation_protocols", self.ablation_protocols, PROTOCOLS)
        known_names("cost_kinds", self.cost_kinds, COST_KINDS)
        require_least(self, "benchmark", analysis_questions=0, oracle_questions=1, importance_questions=0)
        for name in ("caps", "cost_grid", "transfer_from"):
            no_repeats(name, getattr(self, name))
        if any(cap < 1 for cap in self.caps) or not all(0 < weight < inf for weight in self.cost_grid):
            raise ConfigError(
                "caps must be at least 1, cost_grid above 0 (0 is `learned`) and finite, "
                f"found {self.caps}, {self.cost_grid}"
            )
        if not 0 <= self.epsilon <= 1:
            raise ConfigError(f"epsilon must be in [0, 1], found {self.epsilon}")


def no_repeats(what: str, values: Sequence[object]) -> None:
    """Check that no value repeats.

    Raises:
        ConfigError: otherwise.
    """
    if len(set(values)) != len(values):
        raise ConfigError(f"{what} must not repeat a value, found {', '.join(map(str, values))}")


def known_names(what: str, names: Sequence[str], known: Iterable[str]) -> None:
    """Check that each name is known and none repeated.

    Raises:
        ConfigError: otherwise.
    """
    if unknown := sorted(set(names) - set(known)):
        raise ConfigError(f"unknown {what}: {', '.join(unknown)}; there are: {', '.join(known)}")
    no_repeats(what, names)
