"""The five steps from a question to pages (2603.16169): names, titles, typed titles, search, disambiguation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..data.text import STOP_WORDS, content_words, words
from .external import ExternalSearch
from .mediawiki_pages import Page
from .mediawiki_settings import MediaWikiSettings
from .mediawiki_site import MediaWikiSite
from .question_entities import entities, keywords, parts, suffixes

_LINKS = 20
"""Links of a disambiguation that are looked up at most."""


def find_pages(site: MediaWikiSite, search: ExternalSearch, settings: MediaWikiSettings) -> list[Page]:
    """Return the pages that a search leads to, each once, none of them a disambiguation.

    Raises:
        RequestFailedError: if the wiki does not answer.
    """
    asked = f"{search.query} {search.question}"
    visit = _Visit(site, asked, settings)
    found = visit.pages(_titles(site, search, settings, suffixes(asked)))
    return found or visit.pages(site.results(keywords(search.query)))


def _titles(
    site: MediaWikiSite, search: ExternalSearch, settings: MediaWikiSettings, kinds: Sequence[str]
) -> list[str]:
    """Return titles to load, in order: for each name the typed one and the name itself, else what is found for it."""
    names = entities(search.query, search.question)[: settings.entities]
    every = [each for name in names for each in (name, *parts(name))]
    existing = site.existing(title for name in every for title in (name, *_typed(name, kinds)))
    chosen: list[str] = []
    for name in names:
        here = _direct(name, kinds, existing)
        joined = [title for part in parts(name) for title in _direct(part, kinds, existing)]
        chosen += here or joined or site.results(keywords(" ".join((name, *kinds[:1]))))
    return chosen


def _typed(name: str, kinds: Sequence[str]) -> list[str]:
    return [] if "(" in name else [f"{name} ({kind})" for kind in kinds]


def _direct(name: str, kinds: Sequence[str], existing: Mapping[str, bool]) -> list[str]:
    """Return the typed title of a name and the name itself, as far as they have pages."""
    here = [title for title in _typed(name, kinds) if title in existing][:1]
    # Where there is a typed title, a list of what the name may mean is not needed.
    return here if name not in existing or (here and existing[name]) else [*here, name]


class _Visit:
    """Loads pages for one search, each once, and goes through disambiguations to what they lead to."""

    def __init__(self, site: MediaWikiSite, asked: str, settings: MediaWikiSettings) -> None:
        self._site = site
        self._settings = settings
        self._seen: set[str] = set()
        self._wanted = {*content_words(asked), *(word for kind in suffixes(asked) for word in words(kind))}

    def pages(self, titles: Iterable[str]) -> list[Page]:
        """Return the pages of titles, as far as the settings allow."""
        found: dict[str, Page] = {}
        for title in titles:
            page = self._resolved(title)
            if page:
                found.setdefault(page.title, page)
            if len(found) >= self._settings.pages:
                break
        return list(found.values())

    def _resolved(self, title: str) -> Page | None:
        """Return a page, or what it leads to where it is a disambiguation; None where that comes to no end."""
        page = self._loaded(title)
        for _ in range(self._settings.disambiguations):
            if page is None or not page.disambiguation:
                break
            page = self._loaded(self._meant(page))
        return None if page is None or page.disambiguation else page

    def _loaded(self, title: str) -> Page | None:
        if not title or title in self._seen:
            return None
        page = self._site.page(title)
        self._seen |= {title, page.title} if page else {title}
        return page

    def _meant(self, page: Page) -> str:
        """Return the link of a disambiguation that a question means, empty where none has a page."""
        ordered = by_overlap(page, self._site.links(page.title), self._wanted)[:_LINKS]
        existing = self._site.existing(ordered)
        return next((link for link in ordered if link in existing and link not in self._seen), "")


def by_overlap(page: Page, links: Iterable[str], wanted: set[str]) -> list[str]:
    """Return the links of a disambiguation, those first that share most words with what is wanted.

    What counts is the link and the line that it begins. Ties go to links that begin a line, in order of the lines, then
    by title. The words of the page's own title do not count: all its lines share them.
    """
    lines = [line.strip() for line in page.text.split("\n")]
    telling = wanted - set(words(page.title)) - STOP_WORDS

    def order(link: str) -> tuple[int, int, str]:
        number, line = next(_beginning(link, lines), (len(lines), ""))
        return -len(telling.intersection(words(f"{link} {line}"))), number, link

    return sorted(dict.fromkeys(links), key=order)


def _beginning(link: str, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines) if line.startswith(link))
