"""External search in wikis: pages are found in five steps, cut into passages, and ranked by their words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..data.documents import MAX_WORDS
from ..data.records import content_hash
from .base import Hit
from .bm25 import BM25Retriever, check_search
from .bm25_settings import DEFAULT
from .external import ExternalSearch, ExternalSource
from .mediawiki_client import MediaWikiClient
from .mediawiki_pages import Page
from .mediawiki_settings import MediaWikiSettings
from .mediawiki_site import MediaWikiSite
from .mediawiki_steps import find_pages
from .question_entities import SUFFIXES

USER_GENERATED = "user_generated"
_RULES = 1
"""Goes up when the steps find other pages for the same responses."""


class MediaWikiSource(ExternalSource):
    """Wikis behind MediaWiki's API, such as Wikipedia.

    The wikis are asked one after the other, by authority, until one has a page. Its pages are cut into passages, and
    the best by BM25 over just these passages are returned: for the query, or for the question where no passage has a
    word of the query. The same responses give the same bytes; those of a cache do not change.

    Args:
        settings: which wikis, and how they are asked.
        source: type of source that passages are marked with; anyone may write in Wikipedia.

    Raises:
        ConfigError: if requests may not be sent and there is no cache, or they may and no contact is given.
        BackendUnavailableError: if requests may be sent and the extra wiki is not installed.
    """

    max_batch = 1

    def __init__(self, settings: MediaWikiSettings, source: str = USER_GENERATED) -> None:
        self.settings = settings
        self.source = source
        self.concurrency = settings.concurrency
        self._client = MediaWikiClient(settings)
        self._sites = [MediaWikiSite(self._client, api) for api in settings.sites]

    def __reduce__(self) -> Any:
        """Send the settings to another process; its cache is the same, its counts begin anew."""
        return MediaWikiSource, (self.settings, self.source)

    @property
    def fingerprint(self) -> str:
        """A hash of the wikis, the settings and the rules; not of what the wikis hold, which only a cache keeps."""
        settings = json.dumps(self.settings.source(), sort_keys=True)
        rules = json.dumps([_RULES, SUFFIXES, MAX_WORDS, DEFAULT.fingerprint])
        return content_hash("mediawiki source", settings, rules, self.source)

    @property
    def pages_loaded(self) -> int:
        """How many pages were read so far, from the cache or the network."""
        return sum(site.pages_loaded for site in self._sites)

    @property
    def requests(self) -> int:
        """How many requests were sent over the network so far, further attempts included."""
        return self._client.requests

    def find(self, searches: Sequence[ExternalSearch]) -> list[list[Hit]]:
        """Return at most ``k`` hits for each search, best first, ties by passage id.

        Raises:
            ConfigError: if a ``k`` is below 1.
            RequestFailedError: if a wiki does not answer, or may not be asked and the cache lacks the response.
        """
        return [self._found(search) for search in searches]

    def _found(self, search: ExternalSearch) -> list[Hit]:
        check_search([search.query], search.k)
        for site in self._sites:
            hits = self._best(find_pages(site, search, self.settings), search)
            if hits:
                return hits
        return []

    def _best(self, pages: Sequence[Page], search: ExternalSearch) -> list[Hit]:
        passages = [passage for page in pages for passage in page.passages()]
        if not passages:
            return []
        retriever = BM25Retriever.build(passages)
        found = retriever.search([search.query, search.question], search.k)
        return [hit._replace(source=self.source) for hit in next(filter(None, found), [])]
