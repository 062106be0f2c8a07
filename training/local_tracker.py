"""What a tracker is, and the one that needs nothing: plain files in the folder of the run."""

from __future__ import annotations

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..data.storage import to_json, write_text


class Tracker(ABC):
    """Where a run is noted."""

    @abstractmethod
    def config(self, settings: Mapping[str, Any]) -> None:
        """Note settings and fingerprints; a key that was noted before is replaced."""

    @abstractmethod
    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Note metrics by name; ``step`` must not fall."""

    @abstractmethod
    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Note a table, at the step of the last metrics; it replaces an earlier one of that name."""

    @abstractmethod
    def artifact(self, name: str, folder: Path, kind: str) -> None:
        """Note the files of a folder as they are now."""

    @abstractmethod
    def finish(self, failed: bool = False) -> None:
        """Write what is left; nothing is noted afterwards."""


class LocalTracker(Tracker):
    """Plain files: ``config.json``, ``metrics.jsonl``, ``tables/NAME.jsonl``, ``artifacts.json``, ``timings.jsonl``.

    Only the timings hold times: seconds since this process began to track. A second process appends.

    Args:
        folder: where they are, or will be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._start = time.monotonic()

    def next_step(self) -> int:
        """Return the step after the last one in the file; a torn last line, which a killed run leaves, is cut off."""
        file = self.folder / "metrics.jsonl"
        content = file.read_bytes() if file.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(file, len(whole))
        return 1 + max((int(json.loads(line)["step"]) for line in whole.splitlines()), default=-1)

    def config(self, settings: Mapping[str, Any]) -> None:
        self._merge("config.json", settings)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._append("metrics.jsonl", {"step": step, "metrics": dict(metrics)})
        self._append("timings.jsonl", {"step": step, "seconds": round(time.monotonic() - self._start, 3)})

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        lines = [json.dumps(dict(zip(columns, row)), ensure_ascii=False) + "\n" for row in rows]
        write_text(self.folder / "tables" / f"{name}.jsonl", "".join(lines))

    def artifact(self, name: str, folder: Path, kind: str) -> None:
        self._merge("artifacts.json", {name: {"kind": kind, "files": sorted(map(str, files_of(folder)))}})

    def finish(self, failed: bool = False) -> None:
        """Nothing is left: each line is written when it comes."""

    def _merge(self, name: str, entries: Mapping[str, Any]) -> None:
        file = self.folder / name
        known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        write_text(file, to_json({**known, **entries}))

    def _append(self, name: str, entry: Mapping[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / name).open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry, sort_keys=True) + "\n")


def files_of(folder: Path) -> list[Path]:
    """Return the files of a folder, relative to it; hidden ones, such as locks, are left out."""
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in found if not any(part.startswith(".") for part in file.parts))
