"""The page of a report: one HTML file that asks nothing of a network and runs nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files

from .analysis import Analysis
from .report_analysis import shown, table
from .report_browser import browser
from .report_episodes import encoded
from .report_plot import figure
from .report_section import Section
from .report_text import inert

_TALL = 14
_NUMBER = re.compile(r"[-+–]?\d|–$")


def page(title: str, sections: Sequence[Section], version: str, plain: bool) -> str:
    """Return the page.

    Args:
        title: its title.
        sections: the data sets.
        version: of the package.
        plain: whether the episodes of ``sections`` are plain JSON.
    """
    style, script = _asset("report.css"), _asset("report.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{inert(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )
    parts = [
        head,
        _header(title, sections, version),
        "<main>\n",
        *(_section(section, number) for number, section in enumerate(sections, 1)),
        browser(),
        _record(sections),
        "</main>\n",
        *_data(sections, plain),
        f"<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "".join(parts)


def _asset(name: str) -> str:
    return files(__package__).joinpath("report_page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _header(title: str, sections: Sequence[Section], version: str) -> str:
    count = sum(section.episodes for section in sections)
    links = [(f"data-{number}", section.name) for number, section in enumerate(sections, 1)]
    links += [("episodes", "Episodes"), ("record", "Record")]
    items = "".join(f'<li><a href="#{target}">{inert(name)}</a></li>' for target, name in links)
    return (
        f'<header><h1>{inert(title)}</h1><p class="note">{len(sections)} data set{"s" * (len(sections) != 1)}, '
        f"{count} episodes; evidencegym {inert(version)}</p>"
        f'<nav aria-label="Sections"><ul>{items}</ul></nav></header>\n'
    )


def _section(section: Section, number: int) -> str:
    parts = [f'<section id="data-{number}"><h2>{inert(section.name)}</h2>\n']
    for group, (title, analyses) in enumerate(section.groups):
        parts.append(f"<h3>{inert(title)}</h3>\n")
        parts += [_analysis(one, f"f{number}-{group}-{place}") for place, one in enumerate(analyses)]
    return "".join([*parts, "</section>\n"])


def _analysis(analysis: Analysis, number: str) -> str:
    asks = f'<p class="asks">{inert(analysis.asks)}</p>' if analysis.asks else ""
    made = f'<p class="note">Made with: {inert(shown(analysis.settings))}.</p>' if analysis.settings else ""
    title = f'<h4 id="{number}">{inert(analysis.title)}</h4>'
    return f"{title}{asks}{figure(analysis, number)}{_table(analysis, number)}{made}\n"


def _table(analysis: Analysis, label: str) -> str:
    labels, rows = table(analysis)
    head = "".join(f'<th scope="col">{inert(label)}</th>' for label in labels)
    body = "".join(map(_row, rows))
    tall = " tall" if len(analysis.rows) > _TALL else ""
    return (
        f'<div class="scroll{tall}" tabindex="0" role="region" aria-labelledby="{label}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells or [""]
    return f'<tr><th scope="row">{inert(first)}</th>{"".join(map(_cell, rest))}</tr>'


def _cell(text: str) -> str:
    word = "" if _NUMBER.match(text) else ' class="word"'
    return f"<td{word}>{inert(text)}</td>"


def _record(sections: Sequence[Section]) -> str:
    parts = ['<section id="record"><h2>Record</h2><p class="asks">What made these results.</p>\n']
    for number, section in enumerate(sections, 1):
        parts.append(f"<h3>{inert(section.name)}</h3>\n")
        parts += [_settings(name, pairs) for name, pairs in section.record]
        parts.append(_analysis(section.files, f"r{number}"))
    return "".join([*parts, "</section>\n"])


def _settings(name: str, pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f'<tr><th scope="row">{inert(key)}</th><td>{inert(value)}</td></tr>' for key, value in pairs)
    # A benchmark notes some thousand settings; closed, they cost the browser no layout.
    opened = f"<details><summary>{inert(name)}</summary>"
    return f'{opened}<table class="record"><tbody>{rows}</tbody></table></details>\n'


def _data(sections: Sequence[Section], plain: bool) -> Iterable[str]:
    """Yield the data islands: the index, then the chunks of each data set."""
    data = [
        {
            "name": section.name,
            "shared": _chunk(number, 0),
            "protocols": {
                protocol: {method: _chunk(number, chunk) for method, chunk in methods.items()}
                for protocol, methods in section.methods.items()
            },
        }
        for number, section in enumerate(sections)
    ]
    yield _island("index", encoded({"plain": plain, "data": data}, plain=True))
    for number, section in enumerate(sections):
        for chunk, content in enumerate(section.chunks):
            yield _island(_chunk(number, chunk), content)


def _chunk(section: int, chunk: int) -> str:
    return f"chunk-{section}-{chunk}"


def _island(name: str, content: str) -> str:
    return f'<script type="application/json" id="{name}">{content}</script>\n'
