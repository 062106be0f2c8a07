"""Where a Qdrant server is, and how it searches."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from ..data.bounds import require_least
from ..data.errors import ConfigError

IN_PROCESS = ":memory:"
URL_VARIABLE = "EVIDENCEGYM_QDRANT"
_DEFAULT_URL = "http://localhost:6333"
_HOW_ONLY = ("url", "collection", "key_variable", "grpc_port", "timeout", "concurrency", "batch", "shards", "replicas")
"""Settings that change where and how fast is searched, but not what."""


@dataclass(frozen=True)
class QdrantSettings:
    """Where a Qdrant server is, and how it searches.

    The key is read from the environment when the server is called; it stands in no setting, fingerprint or record.

    Attributes:
        url: of the server; empty for what the variable EVIDENCEGYM_QDRANT holds, else http://localhost:6333. `:memory:`
            searches in this process without a server, one query after another: for tests.
        collection: its name; empty for one made from corpus and encoder.
        key_variable: the environment variable that holds the key; a server without keys needs none.
        grpc_port: of the gRPC interface, which is quicker; 0 speaks HTTP.
        timeout: seconds that a call may take, at least 1.
        concurrency: calls under way at a time, at least 1.
        batch: queries in one call, at least 1.
        shards: parts of a new collection, spread over the cluster.
        replicas: copies of each part.
        neighbours: edges of a passage in the graph.
        effort: candidates kept while searching.
        exact: compare with every passage; slow, and the same whatever graph the server has built.
        compressed: hold a byte a number in memory, and the vectors on the server's disk.
        refine: how many times ``k`` candidates are scored again here; exact: 8 more than ``k`` are.

    Raises:
        ConfigError: if a number is out of range, or the URL is none or holds a password.
    """

    url: str = ""
    collection: str = ""
    key_variable: str = "QDRANT_API_KEY"
    grpc_port: int = 0
    timeout: int = 60
    concurrency: int = 4
    batch: int = 16
    shards: int = 1
    replicas: int = 1
    neighbours: int = 16
    effort: int = 128
    exact: bool = False
    compressed: bool = False
    refine: int = 2

    def __post_init__(self) -> None:
        least = {"grpc_port": 0, "neighbours": 2}
        ones = ("timeout", "concurrency", "batch", "shards", "replicas", "effort", "refine")
        require_least(self, "qdrant", **least, **dict.fromkeys(ones, 1))
        if self.url and self.url != IN_PROCESS:
            _check_url(self.url)

    @property
    def address(self) -> str:
        """The server's URL.

        Raises:
            ConfigError: if the variable holds none.
        """
        if self.url:
            return self.url
        named = os.environ.get(URL_VARIABLE, "").strip() or _DEFAULT_URL
        _check_url(named)
        return named

    @property
    def key(self) -> str:
        """The key, empty where the variable is not set."""
        return os.environ.get(self.key_variable, "").strip()

    @property
    def built(self) -> dict[str, Any]:
        """What a collection is built with, for its metadata."""
        return {"neighbours": self.neighbours, "compressed": self.compressed}

    def source(self) -> dict[str, Any]:
        """Return what can change a result; not where the server is."""
        return {name: value for name, value in asdict(self).items() if name not in _HOW_ONLY}


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        wrong = parts.scheme not in ("http", "https") or not parts.hostname
        named = parts.username or parts.password or parts.query
    except ValueError as error:
        raise ConfigError(f"qdrant.url is no URL ({error})") from None
    if named:
        raise ConfigError("qdrant.url must hold no password and no parameters: give the key in the environment")
    if wrong:
        raise ConfigError(f"qdrant.url must be like {_DEFAULT_URL}, found {url!r}")
