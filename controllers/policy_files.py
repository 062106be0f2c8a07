"""Saved policy networks: a folder of plain arrays and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..data.errors import ManifestMismatchError
from ..data.storage import load_folder, save_folder
from .files import list_of, require_same
from .mlp_policy import MLPPolicy

KIND = "policy network"
FORMAT = 1


def save_policy(policy: MLPPolicy, folder: Path) -> None:
    """Write a policy; the same policy gives the same bytes.

    Raises:
        ConfigError: if the folder holds anything but a saved policy.
        DataError: if the folder cannot be written.
    """
    manifest = {
        **policy.manifest,
        "kind": KIND,
        "format": FORMAT,
        "feature_names": list(policy.feature_names),
        "operations": list(policy.operations),
    }
    save_folder(folder, policy.arrays(), manifest)


def load_policy(folder: Path, feature_names: Sequence[str], operations: Sequence[str]) -> MLPPolicy:
    """Read a policy for use with the given features and operations.

    Args:
        folder: what :func:`save_policy` wrote.
        feature_names: the features that it will be shown.
        operations: the operation set that it will choose from.

    Raises:
        DataError: if a file is missing or damaged.
        ManifestMismatchError: if it was trained with other features, operations, or an unknown format.
    """
    arrays, manifest = load_folder(folder, KIND)
    if manifest.get("format") != FORMAT:
        raise ManifestMismatchError(f"{folder}: expected format {FORMAT}, found {manifest.get('format')}; train again")
    require_same(folder, "operations", list_of(folder, manifest, "operations", str), operations)
    require_same(folder, "features", list_of(folder, manifest, "feature_names", str), feature_names)
    return MLPPolicy.from_arrays(arrays, feature_names, operations, manifest)
