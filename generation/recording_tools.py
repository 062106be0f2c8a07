"""What the command ``recording`` does with a file: show it, write it out, read it in, make it smaller."""

from __future__ import annotations

from pathlib import Path

from ..data.errors import ConfigError
from .recording_files import export_recording, import_recording
from .recording_store import Recording


def info(file: Path) -> str:
    """Return the counts of a recording as a Markdown table, by backend and kind.

    Raises:
        DataError: if the file is missing or no recording.
    """
    with Recording(file, read_only=True) as recording:
        backends = {backend.fingerprint: backend for backend in recording.backends()}
        lines = [
            "| backend | fingerprint | kind | responses | failed | prompt | completion | unit | calls |",
            "|---|---|---|--:|--:|--:|--:|---|--:|",
        ]
        for count in recording.counts():
            backend = backends[count.backend]
            lines.append("| " + " | ".join(map(str, (backend.name, *count[:-1], backend.unit, count.calls))) + " |")
    return "\n".join(lines)


def export(file: Path, to: Path) -> str:
    """Write a recording as JSON lines; returns what was done."""
    with Recording(file, read_only=True) as recording:
        return f"{export_recording(recording, to)} responses written to {to}"


def add(file: Path, source: Path) -> str:
    """Add exported lines to a recording, which is made where it is missing; returns what was done."""
    with Recording(file) as recording:
        return f"{import_recording(recording, source)} new responses in {file}"


def prune(file: Path, backend: str = "", failures: bool = False, unused_by: Path | None = None) -> str:
    """Remove responses from a recording; returns what was done.

    Args:
        file: the recording.
        backend: remove all of the backend of this fingerprint.
        failures: remove recorded failures, so that they are asked again.
        unused_by: remove what this second recording lacks, see ``RecordingSettings.used``.

    Raises:
        ConfigError: if nothing is named to remove, or there is no such backend.
        DataError: if a file is missing or no recording.
    """
    if not (backend or failures or unused_by):
        raise ConfigError("what is to go? Name --backend FINGERPRINT, --failures, or --unused_by RECORDING")
    Recording(file, read_only=True).close()  # writing would make a missing one
    with Recording(file) as recording:
        removed = 0
        if backend:
            if backend not in (known := [found.fingerprint for found in recording.backends()]):
                raise ConfigError(f"{file}: no backend {backend}; there are: {', '.join(known) or 'none'}")
            removed += recording.remove_backend(backend)
        if failures:
            removed += recording.remove_failures()
        if unused_by is not None:
            with Recording(unused_by, read_only=True) as used:
                removed += recording.keep_only(used)
        recording.vacuum()
    return f"{removed} responses removed from {file}"
