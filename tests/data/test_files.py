"""Opening files: formats told from the content, and every fault a DataError."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidencegym.data.errors import DataError
from evidencegym.data.files import read_items, read_text

RECORDS: list[dict[str, Any]] = [{"a": 1, "b": ["é\u2028\x85", "\U0001f600"]}, {}, {"c": {"d": None}}]
SAME_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def as_list(records: list[Any]) -> bytes:
    return json.dumps(records, ensure_ascii=False).encode()


def as_lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def values(file: Path) -> list[dict[str, Any]]:
    return [item.value for item in read_items(file)]


@pytest.mark.parametrize("form", [as_list, as_lines])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["x.json", "x.jsonl.gz", "x"])
def test_every_form_gives_the_same_records_whatever_the_name(
    form: Any, pack: Any, mark: bytes, name: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_bytes(pack(mark + form(RECORDS)))
    assert values(file) == RECORDS


def test_only_a_newline_ends_a_line_and_blank_lines_count_but_hold_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b'\n{"t": "\xe2\x80\xa8\xc2\x85"}\r\n  \n{"t": 2}')
    assert [tuple(item) for item in read_items(file)] == [(2, {"t": "\u2028\x85"}), (4, {"t": 2})]


def test_an_indented_list_is_numbered_by_element(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("\n " + json.dumps(RECORDS, indent=2) + "\n\n")
    assert [item.number for item in read_items(file)] == [1, 2, 3]


@pytest.mark.parametrize("content", [b"", b" \n\n", b"[]", b" [ \n]\n", gzip.compress(b"")])
def test_a_file_without_records_yields_none(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    assert values(file) == []


@pytest.mark.parametrize(
    ("content", "record", "words"),
    [
        (b'{"a": 1}\n{"a": \n', 2, "not valid JSON"),
        (b'{"a": 1}\n[1]\n', 2, "expected a JSON object, found '[1]'"),
        (b'{"a": 1} {"a": 2}\n', 1, "found more after character 8"),
        (b'[{"a": 1}, 3]', 2, "expected a JSON object, found '3'"),
        (b'[{"a": 1}, ]', 2, "not valid JSON"),
        (b'[{"a": 1} {"a": 2}]', 1, "expected ',' or ']'"),
        (b'[{"a": 1}', 1, "expected ',' or ']'"),
        (b'[{"a": 1}] x', None, "nothing after the end"),
        (b'{"a": 1}\n{"a": "\xff"}\n', 2, "byte 16 is 0xff"),
        (b'[{"a": 1},\n{"a": "\xff"}]', None, "byte 18 is 0xff"),
        (b'{"a": "\\ud83d"}', 1, "half of a surrogate pair"),
        (b'{"a": ' + b"[" * 100_000, 1, "JSON that cannot be decoded"),
        (b'{"a": ' + b"1" * 5_000 + b"}", 1, "JSON that cannot be decoded"),
    ],
)
def test_a_malformed_record_is_named(content: bytes, record: int | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        values(file)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.record == record


def test_a_whole_surrogate_pair_is_a_character(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b'{"a": "\\ud83d\\ude00"}')
    assert values(file) == [{"a": "\U0001f600"}]


@given(data=st.data())
@SAME_FILE
def test_a_list_cut_off_anywhere_is_a_data_error(data: st.DataObject, tmp_path: Path) -> None:
    content = as_list(RECORDS)
    file = tmp_path / "cut"
    file.write_bytes(content[: data.draw(st.integers(1, len(content) - 1))])
    with pytest.raises(DataError):
        values(file)


@given(data=st.data())
@SAME_FILE
def test_lines_cut_off_anywhere_give_whole_records_or_a_data_error(data: st.DataObject, tmp_path: Path) -> None:
    content = as_lines(RECORDS)
    size = data.draw(st.integers(0, len(content)))
    file = tmp_path / "cut"
    file.write_bytes(content[:size])
    whole = content[:size].count(b"\n")
    read = []
    try:
        for item in read_items(file):
            read.append(item.value)
    except DataError as error:
        assert error.record == whole + 1
    assert read in (RECORDS[:whole], RECORDS[: whole + 1])


@given(data=st.data(), form=st.sampled_from([as_list, as_lines]))
@SAME_FILE
def test_a_gzip_file_cut_off_anywhere_is_a_data_error(data: st.DataObject, form: Any, tmp_path: Path) -> None:
    content = gzip.compress(form(RECORDS))
    file = tmp_path / "cut.gz"
    file.write_bytes(content[: data.draw(st.integers(1, len(content) - 1))])
    with pytest.raises(DataError):
        values(file)


@given(data=st.data(), pack=st.sampled_from([bytes, gzip.compress]))
@settings(parent=SAME_FILE, max_examples=300)
def test_a_damaged_byte_is_never_another_exception(data: st.DataObject, pack: Any, tmp_path: Path) -> None:
    content = bytearray(pack(as_list(RECORDS)))
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path / "damaged"
    file.write_bytes(bytes(content))
    try:
        assert all(isinstance(value, dict) for value in values(file))
    except DataError as error:
        assert error.file == str(file)


@given(content=st.binary(max_size=60))
@SAME_FILE
def test_any_bytes_give_records_or_a_data_error(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "any"
    file.write_bytes(content)
    for read in (values, read_text):
        try:
            read(file)
        except DataError as error:
            assert error.file == str(file)


def test_text_is_read_without_its_byte_order_mark_and_faults_give_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(b"\xef\xbb\xbfcaf\xc3\xa9\r\n")
    assert read_text(file) == "café\r\n"
    file.write_bytes(b"caf\xe9 au lait")
    with pytest.raises(DataError, match=r"byte 3 is 0xe9.*UTF-8"):
        read_text(file)


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        values(tmp_path / "absent.json")
    with pytest.raises(DataError, match="found a folder"):
        values(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match="cannot be read"):
        values(loop)
