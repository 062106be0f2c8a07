"""A small wiki, and a source that searches it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evidencegym.retrieval.external import ExternalSearch
from evidencegym.retrieval.mediawiki import MediaWikiSource
from evidencegym.retrieval.mediawiki_settings import MediaWikiSettings
from tests.retrieval.mediawiki_server import MediaWikiServer, Wiki, WikiPage

QUICK = MediaWikiSettings(network=True, contact="tests@example.org", timeout=5, retries=2, max_wait=0.05)


def small_wiki() -> Wiki:
    """Return a wiki of a few films, people and planets."""
    return Wiki(
        pages={
            "Ada Lovelace": WikiPage(
                "Ada Lovelace was a mathematician. Her father was Lord Byron.\nShe died in London."
            ),
            "Lord Byron": WikiPage(
                "Lord Byron was a poet. He was born in London.\n\n\n== Death ==\nHe died in Greece."
            ),
            "Titanic": WikiPage("The Titanic was a ship. It sank in 1912."),
            "Titanic (film)": WikiPage("Titanic is a film. It was directed by James Cameron."),
            "Mercury": WikiPage(
                "Mercury may refer to:\nMercury (planet), the closest planet to the Sun\n"
                "Mercury (element), a liquid metal\nFreddie Mercury, a singer of the band Queen",
                ("Mercury (planet)", "Mercury (element)", "Freddie Mercury", "Sun", "Mercury (red link)"),
                disambiguation=True,
            ),
            "Mercury (planet)": WikiPage("Mercury is a planet. It has no moon."),
            "Mercury (element)": WikiPage("Mercury is a liquid metal."),
            "Freddie Mercury": WikiPage("Freddie Mercury was a singer. He was born in Zanzibar."),
            "Sun": WikiPage("The Sun is a star."),
            "Babbage Engine": WikiPage("The analytical engine was designed by Charles Babbage."),
            "User:Someone": WikiPage("I am Someone.", namespace=2),
        },
        redirects={"Byron": "Lord Byron", "Loop": "Loop Two", "Loop Two": "Loop"},
    )


def source(server: MediaWikiServer, folder: Path, **changes: Any) -> MediaWikiSource:
    """Return a source that asks a server and waits little."""
    return MediaWikiSource(replace(QUICK, **{"sites": (server.url,), "cache": folder / "wiki", **changes}))


def titles(source: MediaWikiSource, query: str, k: int = 10, question: str = "") -> list[str]:
    """Return the titles that a search finds, best first, each once."""
    [hits] = source.find([ExternalSearch(query, k, question)])
    return list(dict.fromkeys(hit.passage.title for hit in hits))
