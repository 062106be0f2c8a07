"""What a wiki's responses say: which titles exist, what a page holds, what a search found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.documents import passages_under
from ..data.errors import DataError
from ..data.fields import Raw, optional, required, typed
from ..data.records import Passage
from .plain_text import plain_text

_HEADING = re.compile(r"\s*(={2,6})\s*(?P<words>.*?)\s*\1\s*")
_APPARATUS = frozenset(
    "references|external links|see also|notes|further reading|bibliography|sources|citations|footnotes".split("|")
)
"""Headings of sections that hold no sentences."""

_PER_CHARACTER = 4
"""Characters that are cleaned for each one that is kept: HTML may be longer than its text."""

_LONG_WORD = 100


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        title: its title, after redirects.
        text: plain text, a paragraph or heading a line.
        disambiguation: whether it only lists what its title may mean.
    """

    title: str
    text: str
    disambiguation: bool = False

    def passages(self) -> list[Passage]:
        """Cut the page into passages of whole sentences, as documents are cut; sections of references are left out."""
        paragraphs = []
        kept = True
        for line in self.text.split("\n"):
            heading = _HEADING.fullmatch(line)
            if heading:
                kept = heading["words"].casefold() not in _APPARATUS
            if kept and line.strip():
                paragraphs.append(heading["words"] if heading else line)
        return passages_under(self.title, paragraphs)


def read_titles(response: Raw, namespaces: Sequence[int]) -> dict[str, bool]:
    """Return which of the titles asked for have a page, each with whether that is a disambiguation.

    Redirects are followed here, by what the response says of them; a chain of them that loops leads to no page.
    """
    query = required(response, "query", dict)
    steps = {**_steps(query, "normalized"), **_steps(query, "redirects")}
    pages = {required(page, "title", str): _is_disambiguation(page) for page in _pages(query, namespaces)}
    asked = {**dict.fromkeys(steps), **dict.fromkeys(pages)}
    ends = ((title, _end(title, steps)) for title in asked)
    return {title: pages[end] for title, end in ends if end in pages}


def read_page(response: Raw, namespaces: Sequence[int], max_chars: int) -> Page | None:
    """Return the page that a response holds, its text cut to ``max_chars``; None where there is none."""
    query = required(response, "query", dict)
    steps = {**_steps(query, "normalized"), **_steps(query, "redirects")}
    if any(not _end(title, steps) for title in steps):
        return None
    for page in _pages(query, namespaces):
        if "extract" not in page:
            raise DataError("'extract' is missing: the wiki needs the extension TextExtracts")
        title = " ".join(plain_text(required(page, "title", str)).split())
        return Page(title, _text(optional(page, "extract", ""), max_chars), _is_disambiguation(page))
    return None


def read_links(response: Raw) -> tuple[str, ...]:
    """Return the titles that the pages of a response link to."""
    pages = optional(required(response, "query", dict), "pages", [])
    links = [link for page in pages for link in optional(typed(page, dict, "a page"), "links", [])]
    return tuple(required(typed(link, dict, "a link"), "title", str) for link in links)


def read_results(response: Raw) -> tuple[str, ...]:
    """Return the titles that the wiki's own search found, best first."""
    found = required(required(response, "query", dict), "search", list)
    return tuple(required(typed(result, dict, "a result"), "title", str) for result in found)


def _text(extract: str, max_chars: int) -> str:
    """Return an extract as plain text, cut between words where one ends near the limit."""
    text = plain_text(extract[: _PER_CHARACTER * max_chars])
    if len(text) <= max_chars:
        return text
    head, _, word = text[:max_chars].rpartition(" ")
    return head if head and len(word) < _LONG_WORD else text[:max_chars]


def _pages(query: Raw, namespaces: Sequence[int]) -> list[dict[str, Any]]:
    """Return the pages that exist and count as articles."""
    pages = [typed(page, dict, "a page") for page in optional(query, "pages", [])]
    return [
        page
        for page in pages
        if not page.get("missing") and not page.get("invalid") and required(page, "ns", int) in namespaces
    ]


def _is_disambiguation(page: Raw) -> bool:
    return "disambiguation" in optional(page, "pageprops", {})


def _steps(query: Raw, kind: str) -> dict[str, str]:
    steps = [typed(step, dict, f"an entry of {kind!r}") for step in optional(query, kind, [])]
    return {required(step, "from", str): required(step, "to", str) for step in steps}


def _end(title: str, steps: Mapping[str, str]) -> str:
    """Return where a chain of redirects ends, empty where it loops."""
    seen = set()
    while title in steps:
        if title in seen:
            return ""
        seen.add(title)
        title = steps[title]
    return title
