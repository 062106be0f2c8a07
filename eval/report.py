"""A report of an evaluation or a benchmark: one HTML page that needs no network, and the same tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..data.errors import ConfigError
from ..data.storage import write_text
from .report_folder import find_data_sets
from .report_html import page
from .report_markdown import escaped, markdown_table
from .report_section import Section, read_section

TITLE = "Evidence control: results"


@dataclass(frozen=True)
class Report:
    """What was written.

    Attributes:
        html: the page.
        markdown: the tables.
        data_sets: their names.
        episodes: the number of episodes on the page.
    """

    html: Path
    markdown: Path
    data_sets: tuple[str, ...]
    episodes: int


def write_report(folder: Path, out: Path, plain: bool = False) -> Report:
    """Write the report of a folder; the same folder gives the same bytes.

    Args:
        folder: what ``evidencegym evaluate`` or ``evidencegym benchmark`` wrote, or a folder of runs; it is only read.
        out: the page, a file whose name ends in ``.html``; the tables go beside it, into the same name with ``.md``.
        plain: write the episodes as plain JSON instead of compressed, for browsers without ``DecompressionStream``.

    Raises:
        ConfigError: if ``out`` is not named ``.html``.
        DataError: if the folder holds no results, a file is damaged, or the report cannot be written.
    """
    if out.suffix != ".html":
        raise ConfigError(f"--out names the page, a file that ends in .html; found {out}")
    sections = [read_section(data_set, plain) for data_set in find_data_sets(folder)]
    tables = out.with_suffix(".md")
    write_text(out, page(TITLE, sections, __version__, plain))
    write_text(tables, markdown(TITLE, sections))
    return Report(out, tables, tuple(s.name for s in sections), sum(s.episodes for s in sections))


def markdown(title: str, sections: Sequence[Section]) -> str:
    """Return all tables as Markdown."""
    parts = [f"# {escaped(title)}\n"]
    for section in sections:
        parts.append(f"## {escaped(section.name)}\n")
        for group, analyses in section.groups:
            parts.append(f"### {escaped(group)}\n")
            parts += [markdown_table(analysis, 4) for analysis in analyses]
        parts.append("### Record\n")
        for name, pairs in section.record:
            rows = [f"| {escaped(key)} | {escaped(value)} |" for key, value in pairs]
            parts.append("\n".join([f"#### {escaped(name)}\n", "| setting | value |", "|---|---|", *rows]) + "\n")
        parts.append(markdown_table(section.files, 4))
    return "\n".join(parts)
