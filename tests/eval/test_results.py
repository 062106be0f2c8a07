"""Per-question results on disk."""

from pathlib import Path
from typing import Any

from evidencegym.eval.results import append_results, read_results


def test_results_are_appended_and_read_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "r.jsonl"
    assert read_results(file) == []
    odd: list[dict[str, Any]] = [{"uid": "a", "text": "line\u2028break \x85 é\n\r"}, {"uid": "b", "n": 0.1}]
    append_results(file, odd[:1])
    append_results(file, odd[1:])
    append_results(file, [])
    assert read_results(file) == odd and file.read_bytes().count(b"\n") == 2


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    append_results(file, [{"uid": "a"}, {"uid": "b"}])
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"uid": "c"')
    assert read_results(file) == [{"uid": "a"}, {"uid": "b"}]
    assert file.read_bytes() == whole
    file.write_bytes(whole[:-1])
    assert read_results(file) == [{"uid": "a"}]
