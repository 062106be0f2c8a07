"""Which model of the transformers library scores evidence, and how texts are shown to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..data.errors import ConfigError
from ..data.records import Passage

HERE = "."
"""Stands in a manifest for the folder that the manifest lies in."""


@dataclass(frozen=True)
class TransformerSettings:
    """A sequence classifier with one output.

    Attributes:
        model: its name on the hub, or a folder.
        revision: branch, tag or commit on the hub; empty for its main branch.
        device: as torch names it; auto for a GPU where there is one.
        batch_size: texts in one forward pass, at least 1.
        max_length: tokens of question and text together, at least 8; what is longer is cut, as the evaluator says.
        separator: between question and text, where both are one sequence; CRAG's by default.
        title_separator: between a passage's title and its text, as CRAG's files have it for ARC, PubHealth and
            biographies; empty leaves the title out, as they do for PopQA.

    Raises:
        ConfigError: if a number is out of range.
    """

    model: str = ""
    revision: str = ""
    device: str = "auto"
    batch_size: int = 16
    max_length: int = 512
    separator: str = " [SEP] "
    title_separator: str = " // "

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.max_length < 8:
            raise ConfigError(
                "transformer.batch_size must be at least 1 and transformer.max_length at least 8, "
                f"found {self.batch_size} and {self.max_length}"
            )

    def shown(self, passage: Passage) -> str:
        """Return the text that stands for a passage, on one line; empty for one without words."""
        text = " ".join(passage.text.split())
        title = " ".join(passage.title.split())
        return f"{title}{self.title_separator}{text}" if text and title and self.title_separator else text

    def scoring(self) -> str:
        """Return what changes a score beside the model itself, which is known by its weights."""
        return repr((self.max_length, self.separator, self.title_separator))

    def source(self) -> dict[str, Any]:
        """Return the settings as plain values, for a manifest."""
        return asdict(self)

    @classmethod
    def of(cls, source: Mapping[str, Any] | None, folder: Path | None = None) -> TransformerSettings:
        """Return the settings that a manifest holds, the defaults where it holds none.

        Args:
            source: what the manifest holds.
            folder: where it lies; the model "." is this folder.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            found = cls(**(source or {}))
        except TypeError as error:
            raise ConfigError(f"the manifest names no transformer that can be used ({error})") from error
        return replace(found, model=str(folder)) if folder is not None and found.model == HERE else found
