"""A generator that records its responses, and one that only replays them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..data.errors import ConfigError, ManifestMismatchError, RecordingMissError, RequestFailedError
from .base import Generator
from .recording_store import Backend, Recording
from .recording_values import Entry, key_of, request_json, response_json, response_of
from .serving import ServingGenerator
from .tasks import Failed

Mode = Literal["live", "record", "replay"]


class RecordedGenerator(ServingGenerator):
    """Answers from a recording, and asks a generator for what is not there.

    It has the fingerprint and the unit of the generator. What it returns when it records is what it returns when it
    replays, failures and usage included, whoever wrote it first.

    Args:
        generator: whom to ask; when replaying it may be None, and otherwise gives only its fingerprint.
        recording: where responses are kept; None only for ``live``.
        mode: ``live`` asks the generator and keeps nothing; ``record`` asks for what is not there and keeps it;
            ``replay`` asks nobody.
        backend: fingerprint of the backend to replay, where there is no generator and the recording has several.

    Raises:
        ConfigError: if what the mode needs is missing, or the recording has several backends and none is named.
        ManifestMismatchError: if it has none to replay, or not the one named.
    """

    def __init__(
        self,
        generator: Generator | None,
        recording: Recording | None = None,
        mode: Mode = "record",
        backend: str = "",
    ) -> None:
        if (recording is None and mode != "live") or (generator is None and mode != "replay"):
            raise ConfigError(f"mode {mode!r} needs {'a recording' if recording is None else 'a generator'}")
        self.generator = generator
        self.recording = None if mode == "live" else recording
        self.mode = mode
        self.backend = _backend_of(generator) if generator is not None else _choose(recording, backend)
        if generator is not None and mode != "replay":
            self.concurrency, self.max_batch = generator.concurrency, generator.max_batch

    def __reduce__(self) -> Any:
        return RecordedGenerator, (self.generator, self.recording, self.mode, self.backend.fingerprint)

    @property
    def fingerprint(self) -> str:
        """That of the generator whose responses these are."""
        return self.backend.fingerprint

    @property
    def unit(self) -> str:
        """What a token is for that generator."""
        return self.backend.unit

    @property
    def label(self) -> str:
        """What people call that generator."""
        return self.backend.name

    def _served(self, kind: str, tasks: Sequence[Any]) -> list[Any]:
        if self.recording is None:
            return list(getattr(self.generator, kind)(tasks))
        requests = {task: request_json(task) for task in dict.fromkeys(tasks)}
        keys = {task: key_of(kind, request) for task, request in requests.items()}
        known = self.recording.get(self.fingerprint, keys.values())
        if missing := {task: requests[task] for task, key in keys.items() if key not in known}:
            known |= self._recorded(self.recording, kind, missing)
        return [response_of(kind, known[keys[task]]) for task in tasks]

    def _recorded(self, recording: Recording, kind: str, missing: Mapping[Any, str]) -> dict[bytes, str]:
        """Ask for the responses to some tasks, each with its request, and keep them; returns them by key."""
        if self.generator is None or self.mode == "replay":
            raise self._miss(recording, kind, next(iter(missing)))
        responses = _asked(self.generator, kind, list(missing))
        pairs = zip(missing.values(), responses, strict=True)
        entries = [Entry(kind, request, response_json(response)) for request, response in pairs]
        recording.put(self.backend, entries)
        made = {entry.key: entry.response for entry in entries}
        return made | recording.get(self.fingerprint, made)  # another process may have been quicker

    def _miss(self, recording: Recording, kind: str, task: Any) -> RecordingMissError:
        return RecordingMissError(
            f"{recording.file}: holds no response to {kind!r} with {len(task.passages)} passages for the question "
            f"{task.question!r} by {self.label} ({self.fingerprint}); replay what was recorded, with the same "
            "settings, or record it with --recording.mode record"
        )


def _asked(generator: Generator, kind: str, tasks: list[Any]) -> Sequence[Any]:
    """Ask a generator; the failure of a single task is its response, that of several is left to the engine."""
    try:
        responses: Sequence[Any] = getattr(generator, kind)(tasks)
        return responses
    except RequestFailedError as error:
        if len(tasks) > 1:
            raise
        return [Failed(str(error))]


def _backend_of(generator: Generator) -> Backend:
    return Backend(generator.fingerprint, generator.unit, generator.label)


def _choose(recording: Recording | None, wanted: str) -> Backend:
    """Return the backend of a recording that is named, or its only one."""
    found = recording.backends() if recording is not None else []
    file = recording.file if recording is not None else ""
    listed = "; it has " + (", ".join(f"{b.fingerprint} ({b.name})" for b in found) or "none")
    chosen = [backend for backend in found if wanted in ("", backend.fingerprint)]
    if not chosen:
        raise ManifestMismatchError(f"{file}: no responses of the backend {wanted or 'to replay'}{listed}")
    if len(chosen) > 1:
        raise ConfigError(f"{file}: name a backend of the recording with --recording.backend FINGERPRINT{listed}")
    return chosen[0]
