"""What a report is made of: the data sets, methods and analyses that lie in a folder of results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.errors import DataError

ANALYSIS = "analysis"
EVALUATION = "evaluation"
_RECORDS = ("manifest.json", "environment.json", "settings.json")


@dataclass(frozen=True)
class DataSet:
    """The results of one data set.

    Attributes:
        name: what the report calls it.
        folder: where it lies.
        methods: protocol -> method -> file of per-question results, each in alphabetical order.
        analyses: the files of the analyses, in alphabetical order.
        records: name -> content of the JSON files that say how the results were made.
    """

    name: str
    folder: Path
    methods: dict[str, dict[str, Path]]
    analyses: tuple[Path, ...]
    records: dict[str, Any]

    @property
    def seed(self) -> int:
        """The seed of the evaluation, which the bootstrap of its tables takes too."""
        manifest = self.records.get("manifest.json")
        seed = manifest.get("seed", 0) if isinstance(manifest, dict) else 0
        return seed if isinstance(seed, int) and seed >= 0 else 0


def find_data_sets(folder: Path) -> list[DataSet]:
    """Return the data sets under ``folder``, by name.

    ``folder`` is a benchmark (``<dataset>/<protocol>/<method>.jsonl``), an evaluation
    (``<protocol>/<method>.jsonl``), a run that holds an ``evaluation``, or a folder of such runs.

    Raises:
        DataError: if there are no results, or a JSON file beside them cannot be read.
    """
    if not folder.is_dir():
        raise DataError("no such folder; expected one that `evidencegym evaluate` or `benchmark` wrote", folder)
    inside = sorted(child for child in folder.iterdir() if child.is_dir())
    places = [folder, *(child for one in (folder, *inside) for child in _folders(one))]
    found = {place: methods for place in dict.fromkeys(places) if (methods := _methods(place))}
    if not found:
        raise DataError("no results; expected <protocol>/<method>.jsonl, in it or in a folder of each data set", folder)
    return sorted((_data_set(folder, place, methods) for place, methods in found.items()), key=lambda d: d.name)


def _folders(folder: Path) -> list[Path]:
    """Return the evaluation of a run where it has one, else the folders in it."""
    own = folder / EVALUATION
    return [own] if own.is_dir() else sorted(child for child in folder.iterdir() if child.is_dir())


def _methods(place: Path) -> dict[str, dict[str, Path]]:
    files = sorted(place.glob("*/*.jsonl"))
    kept = [file for file in files if file.parent.name != ANALYSIS and not file.name.endswith(".timings.jsonl")]
    methods: dict[str, dict[str, Path]] = {}
    for file in kept:
        if _holds_results(file):
            methods.setdefault(file.parent.name, {})[file.stem] = file
    return methods


def _holds_results(file: Path) -> bool:
    """Whether the first line is the result of a question, or damaged; other files of lines may lie beside them."""
    try:
        with file.open("rb") as lines:
            line = lines.readline()
        first = json.loads(line)
    except OSError:
        return False
    except (ValueError, RecursionError):
        return line.endswith(b"\n")
    return isinstance(first, dict) and {"uid", "operations", "steps"} <= first.keys()


def _data_set(root: Path, place: Path, methods: dict[str, dict[str, Path]]) -> DataSet:
    records = {name: read_json(place / name) for name in _RECORDS if (place / name).is_file()}
    parts = [part for part in place.relative_to(root).parts if part != EVALUATION]
    manifest = records.get("manifest.json")
    named = str(manifest.get("dataset", "")) if isinstance(manifest, dict) else ""
    analyses = tuple(sorted((place / ANALYSIS).glob("*.json")))
    return DataSet("/".join(parts) or named or place.resolve().name, place, methods, analyses, records)


def read_json(file: Path) -> Any:
    """Read a JSON file.

    Raises:
        DataError: if it cannot be read or is not JSON.
    """
    try:
        return json.loads(file.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error}); write it again", file) from error


def stream_results(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the results of a file without changing it; a torn last line, which a killed run leaves, is passed over.

    Raises:
        DataError: if the file cannot be read, or a line is not the result of a question.
    """
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.endswith(b"\n"):
                    yield _result(line, file, number)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file) from error


def _result(line: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        result = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error}); delete the line and evaluate again", file, number) from error
    kinds = {"uid": str, "question": str, "operations": list, "steps": list, "passages": list, "cost": dict}
    other = [key for key, kind in kinds.items() if not (isinstance(result, dict) and isinstance(result.get(key), kind))]
    if other:
        raise DataError(f"not the result of a question: {', '.join(other)} missing or of another type", file, number)
    return dict(result)


def fingerprint(file: Path) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]
