"""Saved BM25 indices that are damaged or of another version."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencegym.data.errors import ManifestMismatchError
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.index_files import seal

_FILES = (
    "impacts.npy",
    "numbers.npy",
    "starts.npy",
    "terms.txt",
    "term_ends.npy",
    "title_hashes.npy",
    "title_numbers.npy",
    "passage_ends.npy",
    "passage_checks.npy",
)


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [_flip, _cut, Path.unlink])
@pytest.mark.parametrize("name", _FILES)
def test_a_damaged_file_is_refused(folder: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(folder / name)
    with pytest.raises(ManifestMismatchError, match=name):
        BM25Retriever.load(folder)


@pytest.mark.parametrize("damage", [_cut, Path.unlink])
def test_missing_texts_are_refused(folder: Path, damage: Callable[[Path], None]) -> None:
    damage(folder / "passages.jsonl")
    with pytest.raises(ManifestMismatchError, match=r"passages\.jsonl"):
        BM25Retriever.load(folder)


def test_a_damaged_text_is_refused_when_it_is_read(folder: Path) -> None:
    lines = (folder / "passages.jsonl").read_bytes().splitlines(keepends=True)
    lines[7] = lines[7].replace(b"king", b"kong")
    (folder / "passages.jsonl").write_bytes(b"".join(lines))
    loaded = BM25Retriever.load(folder)
    assert loaded.passages[6].id < loaded.passages[8].id
    with pytest.raises(ManifestMismatchError, match="line 8"):
        loaded.passages[7]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "forest controller"},
        {"format": 0},
        {"rules": "0123456789abcdef"},
        {"files": None},
        {"files": {"starts.npy": {}}},
        {"parameters": {"k1": 1.1, "b": 0.5, "slope": 3}},
        {"parameters": {"k1": 1.1, "b": 7, "title_weight": 3}},
        {"parameters": None},
    ],
)
def test_another_manifest_is_refused(folder: Path, change: dict[str, Any]) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ManifestMismatchError):
        BM25Retriever.load(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00"])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ManifestMismatchError):
        BM25Retriever.load(folder)


def _resealed(folder: Path, name: str, array: Any) -> None:
    """Write another array, and a manifest that vouches for it."""
    np.save(folder / name, array, allow_pickle=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").unlink()
    seal(folder, manifest)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("numbers.npy", lambda a: np.where(np.arange(len(a)) == 3, 10**6, a).astype(a.dtype)),
        ("impacts.npy", lambda a: a.astype(object)),
        ("impacts.npy", lambda a: a.astype(np.float64)),
        ("impacts.npy", lambda a: a[None]),
        ("impacts.npy", lambda a: -a),
        ("starts.npy", lambda a: np.append(a, a[-1])),
        ("starts.npy", lambda a: a[::-1]),
        ("term_ends.npy", lambda a: a + 1),
        ("title_numbers.npy", lambda a: a + 1),
        ("title_hashes.npy", lambda a: a[::-1]),
        ("title_hashes.npy", lambda a: a[1:]),
        ("passage_ends.npy", lambda a: a[1:]),
        ("passage_checks.npy", lambda a: a[1:]),
    ],
)
def test_a_manifest_that_vouches_for_harmful_arrays_does_not_help(
    folder: Path, name: str, change: Callable[[Any], Any]
) -> None:
    _resealed(folder, name, change(np.load(folder / name)))
    for mmap in (True, False):
        with pytest.raises(ManifestMismatchError):
            BM25Retriever.load(folder, mmap=mmap)
