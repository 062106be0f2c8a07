"""The errors that evidencegym raises on purpose; each says what was expected, what was found, and what to do."""

from __future__ import annotations

from pathlib import Path


class EvidenceGymError(Exception):
    """Root of every error that evidencegym raises on purpose."""


class DataError(EvidenceGymError):
    """A file that cannot be read as what it should be; names the file and, where known, the record.

    Args:
        message: what was expected and what was found.
        file: the file at fault.
        record: the record's number in the file, from 1 (a line number for files with one record a line).
    """

    def __init__(self, message: str, file: str | Path | None = None, record: int | None = None) -> None:
        where = "" if file is None else f"{file}" + ("" if record is None else f", record {record}") + ": "
        super().__init__(where + message)
        self.file = None if file is None else str(file)
        self.record = record


class ConfigError(EvidenceGymError):
    """A setting that is unknown, missing or out of range."""


class ManifestMismatchError(EvidenceGymError):
    """A saved index, generator or controller that does not fit what it is used with."""


class InvalidOperationError(EvidenceGymError):
    """An operation that is unknown or not valid in the present state."""


class RequestFailedError(EvidenceGymError):
    """One request that a backend could not serve; the episode records it and goes on."""


class RecordingMissError(EvidenceGymError):
    """A request that a recording holds no response to, where no generator may be asked."""


class BackendUnavailableError(EvidenceGymError):
    """A backend that needs an extra, a server or a file that is not there."""
