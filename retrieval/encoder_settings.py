"""Which encoder knows the passages, and where their vectors are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.errors import ConfigError
from ..data.records import content_hash
from .bm25 import BM25Retriever
from .embeddings import Embeddings, embed
from .encoder import Encoder
from .sentence_encoder import SentenceEncoder

CACHE_VARIABLE = "EVIDENCEGYM_CACHE"
NONE = "none"


@dataclass(frozen=True)
class EncoderSettings:
    """Which encoder knows the passages.

    Attributes:
        model: none, or a sentence-transformers model: its name on the hub, or a folder.
        query_prompt: put before a query; left out, the model's own or that of its family.
        passage_prompt: put before a passage, likewise.
        max_tokens: longer texts are cut, at least 1.
        batch: passages in one forward pass, at least 1.
        device: as torch names it; empty for a GPU where there is one.
        vectors: folder of the passages' vectors, which are made once; left out, one in the folder that the variable
            EVIDENCEGYM_CACHE names, else in `~/.cache/evidencegym`.

    Raises:
        ConfigError: if a number is out of range.
    """

    model: str = NONE
    query_prompt: str | None = None
    passage_prompt: str | None = None
    max_tokens: int = 160
    batch: int = 32
    device: str = ""
    vectors: Path | None = None

    def __post_init__(self) -> None:
        if min(self.max_tokens, self.batch) < 1:
            raise ConfigError(
                f"encoder.max_tokens and encoder.batch must be at least 1, found {self.max_tokens} and {self.batch}"
            )

    def source(self) -> dict[str, Any]:
        """Return what says which vectors these are, wherever and however they are made."""
        parts = self.model, self.query_prompt, self.passage_prompt, self.max_tokens
        return dict(zip(("model", "query_prompt", "passage_prompt", "max_tokens"), parts))

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> EncoderSettings:
        """Return the settings that a manifest holds, no encoder where it holds none.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            return cls(**(source or {}))
        except TypeError as error:
            raise ConfigError(f"the manifest names no encoder that can be used ({error})") from error


def embedded(
    retriever: BM25Retriever,
    settings: EncoderSettings,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Encoder, Embeddings]:
    """Return the encoder and the vectors of a retriever's passages.

    Args:
        retriever: holds the passages.
        settings: names the encoder.
        progress: called as passages are embedded.

    Raises:
        ConfigError: if there is no such model.
        BackendUnavailableError: if the extra dense is not installed.
        DataError: if the vectors cannot be written.
        ManifestMismatchError: if the folder named holds vectors of another corpus or encoder.
    """
    encoder = SentenceEncoder(
        settings.model,
        settings.query_prompt,
        settings.passage_prompt,
        settings.max_tokens,
        settings.batch,
        settings.device,
    )
    folder = settings.vectors or cache_folder("vectors") / content_hash(encoder.fingerprint, retriever.fingerprint)
    return encoder, embed(retriever.passages, encoder, folder, progress)


def cache_folder(name: str) -> Path:
    """Return the folder ``name`` of the cache, which the variable EVIDENCEGYM_CACHE moves; it may not be there yet."""
    named = os.environ.get(CACHE_VARIABLE)
    return (Path(named) if named else Path.home() / ".cache" / "evidencegym") / name
