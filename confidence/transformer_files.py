"""Saving an evaluator that is a model of the hub or of a folder: its name and settings, not its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ..data.errors import ConfigError
from ..data.storage import save_folder
from .manifests import KIND
from .transformer_settings import HERE, TransformerSettings


def save_transformer(folder: Path, kind: Literal["t5", "cross_encoder"], settings: TransformerSettings) -> None:
    """Write an evaluator's folder, without thresholds, for ``load_evaluator`` and ``evidencegym calibrate``.

    Args:
        folder: where to write; an evaluator that is there is replaced.
        kind: how the model is asked.
        settings: which model, and how texts are shown to it; it is loaded when the evaluator is used.

    Raises:
        ConfigError: if no model is named, ``kind`` is unknown, or ``folder`` holds something else.
        DataError: if it cannot be written.
    """
    if kind not in ("t5", "cross_encoder"):
        raise ConfigError(f"unknown type of transformer evaluator {kind!r}: expected t5 or cross_encoder")
    if settings.model in ("", HERE):
        raise ConfigError("which model? Name one of the hub, or a folder")
    local = Path(settings.model)
    source = settings.source() | ({"model": str(local.resolve())} if local.is_dir() else {})
    save_folder(folder, {}, {"kind": KIND, "type": kind, "settings": source, "thresholds": None})
