"""Whether the responses of the generator are recorded or replayed, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..data.errors import ConfigError
from .base import Generator
from .recording import Mode, RecordedGenerator
from .recording_store import Recording


@dataclass(frozen=True)
class RecordingSettings:
    """Whether the generator's responses are kept.

    Attributes:
        mode: live (ask the generator, keep nothing), record (ask for what the file does not hold, and keep it), or
            replay (only from the file; no model is needed).
        file: the recording.
        backend: fingerprint of the backend to replay, where the file has several.
        used: a second recording that gets what was used of the first, to share or to prune by.

    Raises:
        ConfigError: if the mode needs a file and none is given, or the other way round.
    """

    mode: Mode = "live"
    file: Path | None = None
    backend: str = ""
    used: Path | None = None

    def __post_init__(self) -> None:
        if self.mode == "live" and (self.file or self.used or self.backend):
            raise ConfigError("recording.file is given and recording.mode is live; choose record or replay")
        if self.mode != "live" and self.file is None:
            raise ConfigError(f"recording.mode is {self.mode}: name the file with --recording.file FILE")
        if self.backend and self.mode != "replay":
            raise ConfigError("recording.backend is for recording.mode replay")

    def for_backend(self, fingerprint: str) -> RecordingSettings:
        """Return these settings with the backend to replay named, where none is."""
        return self if self.backend or self.mode != "replay" else replace(self, backend=fingerprint)

    def load(self, load: Callable[[], Generator]) -> Generator:
        """Return the generator that ``load`` gives with its recording, or one that replays, without calling ``load``.

        Raises:
            ConfigError: if the recording to replay has several backends, and none is named.
            DataError: if it is missing or is none.
            ManifestMismatchError: if it has nothing to replay.
        """
        return self._noting(self._replayed(None)) if self.mode == "replay" else self.of(load())

    def of(self, generator: Generator) -> Generator:
        """Return a generator with its recording; when replaying it gives only its fingerprint."""
        if self.mode == "live" or self.file is None:
            return generator
        if self.mode == "replay":
            return self._noting(self._replayed(generator))
        return self._noting(RecordedGenerator(generator, Recording(self.file), "record"))

    def _replayed(self, generator: Generator | None) -> Generator:
        return RecordedGenerator(generator, Recording(self.file or "", read_only=True), "replay", self.backend)

    def _noting(self, generator: Generator) -> Generator:
        return generator if self.used is None else RecordedGenerator(generator, Recording(self.used), "record")


LIVE = RecordingSettings()
"""Nothing is recorded."""
