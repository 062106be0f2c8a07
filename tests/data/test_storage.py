"""Folders of arrays with a manifest: equal bytes, whole or not at all, damage told."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.storage import (
    ARRAYS,
    MANIFEST,
    load_folder,
    read_manifest,
    save_folder,
    to_json,
    write_bytes,
    write_text,
)

ARRAYS_OF: dict[str, NDArray[Any]] = {
    "b": np.arange(6, dtype=np.int32).reshape(2, 3),
    "a": np.array([0.1, np.nan, -0.0, np.inf]),
    "empty": np.zeros((0, 4), np.float32),
    "words": np.array(["é", "東京"]),
}
INFO = {"kind": "thing", "numbers": [1, 0.1], "text": "ünïcode"}


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def tree(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save_folder(tmp_path / "deep" / "x", ARRAYS_OF, INFO)
    arrays, manifest = load_folder(tmp_path / "deep" / "x", "thing")
    assert manifest == INFO and arrays.keys() == ARRAYS_OF.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS_OF[name])
        assert array.dtype == ARRAYS_OF[name].dtype


def test_equal_content_is_equal_bytes_whatever_the_order(tmp_path: Path) -> None:
    save_folder(tmp_path / "x", ARRAYS_OF, INFO)
    save_folder(tmp_path / "y", dict(reversed(ARRAYS_OF.items())), dict(reversed(INFO.items())))
    assert tree(tmp_path / "x") == tree(tmp_path / "y")
    assert to_json({"b": 1, "a": "é"}) == '{\n  "a": "é",\n  "b": 1\n}\n'


def test_a_folder_of_the_same_kind_is_replaced_and_no_other(tmp_path: Path) -> None:
    save_folder(tmp_path / "x", {"old": np.zeros(3)}, INFO)
    save_folder(tmp_path / "x", ARRAYS_OF, INFO)
    assert sorted(tree(tmp_path)) == [f"x/{ARRAYS}", f"x/{MANIFEST}"]
    assert "old" not in load_folder(tmp_path / "x", "thing")[0]
    with pytest.raises(ConfigError, match="exists and is not a saved other"):
        save_folder(tmp_path / "x", {}, {"kind": "other"})
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "diary.txt").write_text("mine")
    with pytest.raises(ConfigError, match="choose another folder"):
        save_folder(tmp_path / "notes", ARRAYS_OF, INFO)
    assert (tmp_path / "notes" / "diary.txt").read_text() == "mine"


@pytest.mark.parametrize("at", ["fsync", "rename"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_failed_save_leaves_the_old_folder(
    at: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_folder(tmp_path / "x", ARRAYS_OF, INFO)
    before = tree(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os if at == "fsync" else Path, at, failing(code))
        with pytest.raises(DataError, match=f"x: cannot write .{os.strerror(code)}"):
            save_folder(tmp_path / "x", {"new": np.ones(2)}, INFO)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_a_failed_file_leaves_the_old_one(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "a.txt", "old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(code))
        with pytest.raises(DataError, match=f"a.txt: cannot write .{os.strerror(code)}.*unchanged"):
            write_text(tmp_path / "a.txt", "new")
    assert tree(tmp_path) == {"a.txt": b"old"}
    write_bytes(tmp_path / "a.txt", b"new")
    assert tree(tmp_path) == {"a.txt": b"new"}


def test_a_file_in_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a file")
    with pytest.raises(DataError, match=r"y\.txt: cannot write"):
        write_text(tmp_path / "x" / "y.txt", "text")
    with pytest.raises(DataError, match="cannot write"):
        save_folder(tmp_path / "x" / "y", ARRAYS_OF, INFO)
    with pytest.raises(ConfigError, match="choose another folder"):
        save_folder(tmp_path / "x", ARRAYS_OF, INFO)
    with pytest.raises(DataError, match="expected the folder of a saved thing"):
        read_manifest(tmp_path / "x", "thing")


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    save_folder(tmp_path / "x", ARRAYS_OF, INFO)
    np.savez(tmp_path / "x" / ARRAYS, objects=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="damaged arrays"):
        load_folder(tmp_path / "x", "thing")
    with pytest.raises(ValueError, match="Object arrays"):
        save_folder(tmp_path / "y", {"o": np.array([{}], dtype=object)}, INFO)
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("{", DataError, "not a readable manifest"),
        (b"\xff\xfe\x00", DataError, "not a readable manifest"),
        ('{"kind": "other"}', ManifestMismatchError, "expected a saved thing, found other"),
        ("[1]", ManifestMismatchError, "expected a saved thing, found something else"),
        ("{}", ManifestMismatchError, "found something else"),
    ],
)
def test_a_wrong_manifest_is_told(content: str | bytes, error: type[Exception], message: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(error, match=message):
        read_manifest(tmp_path, "thing")
