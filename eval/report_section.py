"""What a report says of one data set: its tables, its record, and its episodes in compact form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.errors import DataError
from .analysis import Analysis
from .protocols import EQUAL, FREE
from .report_analysis import read_analysis
from .report_comparison import MethodResults, comparison_tables, matched_table, operation_tables
from .report_episodes import Episodes, encoded
from .report_folder import DataSet, fingerprint, read_json, stream_results

_TITLES = {EQUAL: "At equal documents", FREE: "Free stopping"}
_IMPORTANCE = "importance"
_COMPARISON = "comparison.json"


@dataclass(frozen=True)
class Section:
    """One data set in a report.

    Attributes:
        name: of the data set.
        groups: (title, tables) of each part.
        record: (file, settings) of what made the results.
        files: one row per file of results: protocol, method, episodes, fingerprint.
        methods: protocol -> method -> number of its chunk in ``chunks``.
        chunks: encoded episodes; the first one is what all methods share.
    """

    name: str
    groups: tuple[tuple[str, tuple[Analysis, ...]], ...]
    record: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    files: Analysis
    methods: dict[str, dict[str, int]]
    chunks: tuple[str, ...]

    @property
    def episodes(self) -> int:
        """The number of episodes of all methods."""
        return sum(int(row["episodes"]) for row in self.files.rows)


def read_section(data_set: DataSet, plain: bool) -> Section:
    """Read one data set.

    Args:
        data_set: where it lies.
        plain: whether the episodes are plain JSON instead of compressed.

    Raises:
        DataError: if a file cannot be read or is damaged.
    """
    episodes, chunks, numbers = Episodes(), [""], dict[str, dict[str, int]]()
    found: dict[str, dict[str, MethodResults]] = {}
    for protocol, methods in data_set.methods.items():
        for method, file in methods.items():
            results, compact = _read(file, episodes)
            found.setdefault(protocol, {})[method] = results
            numbers.setdefault(protocol, {})[method] = len(chunks)
            chunks.append(encoded(compact, plain))
    chunks[0] = encoded(episodes.shared(), plain)
    groups = tuple((title, tuple(tables)) for title, tables in _groups(data_set, found) if tables)
    record = tuple((name, tuple(_flat(content))) for name, content in data_set.records.items())
    return Section(data_set.name, groups, record, _files(data_set, found), numbers, tuple(chunks))


def _read(file: Path, episodes: Episodes) -> tuple[MethodResults, list[Any]]:
    results, compact = MethodResults(), []
    for result in stream_results(file):
        compact.append(episodes.compact(result, file))
        try:
            results.add(result)
        except (TypeError, ValueError) as error:
            raise DataError(f"the result of {result['uid']} is damaged ({error}); evaluate again", file) from error
    return results, compact


def _groups(
    data_set: DataSet, found: Mapping[str, Mapping[str, MethodResults]]
) -> Iterator[tuple[str, list[Analysis]]]:
    for protocol in sorted(found, key=lambda name: (name not in _TITLES, name)):
        yield _TITLES.get(protocol, f"Protocol {protocol}"), comparison_tables(protocol, found[protocol], data_set.seed)
    if (compared := data_set.folder / _COMPARISON).is_file():
        yield "Matched retrievals", matched_table(read_json(compared))
    analyses = [read_analysis(file) for file in data_set.analyses]
    yield "Analyses", [analysis for analysis in analyses if analysis.name != _IMPORTANCE]
    yield "Feature importance", [analysis for analysis in analyses if analysis.name == _IMPORTANCE]
    keyed = {(protocol, name): own for protocol, methods in found.items() for name, own in methods.items()}
    yield "Operation use", operation_tables(keyed)


def _files(data_set: DataSet, found: Mapping[str, Mapping[str, MethodResults]]) -> Analysis:
    rows = [
        {
            "protocol": protocol,
            "method": method,
            "episodes": found[protocol][method].episodes,
            "sha256": fingerprint(file),
        }
        for protocol, methods in data_set.methods.items()
        for method, file in methods.items()
    ]
    columns = tuple((key, key) for key in ("method", "protocol", "episodes", "sha256"))
    asks = "The files of results, each with the first 16 digits of its SHA-256."
    return Analysis("files", "Files", asks, columns, rows)


def _flat(content: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the settings of a JSON file, nested names joined by dots."""
    if isinstance(content, dict) and content:
        for name, value in content.items():
            yield from _flat(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(content, list) and content:
        yield prefix, ", ".join(map(str, content))
    else:
        yield prefix, "–" if content in (None, [], {}, "") else str(content)
