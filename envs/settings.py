"""Settings of a task: which questions, which corpus, which generator, which rules."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from ..actions.caps import Caps
from ..actions.gate_settings import GateSettings
from ..actions.operation_set import GATE, names_of
from ..confidence.verdicts import Thresholds, checked
from ..data.datasets import DATASETS
from ..data.errors import ConfigError
from ..generation.chat_settings import ChatSettings
from ..generation.choose import GeneratorSource
from ..generation.local_settings import LocalSettings
from ..generation.recording_settings import RecordingSettings
from ..retrieval.choose import RetrievalSettings
from ..retrieval.encoder_settings import EncoderSettings
from ..retrieval.external_settings import HALF, ExternalSettings

SYNTHETIC = "synthetic"
DATA_VARIABLE = "EVIDENCEGYM_DATA"


@dataclass(frozen=True)
class TaskSettings:
    """What an experiment is about.

    Attributes:
        dataset: synthetic, hotpotqa, 2wikimultihopqa or musique.
        data: folder of the official files; left out, the variable EVIDENCEGYM_DATA.
        corpus: pooled (union of the paragraphs of train and dev file), own (each question's own context), or a path to
            a folder of .txt/.md/.jsonl files or to a file of {"title", "text"} lines.
        train_file: train file, where it is not the official one in `data`.
        dev_file: dev file, where it is not the official one in `data`.
        train_questions: how many questions to train on; all when left out (synthetic: 400).
        dev_questions: how many questions to evaluate on; all when left out (synthetic: 200).
        passages: size of the synthetic world.
        world_seed: seed of the synthetic world.
        generator: packaged (the fitted extractive reader that ships), fit (cross-fitted on the train questions), chat
            (a language model behind a server), local (one in this process), or the folder of a saved one.
        chat: the server of the generator chat.
        local: the model of the generator local.
        recording: whether the generator's responses are recorded or replayed.
        ranker: none (operations choose as in the paper), fit (a ranker of passages and searches, cross-fitted on the
            train questions, chooses within the retrievals), or the folder of a saved one.
        retrieval: what searches the corpus.
        encoder: embeds passages and questions, for dense and hybrid retrieval, and for the ranker to compare.
        evaluator: none, packaged (embedded, fitted and calibrated on the synthetic world), fit (the same, cross-fitted
            on the train questions and calibrated on them), or the folder of a saved one; judges the evidence where the
            operations hold a corrective gate.
        thresholds: upper and lower threshold of the gate's verdicts; the evaluator's own when left out.
        external: where a corrective gate searches elsewhere.
        gate: how it corrects.
        compress_strips: the evaluator, not the generator, chooses what compress keeps.
        operations: operation set: a preset's name, or names of operations in the order of their ids.
        disabled: operations that the mask leaves out.
        deduplicate_titles: retrievals leave out passages whose title is held (the paper's rule).
        closed_book: stopping is valid before there is evidence.
        compress_in_control: a controller may pick compress, once.
        caps: limits of an episode.
    """

    dataset: str = SYNTHETIC
    data: Path | None = None
    corpus: str = "pooled"
    train_file: Path | None = None
    dev_file: Path | None = None
    train_questions: int | None = None
    dev_questions: int | None = None
    passages: int = 2000
    world_seed: int = 1
    generator: str = "packaged"
    chat: ChatSettings = field(default=ChatSettings())
    local: LocalSettings = field(default=LocalSettings())
    recording: RecordingSettings = field(default=RecordingSettings())
    ranker: str = "none"
    retrieval: RetrievalSettings = field(default=RetrievalSettings())
    encoder: EncoderSettings = field(default=EncoderSettings())
    evaluator: str = "none"
    thresholds: list[float] | None = None
    external: ExternalSettings = field(default=ExternalSettings())
    gate: GateSettings = field(default=GateSettings())
    compress_strips: bool = False
    operations: str | list[str] = "paper"
    disabled: list[str] = field(default_factory=list)
    deduplicate_titles: bool = False
    closed_book: bool = False
    compress_in_control: bool = False
    caps: Caps = field(default=Caps())

    def __post_init__(self) -> None:
        known = [SYNTHETIC, *DATASETS]
        if self.dataset not in known:
            raise ConfigError(f"unknown dataset {self.dataset!r}; there are: {', '.join(known)}")
        for name in ("train_questions", "dev_questions", "passages"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, found {value}")
        if self.evaluator == "none" and (self.is_gated or self.compress_strips):
            raise ConfigError(
                "corrective_gate and compress_strips need an evaluator: --evaluator fit, or the folder of a saved one"
            )
        if self.external.where == HALF and self.corpus == "own":
            raise ConfigError("external.where half needs one corpus: choose `corpus: pooled` or a path instead of own")
        _ = self.given_thresholds

    @property
    def is_synthetic(self) -> bool:
        """Whether the questions come from the synthetic world."""
        return self.dataset == SYNTHETIC

    @property
    def is_gated(self) -> bool:
        """Whether the operation set holds a corrective gate."""
        return GATE in names_of(self.operations)

    @property
    def given_thresholds(self) -> Thresholds | None:
        """The thresholds that were given, if any.

        Raises:
            ConfigError: if they are not two numbers in [-1, 1], the upper one first.
        """
        if self.thresholds is None:
            return None
        if len(self.thresholds) != 2:
            raise ConfigError(f"thresholds are two numbers, the upper and the lower one, found {self.thresholds}")
        return checked(*self.thresholds)

    @property
    def generator_source(self) -> GeneratorSource:
        """Which generator, and where it comes from."""
        return GeneratorSource(self.generator, self.chat, self.local, self.recording)

    @property
    def folder(self) -> Path:
        """The folder of the official files.

        Raises:
            ConfigError: if neither ``data`` nor the variable names one.
        """
        folder = self.data or os.environ.get(DATA_VARIABLE)
        if not folder:
            raise ConfigError(f"where are the files of {self.dataset}? Give --data FOLDER or set {DATA_VARIABLE}")
        return Path(folder)
