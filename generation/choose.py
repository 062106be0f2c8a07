"""The generator that a setting names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .base import Generator
from .chat_settings import ChatSettings
from .extractive import ExtractiveGenerator
from .local_settings import LocalSettings
from .recording_settings import RecordingSettings

PACKAGED = "packaged"
FIT = "fit"
CHAT = "chat"
LOCAL = "local"


@dataclass(frozen=True)
class GeneratorSource:
    """Which generator, and where it comes from.

    Attributes:
        kind: packaged, fit (cross-fitted in a run, and saved there), chat, local, or the folder of a saved one.
        chat: the server, for chat.
        local: the model, for local.
        recording: whether its responses are recorded or replayed.
    """

    kind: str = PACKAGED
    chat: ChatSettings = field(default=ChatSettings())
    local: LocalSettings = field(default=LocalSettings())
    recording: RecordingSettings = field(default=RecordingSettings())

    def at_inference(self, fitted: Path) -> GeneratorSource:
        """Return what serves at inference: for fit the one that the run saved in ``fitted``."""
        return replace(self, kind=str(fitted)) if self.kind == FIT else self

    def noted(self) -> dict[str, Any]:
        """Return what a manifest holds of it."""
        noted: dict[str, Any] = {"generator_source": self.kind}
        if self.kind == CHAT:
            noted["chat_source"] = self.chat.source()
        if self.kind == LOCAL:
            noted["local_source"] = self.local.source()
        return noted

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> GeneratorSource:
        """Return what a manifest names, the packaged one where it names none.

        Raises:
            ConfigError: if its chat server or local model cannot be used.
        """
        return cls(
            str(manifest.get("generator_source", PACKAGED)),
            ChatSettings.of(manifest.get("chat_source")),
            LocalSettings.of(manifest.get("local_source")),
        )


def load_generator(wanted: str | GeneratorSource) -> Generator:
    """Return the generator that is wanted: packaged, behind a chat server, local, or saved in a folder.

    Of a cross-fitted one it is the model fitted on all questions. Where a recording is replayed, none is loaded.

    Raises:
        DataError: if the folder holds no generator or a damaged one, or the recording cannot be used.
        ConfigError: if no model is named, or there is no such model.
        ManifestMismatchError: if the recording has nothing to replay.
        BackendUnavailableError: if an extra is needed and not installed.
    """
    source = GeneratorSource(wanted) if isinstance(wanted, str) else wanted
    return source.recording.load(lambda: _loaded(source))


def _loaded(source: GeneratorSource) -> Generator:
    if source.kind == PACKAGED:
        return ExtractiveGenerator.default()
    if source.kind == CHAT:
        from .chat import ChatGenerator

        return ChatGenerator(source.chat)
    if source.kind == LOCAL:
        from .local import LocalGenerator

        return LocalGenerator(source.local)
    return _saved(Path(source.kind))


def _saved(folder: Path) -> Generator:
    if (folder / "full").is_dir():
        # Fitting brings scikit-learn, which reading alone does not need.
        from .fit import CrossFitted

        return CrossFitted.load(folder).full
    return ExtractiveGenerator.load(folder)
