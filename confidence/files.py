"""Saved evaluators: reading one of any type, storing thresholds with it, refusing one that has none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.errors import ConfigError, ManifestMismatchError
from ..data.storage import MANIFEST, read_manifest, to_json, write_text
from ..retrieval.base import Retriever
from .base import Evaluator
from .embedded import TYPE, EmbeddedEvaluator, EvaluatorModel
from .manifests import KIND, thresholds_in
from .thresholded import ThresholdedEvaluator
from .transformer_settings import TransformerSettings
from .verdicts import Thresholds, checked

TYPES = (TYPE, "t5", "cross_encoder")


def load_evaluator(folder: Path, retriever: Retriever) -> Evaluator:
    """Read a saved evaluator of any type, with its thresholds.

    Args:
        folder: where it is.
        retriever: the corpus, for evaluators that look at its terms and titles.

    Raises:
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if its type is unknown, or it was made for something else.
        ConfigError: if the settings of a transformer name no model that can be used.
        BackendUnavailableError: if a model needs an extra that is not installed.
    """
    manifest = read_manifest(folder, KIND)
    kind = manifest.get("type")
    if kind == TYPE:
        model, thresholds = EvaluatorModel.load(folder)
        return EmbeddedEvaluator(model, retriever, thresholds)
    if kind in TYPES:
        settings = TransformerSettings.of(manifest.get("settings"), folder)
        return _of_transformer(kind, settings, thresholds_in(manifest, folder))
    raise ManifestMismatchError(f"{folder}: expected an evaluator of type {', '.join(TYPES)}, found {kind!r}")


def _of_transformer(kind: str, settings: TransformerSettings, thresholds: Thresholds | None) -> Evaluator:
    from .cross_encoder import CrossEncoderEvaluator
    from .t5 import T5Evaluator

    made = T5Evaluator if kind == "t5" else CrossEncoderEvaluator
    return made.from_settings(settings, thresholds)


def save_thresholds(folder: Path, thresholds: Thresholds, source: Mapping[str, Any]) -> None:
    """Store thresholds in the manifest of a saved evaluator, in place of those that it had.

    Args:
        folder: where it is.
        thresholds: what its verdicts will hang on.
        source: how they were found: criterion, settings, what was measured, on which questions.

    Raises:
        ConfigError: if the thresholds are out of range.
        DataError: if the manifest cannot be read or written.
        ManifestMismatchError: if the folder holds something else.
    """
    manifest = read_manifest(folder, KIND)
    made = checked(*thresholds)
    manifest["thresholds"] = {**source, **made._asdict()}
    write_text(folder / MANIFEST, to_json(manifest))


def require_calibrated(evaluator: Evaluator, allow: Thresholds | None = None) -> Evaluator:
    """Return the evaluator if it has thresholds, or else with those given.

    Args:
        evaluator: what gives scores.
        allow: thresholds that take the place of its own; None to use its own.

    Raises:
        ConfigError: if it has none and none are given.
    """
    if allow is not None:
        return ThresholdedEvaluator(evaluator, checked(*allow))
    if evaluator.thresholds is None:
        raise ConfigError(
            "the evaluator has no thresholds, so it cannot give verdicts: run `evidencegym calibrate` on labelled "
            "questions, or give an upper and a lower threshold yourself"
        )
    return evaluator
