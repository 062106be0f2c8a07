"""Saved controllers: a folder of plain arrays and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..data.errors import ManifestMismatchError
from ..data.storage import load_folder, save_folder
from ..data.trees import TreeArrays
from .continuation import ContinuationModel
from .forest import ForestController

KIND = "forest controller"
FORMAT = 1


def save_controller(controller: ForestController, folder: Path) -> None:
    """Write a controller; the same controller gives the same bytes.

    Raises:
        DataError: if the folder cannot be written.
    """
    arrays = controller.trees.arrays("value_")
    if controller.continuation is not None:
        arrays |= controller.continuation.arrays()
    manifest = {
        **controller.manifest,
        "kind": KIND,
        "format": FORMAT,
        "feature_names": list(controller.feature_names),
        "operations": list(controller.operations),
        "expected_costs": [dict(cost) for cost in controller.expected_costs],
        "continuation": controller.continuation is not None,
    }
    save_folder(folder, arrays, manifest)


def load_controller(
    folder: Path,
    feature_names: Sequence[str],
    operations: Sequence[str],
    cost_weight: float = 0.0,
) -> ForestController:
    """Read a controller for use with the given features and operations.

    Args:
        folder: what :func:`save_controller` wrote.
        feature_names: the features that it will be shown.
        operations: the operation set that it will choose from.
        cost_weight: lambda.

    Raises:
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if it was trained with other features, operations, or an unknown format.
    """
    arrays, manifest = load_folder(folder, KIND)
    if manifest.get("format") != FORMAT:
        raise ManifestMismatchError(f"{folder}: expected format {FORMAT}, found {manifest.get('format')}; train again")
    _same(folder, "operations", manifest.get("operations", []), operations)
    _same(folder, "features", manifest.get("feature_names", []), feature_names)
    continuation = ContinuationModel.from_arrays(arrays) if manifest.get("continuation") else None
    return ForestController(
        TreeArrays.from_arrays(arrays, "value_"),
        feature_names,
        operations,
        manifest["expected_costs"],
        continuation,
        cost_weight,
        manifest=manifest,
    )


def _same(folder: Path, what: str, found: Sequence[str], expected: Sequence[str]) -> None:
    if list(found) != list(expected):
        only = [name for name in found if name not in expected], [name for name in expected if name not in found]
        raise ManifestMismatchError(
            f"{folder}: the controller was trained with other {what} "
            f"(only there: {', '.join(only[0]) or 'none'}; only here: {', '.join(only[1]) or 'none'}; "
            f"the order counts too); use the settings of its training, or train again"
        )
