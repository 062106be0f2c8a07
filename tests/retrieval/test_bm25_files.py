"""Saved BM25 indices."""

import errno
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Passage
from evidencegym.retrieval import bm25_files, passages
from evidencegym.retrieval.bm25 import BM25Retriever

_QUERIES = ["king", "river song", "film city film œuvre", "東京", "", "xyzzy"]


def _small() -> BM25Retriever:
    return BM25Retriever.build([Passage.of(f"Stone {number}", ["A red stone."]) for number in range(5)])


def _content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("mmap", [True, False])
def test_a_loaded_index_is_the_built_one(built: BM25Retriever, folder: Path, mmap: bool) -> None:
    loaded = BM25Retriever.load(folder, mmap=mmap)
    assert loaded.fingerprint == built.fingerprint
    assert loaded.settings == built.settings
    for k in (1, 7, 100):
        assert loaded.search(_QUERIES, k) == built.search(_QUERIES, k)
    assert [(p.id, p.title, p.sentences) for p in loaded.passages] == [
        (p.id, p.title, p.sentences) for p in built.passages
    ]
    for passage in built.passages:
        assert loaded.titled(passage.title) == built.titled(passage.title)


def test_passages_are_a_sequence(built: BM25Retriever, folder: Path) -> None:
    stored, given = BM25Retriever.load(folder).passages, built.passages
    assert len(stored) == len(given)
    assert stored[-1] == given[-1]
    assert list(stored[3:9:2]) == list(given[3:9:2])
    assert given[5] in stored
    for at in (len(given), -len(given) - 1):
        with pytest.raises(IndexError):
            stored[at]


def test_the_same_index_gives_the_same_bytes(built: BM25Retriever, folder: Path, tmp_path: Path) -> None:
    BM25Retriever.build(built.passages[::-1], k1=1.1, b=0.5, title_weight=3).save(tmp_path / "again")
    BM25Retriever.load(folder).save(tmp_path / "copy")
    assert _content(folder) == _content(tmp_path / "again") == _content(tmp_path / "copy")


def test_only_passages_that_are_found_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    from_line = passages.from_line

    def counted(line: bytes) -> Passage:
        read.append(line)
        return from_line(line)

    monkeypatch.setattr(passages, "from_line", counted)
    loaded = BM25Retriever.load(folder)
    assert not read
    loaded.search(["king"], 3)
    loaded.search(["king"], 3)
    assert len(read) == 3


def test_a_corpus_without_terms_can_be_saved(tmp_path: Path) -> None:
    BM25Retriever.build([Passage.of("The", ["of"])]).save(tmp_path / "index")
    for mmap in (True, False):
        loaded = BM25Retriever.load(tmp_path / "index", mmap=mmap)
        assert loaded.search(["the king"], 3) == [[]]
        assert [p.sentences for p in loaded.titled("the")] == [("of",)]


def test_another_process_opens_the_files_again(folder: Path) -> None:
    loaded = BM25Retriever.load(folder)
    pickled = pickle.dumps(loaded)
    assert len(pickled) < 1_000
    assert pickle.loads(pickled).search(_QUERIES, 9) == loaded.search(_QUERIES, 9)


def test_the_manifest_says_what_is_there(built: BM25Retriever, folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["fingerprint"] == built.fingerprint
    assert manifest["parameters"] == {"k1": 1.1, "b": 0.5, "title_weight": 3}
    assert manifest["passages"] == len(built.passages)
    assert set(manifest["versions"]) == {"evidencegym", "bm25s", "numpy"}
    assert set(manifest["files"]) | {"manifest.json"} == {file.name for file in folder.iterdir()}


def test_no_index_there(tmp_path: Path) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(DataError, match="expected the folder of a saved BM25 index"):
            BM25Retriever.load(folder)


def test_saving_again_replaces_an_index(folder: Path) -> None:
    old = BM25Retriever.load(folder)
    expected = old.search(["king"], 5)
    other = _small()
    other.save(folder)
    assert BM25Retriever.load(folder).fingerprint == other.fingerprint
    assert old.search(["king"], 5) == expected
    assert [file.name for file in folder.parent.iterdir()] == ["index"]


def test_an_empty_folder_may_be_filled(built: BM25Retriever, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    built.save(tmp_path / "index")
    assert BM25Retriever.load(tmp_path / "index").fingerprint == built.fingerprint


def test_a_folder_of_anything_else_is_left_alone(built: BM25Retriever, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for target in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ConfigError, match="choose another folder"):
            built.save(target)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def _full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_the_old_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _content(folder)
    other = _small()
    monkeypatch.setattr(bm25_files, "save_array", _full_disk)
    with pytest.raises(DataError, match="No space left"):
        other.save(folder)
    assert _content(folder) == before
    assert [file.name for file in folder.parent.iterdir()] == ["index"]


def test_a_failing_exchange_leaves_the_old_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _content(folder)
    rename = Path.rename

    def fail_for_new(self: Path, target: Path) -> Path:
        if self.name == "new":
            _full_disk()
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_new)
    with pytest.raises(DataError, match="No space left"):
        _small().save(folder)
    assert _content(folder) == before


def test_a_place_that_cannot_be_written(built: BM25Retriever, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        built.save(tmp_path / "file" / "index")


def test_moved_folders_are_opened(built: BM25Retriever, folder: Path, tmp_path: Path) -> None:
    shutil.move(folder, tmp_path / "moved")
    assert BM25Retriever.load(str(tmp_path / "moved")).search(_QUERIES, 4) == built.search(_QUERIES, 4)
