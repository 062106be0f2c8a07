"""The folder of a saved calibration: one manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import isfinite, nan
from pathlib import Path
from typing import Any

from ..data.errors import ManifestMismatchError
from ..data.folders import writing
from ..data.manifests import MANIFEST, read_manifest, to_json
from .clustered import Share
from .conformal import Calibration
from .conformal_calibration import Bounds
from .conformal_diagnostics import Diagnostics

KIND = "conformal"
FORMAT = 1


def save_calibration(calibration: Calibration, folder: Path) -> None:
    """Write a calibration; see :meth:`Calibration.save`."""
    with writing(folder, KIND) as new:
        (new / MANIFEST).write_text(to_json(_plain(calibration)), encoding="utf-8")


def load_calibration(folder: Path) -> Calibration:
    """Read a calibration, whatever it is for; see :meth:`Calibration.load`."""
    manifest = read_manifest(folder, KIND)
    if manifest.get("format") != FORMAT:
        raise ManifestMismatchError(
            f"{folder}: expected format {FORMAT}, found {manifest.get('format')}; calibrate again"
        )
    try:
        return _calibration(manifest)
    except (KeyError, TypeError, ValueError) as error:
        raise ManifestMismatchError(f"{folder}: the manifest is damaged ({error}); calibrate again") from error


def _plain(calibration: Calibration) -> dict[str, Any]:
    own = {item.name: getattr(calibration, item.name) for item in fields(Calibration)}
    found = {name: _without_nan(value) for name, value in calibration.diagnostics.as_dict().items()}
    said = {"q_hat": calibration.q_hat, "refusal": calibration.refusal}
    return {**own, **said, "kind": KIND, "format": FORMAT, "bounds": list(calibration.bounds), "diagnostics": found}


def _without_nan(value: Any) -> Any:
    return [n if isfinite(n) else None for n in value] if isinstance(value, list) else value


def _calibration(manifest: Mapping[str, Any]) -> Calibration:
    low, high = map(float, manifest["bounds"])
    numbers = {name: float(manifest[name]) for name in ("alpha", "least_overlap", "threshold")}
    if not (low < high and 0 < numbers["alpha"] < 1 and 0 <= numbers["threshold"] <= 1):
        raise ValueError("a number is out of its range")
    return Calibration(
        **numbers,
        bounds=Bounds(low, high),
        k=int(manifest["k"]),
        chunks=int(manifest["chunks"]),
        fingerprint=str(manifest["fingerprint"]),
        diagnostics=_diagnostics(manifest["diagnostics"]),
    )


def _diagnostics(found: Mapping[str, Any]) -> Diagnostics:
    values: dict[str, Any] = {item.name: found[item.name] for item in fields(Diagnostics)}
    shares = {name: _share(value) for name, value in values.items() if isinstance(value, list)}
    return Diagnostics(**(values | shares))


def _share(values: list[float | None]) -> Share:
    return Share(*(nan if value is None else float(value) for value in values))
