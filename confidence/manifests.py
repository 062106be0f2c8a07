"""What the manifest of a saved evaluator says of its thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.errors import ConfigError, ManifestMismatchError
from .verdicts import Thresholds, checked

KIND = "evaluator"


def thresholds_in(manifest: Mapping[str, Any], folder: Path) -> Thresholds | None:
    """Return the thresholds that a manifest holds, None where the evaluator was not calibrated.

    Raises:
        ManifestMismatchError: if it holds something else.
    """
    found = manifest.get("thresholds")
    if found is None:
        return None
    try:
        return checked(float(found["upper"]), float(found["lower"]))
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        raise ManifestMismatchError(
            f"{folder}: the evaluator's thresholds are damaged ({error}); run `evidencegym calibrate`"
        ) from error
