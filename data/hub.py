"""The same records through Hugging Face ``datasets`` (extra ``hf``): hub rows become raw records as in the files."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import hotpotqa, musique, twowiki
from .datasets import named
from .errors import BackendUnavailableError, ConfigError, DataError
from .fields import Raw, shown
from .records import Record

HUB_NAMES: dict[str, str] = {
    hotpotqa.NAME: "hotpotqa/hotpot_qa:distractor",
    twowiki.NAME: "framolfese/2WikiMultihopQA",
    musique.NAME: "dgslibisey/MuSiQue",
}
"""Where each benchmark is found on the hub unless a name is given."""

_SPLITS = {"train": ("train",), "dev": ("validation", "dev"), "test": ("test",)}
_NAME = re.compile(r"(?P<path>[^:@]+)(?::(?P<config>[^:@]+))?(?:@(?P<revision>[^:@]+))?")
_NESTED = ("context", "supporting_facts", "evidences", "paragraphs", "question_decomposition", "answer_aliases")
# The columns of each list, with the names that they have in one copy or another.
_PAIRS: dict[str, tuple[tuple[str, ...], ...]] = {
    "context": (("title",), ("sentences", "content")),
    "supporting_facts": (("title",), ("sent_id",)),
    "evidences": (("fact", "subject"), ("relation",), ("entity", "object")),
}


def read_hub(dataset: str, split: str, name: str | None = None) -> list[Record]:
    """Read a benchmark from the Hugging Face hub, or from a folder written by ``save_to_disk``.

    Args:
        dataset: a key of ``DATASETS``.
        split: ``"train"``, ``"dev"`` (the hub's ``validation``) or ``"test"``.
        name: ``owner/name``, ``owner/name:config``, either with ``@revision``, or a local folder; by default the entry
            of ``HUB_NAMES``.

    Returns:
        The records, equal to those read from the official file.

    Raises:
        ConfigError: if there is no such data set or split, or the name has another form.
        BackendUnavailableError: if the extra is not installed, or the hub does not give the data.
        DataError: if a row does not fit the data set; the message gives the row, from 1.
    """
    parse = named(dataset).parse
    source = HUB_NAMES[dataset] if name is None else name
    records = []
    for number, row in enumerate(_rows(source, split), 1):
        try:
            records.append(parse(official(dataset, row)))
        except DataError as error:
            raise DataError(str(error), f"{source} ({split})", number) from error
    if not records:
        raise DataError(f"expected records of {dataset!r}, found none", f"{source} ({split})")
    return records


def official(dataset: str, row: Mapping[str, Any]) -> Raw:
    """Return a hub row in the form of the official files.

    Lists may come as columns (``{"title": [...], "sentences": [...]}``), as objects, as JSON text, or as they are; null
    fields are left out, and ``id`` becomes ``_id`` where the official files say so.

    Raises:
        DataError: if a nested field has none of these forms.
    """
    raw = {key: _nested(key, value) for key, value in row.items() if value is not None}
    if dataset != musique.NAME and "id" in raw:
        raw.setdefault("_id", raw.pop("id"))
    return raw


def _nested(key: str, value: object) -> object:
    if key not in _NESTED:
        return value
    if isinstance(value, str):
        value = _unpacked(key, value)
    if isinstance(value, Mapping):
        value = _objects(key, value)
    if key in _PAIRS and isinstance(value, list):
        return [_pair(key, element) for element in value]
    return value


def _unpacked(key: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{key!r} must be a list or JSON text, found {shown(text)}") from error


def _objects(key: str, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turn ``{"a": [1, 2], "b": [3, 4]}`` into ``[{"a": 1, "b": 3}, {"a": 2, "b": 4}]``."""
    lists = [values for values in columns.values() if isinstance(values, list)]
    if len(lists) != len(columns) or len({len(values) for values in lists}) > 1:
        raise DataError(f"{key!r} must hold columns of one length, found {shown(dict(columns))}")
    return [dict(zip(columns, row)) for row in zip(*lists)]


def _pair(key: str, element: object) -> object:
    """Turn ``{"title": t, "sentences": s}`` into ``[t, s]``."""
    if not isinstance(element, Mapping):
        return element
    found = [next((name for name in names if name in element), None) for names in _PAIRS[key]]
    if None in found:
        expected = ", ".join("/".join(names) for names in _PAIRS[key])
        raise DataError(f"an element of {key!r} must have the fields {expected}, found {', '.join(map(str, element))}")
    return [element[name] for name in found]


def _rows(source: str, split: str) -> Iterable[Mapping[str, Any]]:
    if split not in _SPLITS:
        raise ConfigError(f"unknown split {split!r}: expected one of {', '.join(_SPLITS)}")
    address = _address(source)
    library = _library()
    try:
        if any((Path(source) / mark).is_file() for mark in ("state.json", "dataset_dict.json")):
            return _saved(library, source, _SPLITS[split])
        return _downloaded(library, *address, _SPLITS[split])
    except DataError:
        raise
    except Exception as error:  # the library passes on the errors of several HTTP clients
        raise BackendUnavailableError(
            f"Hugging Face datasets cannot load {source!r} ({split}): {type(error).__name__}: {error}; check the name "
            "and the connection, or use the official files"
        ) from error


def _library() -> Any:
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        raise BackendUnavailableError(
            "reading from the Hugging Face hub needs the package datasets: pip install 'evidencegym[hf]'"
        ) from error


def _downloaded(
    library: Any, path: str, config: str | None, revision: str | None, names: Sequence[str]
) -> Iterable[Mapping[str, Any]]:
    """Load from the hub, or from a local folder of Parquet or JSON files."""
    known = library.get_dataset_split_names(path, config, revision=revision)
    rows: Iterable[Mapping[str, Any]] = library.load_dataset(
        path, config, split=_chosen(known, path, names), revision=revision
    )
    return rows


def _saved(library: Any, source: str, names: Sequence[str]) -> Iterable[Mapping[str, Any]]:
    """Load what ``save_to_disk`` wrote; a ``Dataset`` that stands alone is taken as the split that is wanted."""
    loaded: Any = library.load_from_disk(source)
    rows: Iterable[Mapping[str, Any]] = loaded[_chosen(loaded, source, names)] if isinstance(loaded, dict) else loaded
    return rows


def _address(source: str) -> tuple[str, str | None, str | None]:
    """Return path, configuration and revision."""
    if Path(source).is_dir():
        return source, None, None
    match = _NAME.fullmatch(source)
    if match is None:
        raise ConfigError(f"expected owner/name, owner/name:config or owner/name@revision, found {source!r}")
    return match["path"], match["config"], match["revision"]


def _chosen(known: Iterable[str], source: str, names: Sequence[str]) -> str:
    available = list(known)
    for name in names:
        if name in available:
            return name
    raise DataError(f"expected the split {' or '.join(names)}, found {', '.join(available) or 'none'}", source)
