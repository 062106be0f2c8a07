"""A trained run as the benchmark uses it: its task, its controllers, its ranker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...actions.caps import Caps
from ...actions.gate_settings import GateSettings
from ...controllers.files import KIND, load_controller
from ...controllers.forest import ForestController
from ...data.errors import DataError, ManifestMismatchError
from ...data.storage import MANIFEST, read_manifest
from ...envs.build import CONTROLLER, CONTROLLERS, EVALUATOR, GENERATOR, RANKER
from ...envs.features import FeatureMap
from ...envs.settings import TaskSettings
from ...generation.base import Generator
from ...generation.choose import GeneratorSource, load_generator
from ...retrieval.choose import RetrievalSettings
from ...retrieval.encoder_settings import EncoderSettings
from ...retrieval.external_settings import ExternalSettings
from ..answering import generator_of
from .settings import SourceSettings

_RULES = ("disabled", "deduplicate_titles", "closed_book", "compress_in_control")


@dataclass(frozen=True)
class Trained:
    """A trained run.

    Attributes:
        folder: where it lies.
        manifest: that of its controller.
        settings: the task that it was trained for, with the source of the benchmark.
        own_generator: whether it reads with the generator that it was trained with.
    """

    folder: Path
    manifest: Mapping[str, Any]
    settings: TaskSettings
    own_generator: bool = True

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return int(self.manifest.get("collection_seed", 0))

    def controller(self, cost_weight: float = 0.0, folder: Path | None = None) -> ForestController:
        """Return its controller, or another one of the run.

        Raises:
            DataError: if it is missing or damaged.
            ManifestMismatchError: if it was trained with other features or operations.
        """
        operations = list(self.settings.operations)
        return load_controller(
            folder or self.folder / CONTROLLER, FeatureMap(operations).names, operations, cost_weight
        )

    def generator(self) -> Generator:
        """Return the generator that it was trained with, or the one that the benchmark names in its place.

        Raises:
            DataError: if a saved one, or the recording, is missing or damaged.
            ConfigError: if no model is named, or there is no such model.
            ManifestMismatchError: if its own is not that of the training, or the recording has nothing to replay.
            BackendUnavailableError: if an extra is needed and not installed.
        """
        if self.own_generator:
            return generator_of(self.folder, self.manifest, self.settings.recording)
        return load_generator(self.settings.generator_source.at_inference(self.folder / GENERATOR))

    def others(self) -> dict[str, Path]:
        """Return the further controllers of the run, by name."""
        found = sorted((self.folder / CONTROLLERS).glob(f"*/{MANIFEST}"))
        return {file.parent.name: file.parent for file in found}


def open_trained(folder: Path, dataset: str, source: SourceSettings) -> Trained:
    """Open a run that ``evidencegym train`` wrote for a data set.

    Raises:
        DataError: if it holds no controller.
        ManifestMismatchError: if its controller is of another data set, or does not say its rules.
    """
    if not (folder / CONTROLLER / MANIFEST).exists():
        raise DataError("no trained controller; run `evidencegym train` first, or name the runs with --runs", folder)
    manifest = read_manifest(folder / CONTROLLER, KIND)
    if manifest.get("dataset") != dataset:
        raise ManifestMismatchError(
            f"{folder}: expected a run of {dataset}, found one of {manifest.get('dataset')}; name the runs with --runs"
        )
    return Trained(folder, manifest, _settings(folder, manifest, dataset, source), not source.generator)


def _settings(folder: Path, manifest: Mapping[str, Any], dataset: str, source: SourceSettings) -> TaskSettings:
    try:
        rules = {name: manifest["rules"][name] for name in _RULES}
        generator = _generator(manifest, source)
        caps = Caps(**manifest["caps"])
        return TaskSettings(
            dataset=dataset,
            data=source.data,
            corpus=source.corpus,
            train_questions=source.train_questions or int(manifest["questions"]),
            dev_questions=source.dev_questions,
            passages=source.passages,
            world_seed=source.world_seed,
            generator=generator.kind,
            chat=generator.chat,
            local=generator.local,
            recording=generator.recording,
            ranker=served_from(folder, RANKER, str(manifest.get("ranker_source", "none"))),
            evaluator=served_from(folder, EVALUATOR, str(manifest.get("evaluator_source", "none"))),
            thresholds=manifest.get("thresholds"),
            external=ExternalSettings.of(manifest.get("external_source")),
            gate=GateSettings.of(manifest["rules"].get("gate")),
            compress_strips=bool(manifest["rules"].get("compress_strips", False)),
            retrieval=RetrievalSettings.of(manifest.get("retrieval_source")),
            encoder=EncoderSettings.of(manifest.get("encoder_source")),
            operations=list(manifest["operations"]),
            caps=replace(caps, context_documents=source.context_documents or caps.context_documents),
            **rules,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ManifestMismatchError(
            f"{folder}: the controller's manifest does not say how it was trained ({error}); train again"
        ) from error


def _generator(manifest: Mapping[str, Any], source: SourceSettings) -> GeneratorSource:
    """Return the generator of the training, or the one that is named in its place, with its recording."""
    if source.generator:
        return GeneratorSource(source.generator, source.chat, source.local, source.recording)
    recording = source.recording.for_backend(str(manifest["generator"]))
    return replace(GeneratorSource.of(manifest), recording=recording)


def served_from(folder: Path, part: str, wanted: str) -> str:
    """Return "none", or the folder of the ranker or evaluator that serves a run at inference."""
    return str(folder / part) if wanted == "fit" else wanted
