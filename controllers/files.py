"""Saved controllers: a folder of plain arrays and a manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from ..data.errors import ManifestMismatchError
from ..data.storage import load_folder, save_folder
from ..data.trees import TreeArrays
from .continuation import ContinuationModel
from .forest import ForestController

KIND = "forest controller"
FORMAT = 2
T = TypeVar("T")


def save_controller(controller: ForestController, folder: Path) -> None:
    """Write a controller; the same controller gives the same bytes.

    Raises:
        DataError: if the folder cannot be written.
    """
    arrays = controller.trees.narrow_arrays("value_")
    if controller.continuation is not None:
        arrays |= controller.continuation.narrow_arrays()
    manifest = {
        **manifest_of(controller, KIND, FORMAT),
        "expected_costs": [dict(cost) for cost in controller.expected_costs],
        "continuation": controller.continuation is not None,
    }
    save_folder(folder, arrays, manifest, deflated=False)


class Saveable(Protocol):
    """What every saved controller knows of itself."""

    manifest: dict[str, Any]
    feature_names: tuple[str, ...]
    operations: tuple[str, ...]


def manifest_of(controller: Saveable, kind: str, number: int) -> dict[str, Any]:
    """Return what :func:`load_fitting` reads of a controller, of format ``number``, and what else is known of it."""
    return {
        **controller.manifest,
        "kind": kind,
        "format": number,
        "feature_names": list(controller.feature_names),
        "operations": list(controller.operations),
    }


def load_fitting(
    folder: Path, kind: str, expected: int, feature_names: Sequence[str], operations: Sequence[str]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read arrays and manifest of a saved controller of any kind, for use with the given features and operations.

    Raises:
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if it is of another kind or format, or was trained with other features or operations.
    """
    arrays, manifest = load_folder(folder, kind)
    if manifest.get("format") != expected:
        raise ManifestMismatchError(
            f"{folder}: expected format {expected}, found {manifest.get('format')}; train again"
        )
    require_same(folder, "operations", list_of(folder, manifest, "operations", str), operations)
    require_same(folder, "features", list_of(folder, manifest, "feature_names", str), feature_names)
    return arrays, manifest


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
    arrays, manifest = load_fitting(folder, KIND, FORMAT, feature_names, operations)
    continuation = ContinuationModel.from_arrays(arrays) if manifest.get("continuation") else None
    return ForestController(
        TreeArrays.from_arrays(arrays, "value_"),
        feature_names,
        operations,
        _costs(folder, manifest),
        continuation,
        cost_weight,
        manifest=manifest,
    )


def list_of(folder: Path, manifest: Mapping[str, Any], key: str, kind: type[T]) -> list[T]:
    """Return a list of the manifest, checked item by item.

    Raises:
        ManifestMismatchError: if it is missing, or holds anything else.
    """
    found = manifest.get(key)
    if not isinstance(found, list) or not all(isinstance(item, kind) for item in found):
        raise ManifestMismatchError(f"{folder}: {key} is missing from the manifest or damaged; train or copy it again")
    return found


def _costs(folder: Path, manifest: Mapping[str, Any]) -> list[dict[str, float]]:
    costs = list_of(folder, manifest, "expected_costs", dict)
    if not all(isinstance(value, int | float) for cost in costs for value in cost.values()):
        raise ManifestMismatchError(f"{folder}: expected_costs must be numbers; train or copy the controller again")
    return costs


def require_same(folder: Path, what: str, found: Sequence[str], expected: Sequence[str]) -> None:
    """Check that a controller is used with the names of its training, in their order.

    Raises:
        ManifestMismatchError: if they differ; the message says where.
    """
    if list(found) != list(expected):
        only = [name for name in found if name not in expected], [name for name in expected if name not in found]
        raise ManifestMismatchError(
            f"{folder}: the controller was trained with other {what} "
            f"(only there: {', '.join(only[0]) or 'none'}; only here: {', '.join(only[1]) or 'none'}; "
            f"the order counts too); use the settings of its training, or train again"
        )
