"""One wiki: which titles it has, its pages, its search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from threading import Lock
from urllib.parse import quote

from .mediawiki_client import MediaWikiClient, TooLargeError
from .mediawiki_pages import Page, read_links, read_page, read_results, read_titles
from .mediawiki_settings import MAX_PAGES

_MAX_ADDRESS = 3_000
"""Characters of titles in one request: servers refuse long addresses."""


class MediaWikiSite:
    """One wiki, asked through a client; every method raises ``RequestFailedError`` where it cannot be served.

    Args:
        client: asks.
        api: the address of the wiki's API.

    Attributes:
        pages_loaded: how many pages were read, from the cache or the network.
    """

    def __init__(self, client: MediaWikiClient, api: str) -> None:
        self._client = client
        self._api = api
        self._settings = client.settings
        self._namespaces = "|".join(map(str, client.settings.namespaces))
        self._lock = Lock()
        self.pages_loaded = 0

    def existing(self, titles: Iterable[str]) -> dict[str, bool]:
        """Return which titles have a page, redirects included, each with whether that is a disambiguation."""
        read = partial(read_titles, namespaces=self._settings.namespaces)
        props = {"prop": "pageprops", "ppprop": "disambiguation", "redirects": "1"}
        found: dict[str, bool] = {}
        for batch in _batches(dict.fromkeys(titles)):
            found |= self._client.ask(self._api, {**props, "titles": "|".join(batch)}, read)
        return found

    def page(self, title: str) -> Page | None:
        """Return a page, redirects followed; None where there is none, or they loop.

        A page that is too large is read as far as its first section.
        """
        props = {"prop": "extracts|pageprops", "ppprop": "disambiguation", "redirects": "1", "titles": title}
        shape = {"explaintext": "1", "exlimit": "1", "exsectionformat": "wiki"}
        try:
            found = self._page({**props, **shape})
        except TooLargeError:
            found = self._page({**props, **shape, "exintro": "1"})
        if found:
            with self._lock:
                self.pages_loaded += 1
        return found

    def links(self, title: str) -> tuple[str, ...]:
        """Return the titles that a page links to, the first 500 by title."""
        asked = {"prop": "links", "plnamespace": self._namespaces, "pllimit": "max", "titles": title}
        return self._client.ask(self._api, asked, read_links)

    def results(self, words: str) -> tuple[str, ...]:
        """Return the titles that the wiki's own search finds, best first; none for no words."""
        if not words:
            return ()
        limit = str(self._settings.results)
        asked = {"list": "search", "srsearch": words, "srnamespace": self._namespaces, "srlimit": limit}
        return self._client.ask(self._api, asked, read_results)[: self._settings.results]

    def _page(self, parameters: dict[str, str]) -> Page | None:
        settings = self._settings
        read = partial(read_page, namespaces=settings.namespaces, max_chars=settings.max_chars)
        return self._client.ask(self._api, parameters, read)


def _batches(titles: Iterable[str]) -> Iterator[list[str]]:
    """Cut titles into as many as one request may hold."""
    batch: list[str] = []
    room = _MAX_ADDRESS
    for title in titles:
        length = len(quote(title, safe="", errors="replace")) + 3
        if batch and (len(batch) == MAX_PAGES or length > room):
            yield batch
            batch, room = [], _MAX_ADDRESS
        batch.append(title)
        room -= length
    if batch:
        yield batch
