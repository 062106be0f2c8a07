"""Which type of source each passage comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data.corpus import read_source_types
from ..data.errors import DataError, ManifestMismatchError
from ..data.records import content_hash
from ..data.storage import to_json, write_text

UNKNOWN = "unknown"
KIND = "source types"


class SourceTypes(Mapping[str, str]):
    """Types of source by passage id; passages that are not among them have the default.

    Args:
        types: passage id -> type.
        default: the type of all other passages.

    Raises:
        DataError: if a type is not a text, or blank.
    """

    def __init__(self, types: Mapping[str, str], default: str = UNKNOWN) -> None:
        wrong = [key for key, kind in types.items() if not isinstance(kind, str) or not kind.strip()]
        if wrong or not isinstance(default, str) or not default.strip():
            raise DataError(f"expected a type of source, found {types[wrong[0]] if wrong else default!r}", None)
        self._types = {key: types[key] for key in sorted(types)}
        self.default = default
        self._fingerprint = ""

    def __getitem__(self, passage: str) -> str:
        return self._types[passage]

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def of(self, passage: str, stated: str = "") -> str:
        """Return the type of a passage: the one kept here, else the one ``stated`` by its hit, else the default."""
        return self._types.get(passage) or stated or self.default

    @property
    def occurring(self) -> tuple[str, ...]:
        """The types that passages or the default have, sorted."""
        return tuple(sorted({*self._types.values(), self.default}))

    @property
    def fingerprint(self) -> str:
        """A hash of every passage's type and of the default."""
        if not self._fingerprint:
            listed = (part for item in self._types.items() for part in item)
            self._fingerprint = content_hash(KIND, self.default, *listed)
        return self._fingerprint

    @classmethod
    def read(cls, path: str | Path, default: str = UNKNOWN) -> SourceTypes:
        """Return the types that the files of a corpus state, see ``data.corpus.read_source_types``.

        Raises:
            DataError: if a file cannot be read or states no proper type; the message gives file, line and key.
        """
        return cls(read_source_types(Path(path)), default)

    def save(self, file: str | Path) -> None:
        """Write the types as JSON; the same types give the same bytes.

        Raises:
            DataError: if the file cannot be written.
        """
        passages: dict[str, list[str]] = {kind: [] for kind in sorted(set(self._types.values()))}
        for key, kind in self._types.items():
            passages[kind].append(key)
        write_text(Path(file), to_json({"kind": KIND, "default": self.default, "passages": passages}))

    @classmethod
    def load(cls, file: str | Path) -> SourceTypes:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: if there is no such file, or it is damaged.
            ManifestMismatchError: if it holds something else.
        """
        saved = _saved(Path(file))
        try:
            types = {str(key): kind for kind, keys in saved["passages"].items() for key in keys}
            return cls(types, saved["default"])
        except (KeyError, AttributeError, TypeError) as error:
            raise DataError(f"damaged source types ({error!r}); save them again", file) from error


def _saved(file: Path) -> dict[str, Any]:
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("no such file; expected saved source types", file) from None
    except (ValueError, OSError) as error:
        raise DataError(f"not readable source types ({error})", file) from error
    if not isinstance(saved, dict) or saved.get("kind") != KIND:
        raise ManifestMismatchError(f"{file}: expected saved {KIND}, found something else")
    return saved
