"""Manifests: the JSON file that says what a saved folder holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import DataError, ManifestMismatchError

MANIFEST = "manifest.json"


def to_json(value: Any) -> str:
    """Return ``value`` as JSON whose bytes depend on nothing but the value: sorted keys, one final newline."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """Read the manifest of a saved folder.

    Raises:
        DataError: if it is missing or not JSON.
        ManifestMismatchError: if it is of another kind.
    """
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"no such file; expected the folder of a saved {kind}", file) from None
    except (ValueError, OSError) as error:
        raise DataError(f"not a readable manifest ({error})", file) from error
    found = manifest.get("kind") if isinstance(manifest, dict) else None
    if found != kind:
        raise ManifestMismatchError(f"{folder}: expected a saved {kind}, found {found or 'something else'}")
    return dict(manifest)


def unmet(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names of what is wanted of a manifest that was read and is not so there, sorted; it may hold more."""
    return differing({name: found.get(name) for name in wanted}, wanted)


def differing(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Return the names under which a manifest that was read and one that would be written differ, sorted."""
    plain = json.loads(to_json(wanted))
    return sorted(name for name in {*found, *plain} if found.get(name) != plain.get(name))


def require_fitted_with(folder: Path, kind: str, wanted: Mapping[str, Any]) -> None:
    """Check that the manifest of something fitted says what is wanted of it.

    Raises:
        DataError: if it is missing or not JSON.
        ManifestMismatchError: if it is of another kind, or was fitted with something else.
    """
    if other := unmet(read_manifest(folder, kind), wanted):
        article = "an" if kind[0] in "aeiou" else "a"
        raise ManifestMismatchError(
            f"{folder}: holds {article} {kind} fitted with another {', '.join(other)}; delete it or use another folder"
        )
