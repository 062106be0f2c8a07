"""Where is searched when the corpus does not do, and from those settings to the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..data.corpus import read_corpus
from ..data.errors import ConfigError
from ..data.records import Passage
from .base import Retriever
from .bm25 import BM25Retriever
from .external import ExternalSource, LocalSource
from .mediawiki_settings import MediaWikiSettings

NONE = "none"
HALF = "half"
MEDIAWIKI = "mediawiki"


@dataclass(frozen=True)
class ExternalSettings:
    """Where is searched when the corpus does not do.

    Attributes:
        where: none, half (half of the corpus is kept out of it and searched as a second one), mediawiki, or the path of
            a corpus of your own.
        source_type: what the passages are marked with; left out, local_corpus for a corpus and user_generated for
            wikis, which anyone may write.
        mediawiki: of mediawiki: which wikis, and how they are asked.

    Raises:
        ConfigError: if ``where`` is empty.
    """

    where: str = NONE
    source_type: str = ""
    mediawiki: MediaWikiSettings = field(default=MediaWikiSettings())

    def __post_init__(self) -> None:
        if not self.where.strip():
            raise ConfigError(f"external.where must be {NONE}, {HALF}, {MEDIAWIKI} or the path of a corpus")

    @property
    def marked(self) -> dict[str, str]:
        """The source type as the sources take it, nothing where it is left to them."""
        return {"source": self.source_type} if self.source_type else {}

    def source(self) -> dict[str, Any]:
        """Return what can change a result, as plain values; a corpus is known by its path alone."""
        wikis = {"mediawiki": self.mediawiki.source()} if self.where == MEDIAWIKI else {}
        return {"where": self.where, "source_type": self.source_type, **wikis}

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> ExternalSettings:
        """Return the settings that a manifest holds, no source where it holds none; never with network.

        Raises:
            ConfigError: if it holds something else.
        """
        given = dict(source or {})
        try:
            return cls(**{**given, "mediawiki": MediaWikiSettings.of(given.get("mediawiki"))})
        except TypeError as error:
            raise ConfigError(f"the manifest names no external source that can be used ({error})") from error


def open_source(
    settings: ExternalSettings, retriever: Callable[[Sequence[Passage]], Retriever] = BM25Retriever.build
) -> ExternalSource | None:
    """Return the source that the settings name, None where they name none.

    Args:
        settings: name it.
        retriever: makes what searches a corpus from its passages.

    Raises:
        ConfigError: for ``half``, which whoever holds the corpus has to make; if wikis may not be asked and nothing of
            them is cached, or no contact is given.
        DataError: if the corpus cannot be read.
        BackendUnavailableError: if wikis are to be asked and the extra wiki is not installed.
    """
    if settings.where == NONE:
        return None
    if settings.where == HALF:
        raise ConfigError(f"external.where {HALF} is cut from the corpus; it cannot be opened by itself")
    if settings.where == MEDIAWIKI:
        from .mediawiki import MediaWikiSource

        return MediaWikiSource(settings.mediawiki, **settings.marked)
    return LocalSource(retriever(read_corpus(Path(settings.where))), **settings.marked)
