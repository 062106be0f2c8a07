"""Saved Adaptive-RAG controllers: a folder of plain arrays and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..data.storage import save_folder
from .adaptive import QUESTION_FEATURES, AdaptiveRAGController, ComplexityClassifier
from .files import list_of, load_fitting, manifest_of, require_same

KIND = "adaptive-rag controller"
FORMAT = 1


def save_adaptive(controller: AdaptiveRAGController, folder: Path) -> None:
    """Write a controller; the same controller gives the same bytes.

    Raises:
        ConfigError: if the folder holds anything but a saved one of its kind.
        DataError: if the folder cannot be written.
    """
    manifest = manifest_of(controller, KIND, FORMAT) | {"question_features": list(QUESTION_FEATURES)}
    save_folder(folder, controller.classifier.arrays(), manifest)


def load_adaptive(folder: Path, feature_names: Sequence[str], operations: Sequence[str]) -> AdaptiveRAGController:
    """Read a controller for use with the given features and operations.

    Args:
        folder: what :func:`save_adaptive` wrote.
        feature_names: the features that it will be shown.
        operations: the operation set that it will choose from.

    Raises:
        ConfigError: if the schedule cannot run on these features and operations.
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if it was trained with other features, operations, or an unknown format.
    """
    arrays, manifest = load_fitting(folder, KIND, FORMAT, feature_names, operations)
    read = list_of(folder, manifest, "question_features", str)
    require_same(folder, "question features", read, QUESTION_FEATURES)
    return AdaptiveRAGController(ComplexityClassifier.from_arrays(arrays), feature_names, operations, manifest)
