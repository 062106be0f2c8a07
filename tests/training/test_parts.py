"""Parts survive whatever happens to the process and to the disk."""

import errno
import os
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.training.parts import PartStore, read_rows
from tests.training.test_targets import row, table

MANIFEST = {"seed": 1, "caps": {"steps": 4}, "names": ["a", "b"]}
IDS = ["q3", "q1", "q2"]


def store(folder: Path, **changed: Any) -> PartStore:
    return PartStore(folder, MANIFEST | changed)


def part(question: str) -> pa.Table:
    return table(*(row(question, n / 4, 1.0)._replace(question_id=question) for n in range(4)))


def filled(folder: Path) -> PartStore:
    made = store(folder)
    for question in IDS:
        made.write(question, part(question))
    return made


def test_rows_are_merged_in_the_order_of_the_questions(tmp_path: Path) -> None:
    merged = filled(tmp_path).compact(IDS)
    assert merged.column("question_id").to_pylist() == ["q1"] * 4 + ["q2"] * 4 + ["q3"] * 4
    assert read_rows(tmp_path).equals(merged)
    whole = (tmp_path / "rows.parquet").read_bytes()
    filled(tmp_path / "again").compact(reversed(IDS))
    assert (tmp_path / "again" / "rows.parquet").read_bytes() == whole
    assert store(tmp_path).compact(["q2"]).num_rows == 4
    assert store(tmp_path).compact([]).num_rows == 0


def test_what_is_whole_is_not_missing(tmp_path: Path) -> None:
    made = store(tmp_path)
    assert made.missing(IDS) == IDS
    made.write("q1", part("q1"))
    assert store(tmp_path).missing(IDS) == ["q3", "q2"]


def test_ids_that_are_no_file_names_have_parts(tmp_path: Path) -> None:
    odd = ["a/b", "..", "x" * 500, "#", "é", ""]
    made = store(tmp_path)
    for question in odd:
        made.write(question, part(question))
    assert made.missing(odd) == [] and made.compact(odd).num_rows == 24
    assert len({made.file_of(question) for question in odd}) == len(odd)


def test_a_truncated_part_counts_as_missing(tmp_path: Path) -> None:
    made = filled(tmp_path)
    file, random = made.file_of("q2"), Random(0)
    whole = file.read_bytes()
    for size in [0, 1, 4, len(whole) - 1, *(random.randrange(len(whole)) for _ in range(30))]:
        file.write_bytes(whole[:size])
        assert made.missing(IDS) == ["q2"]
    with pytest.raises(DataError, match=f"{file.name}: damaged part of question q2"):
        made.compact(IDS)
    file.unlink()
    with pytest.raises(DataError, match="the part of question q2 is missing; collect again"):
        made.compact(IDS)


def test_a_part_that_is_damaged_inside_is_told_with_a_remedy_that_helps(tmp_path: Path) -> None:
    made = filled(tmp_path)
    file = made.file_of("q2")
    content = bytearray(file.read_bytes())
    content[4:300] = bytes(296)
    file.write_bytes(content)
    assert made.missing(IDS) == []
    with pytest.raises(DataError, match="delete the file and collect again") as error:
        made.compact(IDS)
    assert error.value.file == str(file)
    file.unlink()
    assert made.missing(IDS) == ["q2"]


def test_a_leftover_of_a_killed_write_harms_nothing(tmp_path: Path) -> None:
    made = filled(tmp_path)
    made.file_of("q2").with_name(f".{made.file_of('q2').name}.123.tmp").write_bytes(b"half")
    made.file_of("q2").unlink()
    assert made.missing(IDS) == ["q2"]
    made.write("q2", part("q2"))
    assert made.compact(IDS).num_rows == 12


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT])
def test_a_full_or_read_only_disk_loses_nothing(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = store(tmp_path)
    made.write("q1", part("q1"))
    made.write("q2", part("q2"))

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    for place, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, fail)
            for action in (lambda: made.write("q3", part("q3")), lambda: made.compact(["q1"])):
                with pytest.raises(DataError, match=f"{tmp_path}.*cannot write .{os.strerror(code)}"):
                    action()
    assert made.missing(IDS) == ["q3"]
    assert not (tmp_path / "rows.parquet").exists()
    assert all(file.suffix == ".parquet" for file in (tmp_path / "parts").iterdir())
    made.write("q3", part("q3"))
    assert made.compact(IDS).num_rows == 12


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file"):
        store(tmp_path / "file")
    with pytest.raises(DataError, match="cannot write"):
        store(tmp_path / "file" / "below")


def test_rows_of_other_settings_are_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    assert store(tmp_path).missing(IDS) == []
    with pytest.raises(ManifestMismatchError, match="collected with another seed; use another folder"):
        store(tmp_path, seed=2)
    with pytest.raises(ManifestMismatchError, match="another caps, extra;"):
        store(tmp_path, caps={"steps": 5}, extra=1)
    store(tmp_path, names=("a", "b"))
    (tmp_path / "manifest.json").write_text('{"kind": "collection", "se')
    with pytest.raises(DataError, match=r"manifest\.json: not a readable manifest"):
        store(tmp_path)


def test_rows_that_are_missing_or_damaged_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no compacted rows; run `evidencegym collect`"):
        read_rows(tmp_path)
    filled(tmp_path).compact(IDS)
    file = tmp_path / "rows.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"damaged rows .*the parts are kept"):
        read_rows(tmp_path)


def test_a_part_is_parquet_that_anyone_can_read(tmp_path: Path) -> None:
    assert pq.read_table(filled(tmp_path).file_of("q1")).equals(part("q1"))
