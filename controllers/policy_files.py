"""Saved policy networks: a folder of plain arrays and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..data.storage import save_folder
from .files import load_fitting, manifest_of
from .mlp_policy import MLPPolicy

KIND = "policy network"
FORMAT = 1


def save_policy(policy: MLPPolicy, folder: Path) -> None:
    """Write a policy; the same policy gives the same bytes.

    Raises:
        ConfigError: if the folder holds anything but a saved policy.
        DataError: if the folder cannot be written.
    """
    save_folder(folder, policy.arrays(), manifest_of(policy, KIND, FORMAT))


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
    arrays, manifest = load_fitting(folder, KIND, FORMAT, feature_names, operations)
    return MLPPolicy.from_arrays(arrays, feature_names, operations, manifest)
