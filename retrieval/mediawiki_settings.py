"""Which wikis are searched, how they are asked, and whether they are asked at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .. import __version__
from ..data.bounds import require_least
from ..data.errors import ConfigError
from .encoder_settings import cache_folder

WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
MAX_PAGES = 50
"""Titles that a wiki looks up in one request."""

_HOW_ONLY = ("network", "contact", "cache", "timeout", "retries", "max_wait", "maxlag", "concurrency")
"""Settings that change how a page is come by, but not which."""
_CONTACT = re.compile(r"[!-~][ -~]*")


@dataclass(frozen=True)
class MediaWikiSettings:
    """Which wikis are searched, how they are asked, and whether they are asked at all.

    Attributes:
        network: whether requests may leave this machine; without, only what the cache holds is found.
        contact: an address or a page where the wiki's people can reach you; part of the user agent, and needed with
            ``network``.
        sites: the wikis' API addresses, by authority: a later one is asked only where the earlier ones have no page.
        namespaces: numbers of the namespaces whose pages count as articles.
        cache: folder of the responses; left out, one in the folder that the variable EVIDENCEGYM_CACHE names, else in
            `~/.cache/evidencegym`.
        timeout: seconds that a response may take.
        retries: further attempts after a time-out, a lost connection, a rate limit, a lagging or failing server, or a
            response that cannot be read; at least 0.
        max_wait: seconds between two attempts at most; a wiki that asks for more is not asked again.
        maxlag: seconds that the wiki's copies of its database may lag behind, else it shall refuse; -1 sends none.
        concurrency: requests under way at a time, at least 1; wikis ask for no more.
        entities: names that one search looks up at most, at least 1.
        pages: pages that one search loads at most, 1 to 50; those on the way through disambiguations not counted.
        results: pages that one use of the wiki's own search may give, 1 to 50.
        disambiguations: disambiguation pages that are followed in a row at most, at least 0.
        max_chars: characters of a page that are read, at least 1.

    Raises:
        ConfigError: if a value is out of range, or an address is none or holds a password.
    """

    network: bool = False
    contact: str = ""
    sites: tuple[str, ...] = (WIKIPEDIA,)
    namespaces: tuple[int, ...] = (0,)
    cache: Path | None = None
    timeout: float = 20.0
    retries: int = 4
    max_wait: float = 60.0
    maxlag: int = 5
    concurrency: int = 1
    entities: int = 4
    pages: int = 6
    results: int = 3
    disambiguations: int = 2
    max_chars: int = 20_000

    def __post_init__(self) -> None:
        ones = ("concurrency", "entities", "pages", "results", "max_chars")
        require_least(self, "mediawiki", retries=0, maxlag=-1, disambiguations=0, **dict.fromkeys(ones, 1))
        if self.timeout <= 0 or self.max_wait < 0:
            raise ConfigError(
                "mediawiki.timeout must be positive and mediawiki.max_wait at least 0, "
                f"found {self.timeout} and {self.max_wait}"
            )
        if max(self.pages, self.results) > MAX_PAGES:
            raise ConfigError(
                f"mediawiki.pages and mediawiki.results must be at most {MAX_PAGES}, "
                f"found {self.pages} and {self.results}"
            )
        if self.contact and not _CONTACT.fullmatch(self.contact):
            raise ConfigError("mediawiki.contact must be one line of ASCII, such as an e-mail address")
        if not self.sites or not self.namespaces:
            raise ConfigError("mediawiki.sites and mediawiki.namespaces must hold at least one entry each")
        for site in self.sites:
            _check_address(site)

    @property
    def folder(self) -> Path:
        """The folder of the cache."""
        return self.cache or cache_folder("mediawiki")

    @property
    def user_agent(self) -> str:
        """What requests are signed with, as Wikimedia's policy asks: program, version, contact, library."""
        return f"evidencegym/{__version__} ({self.contact}) httpx"

    def source(self) -> dict[str, Any]:
        """Return what can change a result, as plain values."""
        named = {name: value for name, value in asdict(self).items() if name not in _HOW_ONLY}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in named.items()}

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> MediaWikiSettings:
        """Return the settings that a manifest holds, the defaults where it holds none: without network.

        Raises:
            ConfigError: if it holds something else.
        """
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in (source or {}).items()
        }
        try:
            return cls(**given)
        except TypeError as error:
            raise ConfigError(f"the manifest names no wiki that can be used ({error})") from error


def _check_address(site: str) -> None:
    try:
        parts = urlsplit(site)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname
        named = parts.username or parts.password or parts.query or parts.fragment
    except ValueError as error:
        raise ConfigError(f"an address in mediawiki.sites is no URL ({error})") from None
    if named:
        raise ConfigError("the addresses in mediawiki.sites must hold no password and no parameters")
    if wrong:
        raise ConfigError(f"the addresses in mediawiki.sites must be like {WIKIPEDIA}, found {site!r}")
