"""The summary of a benchmark: the comparison of every data set and protocol, and the tables of all analyses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.storage import read_manifest, to_json, write_text
from ..analysis import Analysis
from ..protocols import LEARNED
from ..report_analysis import read_analysis
from ..report_markdown import markdown_table
from .folder import KIND
from .plan import FROM
from .protocol_comparison import ProtocolComparison, compare_protocol
from .protocols import PROTOCOLS, TITLES
from .scores import read_protocol

JSON = "summary.json"
MARKDOWN = "summary.md"


@dataclass(frozen=True)
class DataSetSummary:
    """The summary of one data set.

    Attributes:
        dataset: its name.
        comparisons: one a protocol that holds a complete method.
        analyses: what lies in its folder of analyses.
    """

    dataset: str
    comparisons: tuple[ProtocolComparison, ...]
    analyses: tuple[Analysis, ...]

    def analysis(self, name: str) -> Analysis | None:
        """Return an analysis by name, if it was made."""
        return next((analysis for analysis in self.analyses if analysis.name == name), None)

    @classmethod
    def read(cls, folder: Path, seed: int) -> DataSetSummary:
        """Read a data set's folder; the results of every complete method count, whichever command made them.

        Raises:
            DataError: if a file is damaged.
        """
        methods = read_manifest(folder, KIND).get("methods", {})
        found = {protocol: read_protocol(folder, protocol, methods) for protocol in PROTOCOLS}
        comparisons = tuple(compare_protocol(folder.name, name, own, seed) for name, own in found.items() if own)
        analyses = tuple(read_analysis(file) for file in sorted((folder / "analysis").glob("*.json")))
        return cls(folder.name, comparisons, analyses)


@dataclass(frozen=True)
class Summary:
    """The summary of a benchmark.

    Attributes:
        data_sets: one each, by name.
    """

    data_sets: Sequence[DataSetSummary]

    def write(self, out: Path) -> None:
        """Write ``summary.json`` and ``summary.md``.

        Raises:
            DataError: if they cannot be written.
        """
        write_text(out / JSON, to_json(self.as_dict()))
        write_text(out / MARKDOWN, self.markdown())

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers of the comparisons and the analyses as plain values: data set -> ... ."""
        return {
            own.dataset: {
                "protocols": {comparison.protocol: comparison.as_dict() for comparison in own.comparisons},
                "analyses": {analysis.name: analysis.as_dict() for analysis in own.analyses},
            }
            for own in self.data_sets
        }

    def metrics(self) -> dict[str, float]:
        """Return the means as DATASET/PROTOCOL/METHOD/COLUMN, for trackers."""
        return {
            f"benchmark/{own.dataset}/{comparison.protocol}/{method}/{name}": interval.mean
            for own in self.data_sets
            for comparison in own.comparisons
            for method, means in comparison.means.items()
            for name, interval in means.items()
        }

    def headline(self) -> str:
        """Return one table: support recall and F1 of every method, data set by data set, for each protocol."""
        return "\n".join(self._headline())

    def markdown(self) -> str:
        """Return everything as Markdown."""
        parts = ["# Benchmark", "", self.headline()]
        for own in self.data_sets:
            parts += [f"## {own.dataset}", ""]
            tested = {f"tests_{comparison.protocol}" for comparison in own.comparisons}
            tables = [table for comparison in own.comparisons for table in _tables(comparison)]
            tables += [analysis for analysis in own.analyses if analysis.name not in tested]
            parts += [markdown_table(table, 3) for table in tables]
        return "\n".join(parts).rstrip("\n") + "\n"

    def _transfer(self, protocol: str) -> Iterator[str]:
        """Yield the transfer matrix of a protocol: rows trained on, columns run on; nothing without transfer."""
        found = {own.dataset: analysis for own in self.data_sets if (analysis := own.analysis(f"transfer_{protocol}"))}
        if not found:
            return
        cells = {(_trained_on(row, ran), ran): row for ran, analysis in found.items() for row in analysis.rows}
        yield f"**{TITLES[protocol].capitalize()}, transfer**: support recall / F1; rows trained on, columns run on\n"
        yield f"| trained on | {' | '.join(found)} |\n|{'---|' * (len(found) + 1)}"
        for trained in sorted({name for name, _ in cells}):
            yield f"| {trained} | {' | '.join(_transferred(cells.get((trained, ran))) for ran in found)} |"
        yield ""

    def _headline(self) -> Iterator[str]:
        for protocol in PROTOCOLS:
            found = {
                own.dataset: comparison
                for own in self.data_sets
                for comparison in own.comparisons
                if comparison.protocol == protocol
            }
            names = sorted({m for own in found.values() for m in own.means}, key=lambda m: (m != LEARNED, m))
            if not names:
                continue
            yield f"**{TITLES[protocol].capitalize()}**: support recall / F1 / retrievals\n"
            yield f"| method | {' | '.join(found)} |\n|{'---|' * (len(found) + 1)}"
            for name in names:
                yield f"| {name} | {' | '.join(_cell(own, name) for own in found.values())} |"
            yield ""
            yield from self._transfer(protocol)


def _trained_on(row: Mapping[str, Any], ran: str) -> str:
    method = str(row["method"])
    return ran if method == LEARNED else method.removeprefix(FROM)


def _transferred(row: Mapping[str, Any] | None) -> str:
    return f"{row['support_recall']:.3f} / {row['answer_f1']:.3f}" if row else "–"


def _cell(comparison: ProtocolComparison, method: str) -> str:
    own = comparison.means.get(method)
    if own is None:
        return "–"
    return f"{own['support_recall'].mean:.3f} / {own['answer_f1'].mean:.3f} / {own['retrievals'].mean:.2f}"


def _tables(comparison: ProtocolComparison) -> list[Analysis]:
    return [comparison.means_table(), *([comparison.tests_table()] if comparison.tests else [])]
