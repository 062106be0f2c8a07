"""What a report finds in a folder, and what it refuses."""

import json
from pathlib import Path

import pytest

from evidencegym.data.errors import DataError
from evidencegym.eval.analysis import Analysis, Plot, spread, spread_columns
from evidencegym.eval.report_analysis import read_analysis, shown, table
from evidencegym.eval.report_folder import find_data_sets, stream_results
from evidencegym.eval.report_section import read_section
from evidencegym.eval.statistics import Interval

from .small_report import analysis, episode, write_benchmark, write_method


def test_a_benchmark_holds_one_data_set_a_folder(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    write_method(tmp_path / "2wiki", "equal", "learned", [episode(0)])
    found = find_data_sets(tmp_path)
    assert [one.name for one in found] == ["2wiki", "hotpotqa"]
    assert list(found[1].methods) == ["free"] and list(found[1].methods["free"]) == ["fixed-1", "learned"]
    assert [file.stem for file in found[1].analyses] == ["frontier", "importance"] and found[1].seed == 3


@pytest.mark.parametrize("layout", ["evaluation", "run", "runs"])
def test_an_evaluation_is_found_from_itself_its_run_and_the_folder_of_runs(tmp_path: Path, layout: str) -> None:
    place = tmp_path / "mine" / "evaluation"
    write_method(place, "free", "learned", [episode(0)])
    write_method(place, "free", "learned.timings", [{"uid": "q0", "operations": [], "steps": []}])
    (place / "manifest.json").write_text('{"dataset": "musique"}', encoding="utf-8")
    folder = {"evaluation": place, "run": tmp_path / "mine", "runs": tmp_path}[layout]
    (found,) = find_data_sets(folder)
    assert found.name == ("mine" if layout == "runs" else "musique")
    assert found.methods == {"free": {"learned": place / "free" / "learned.jsonl"}}


def test_other_files_of_lines_are_passed_over(tmp_path: Path) -> None:
    write_method(tmp_path / "data", "free", "learned", [episode(0)])
    (tmp_path / "data" / "free" / "notes.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    assert list(find_data_sets(tmp_path)[0].methods["free"]) == ["learned"]


def test_a_file_whose_first_line_is_damaged_is_no_other_file(tmp_path: Path) -> None:
    file = write_method(tmp_path / "data", "free", "learned", [episode(0)])
    write_method(tmp_path / "data", "free", "fixed-1", [episode(0)])
    for damaged in (b"\xff\xfe", b"[" * 100_000 + b"\n"):
        file.write_bytes(damaged + file.read_bytes())
        [found] = find_data_sets(tmp_path)
        with pytest.raises(DataError, match=r"learned\.jsonl, record 1: not JSON"):
            list(stream_results(found.methods["free"]["learned"]))


@pytest.mark.parametrize(
    "parts", [{"failures": [["answer"]]}, {"cost": {"retrievals": float("inf")}}, {"metrics": {"answer_f1": 10**400}}]
)
def test_a_damaged_result_is_named(tmp_path: Path, parts: dict[str, object]) -> None:
    write_method(tmp_path, "free", "learned", [episode(0) | parts])
    [found] = find_data_sets(tmp_path)
    with pytest.raises(DataError, match="the result of q0 is damaged"):
        read_section(found, plain=True)


@pytest.mark.parametrize("seed", [-5, "3", None])
def test_a_seed_that_is_none_is_0(tmp_path: Path, seed: object) -> None:
    write_method(tmp_path, "free", "learned", [episode(0)])
    (tmp_path / "manifest.json").write_text(json.dumps({"seed": seed}), encoding="utf-8")
    assert find_data_sets(tmp_path)[0].seed == 0


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no results; expected"):
        find_data_sets(tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        find_data_sets(tmp_path / "absent")


def test_a_torn_last_line_is_passed_over_and_stays(tmp_path: Path) -> None:
    file = write_method(tmp_path, "free", "learned", [episode(0), episode(1)])
    torn = file.read_bytes()[:-20]
    file.write_bytes(torn)
    assert [one["uid"] for one in stream_results(file)] == ["q0"]
    assert file.read_bytes() == torn


@pytest.mark.parametrize("line", ["{", "[]", '{"uid": "q0"}', json.dumps({**episode(0), "steps": {}})])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    file = write_method(tmp_path, "free", "learned", [episode(0)])
    file.write_text(file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="record 2"):
        list(stream_results(file))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"plot": {"x": "tokens", "y": "absent"}}, "absent, which is no column"),
        ({"plot": {"x": "tokens"}}, "has to name x and y"),
        ({"rows": [[1, 2, 3]]}, "has to hold 2 values"),
        ({"columns": [{"key": "a"}]}, "label"),
        ({"rows": None}, "not an analysis"),
    ],
)
def test_a_damaged_analysis_is_refused(tmp_path: Path, parts: dict[str, object], said: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(analysis(**parts)), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_analysis(file)


def test_rows_may_be_lists_in_the_order_of_the_columns(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(analysis(rows=[["learned", 5]], plot=None)), encoding="utf-8")
    assert read_analysis(file).rows == [{"method": "learned", "tokens": 5}]


def test_cells() -> None:
    values = [None, "", float("nan"), True, 3, 0.12345, 0.0, -0.0001, 12.345, 2607.4, "a", [1, 0.5], {"k": 1}]
    expected = ["–", "–", "–", "yes", "3", "0.123", "0.000", "-0.0001", "12.35", "2607", "a", "1, 0.500", "k 1"]
    assert [shown(value) for value in values] == expected


def test_the_ends_of_an_interval_join_their_column(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    columns = [{"key": key, "label": key.upper()} for key in ("m", "f1", "f1_low", "f1_high", "b_low")]
    rows = [["x", 0.5, 0.4, 0.61, 1], ["y", 0.5, None, None, 2]]
    file.write_text(json.dumps(analysis(columns=columns, rows=rows, plot=None)), encoding="utf-8")
    expected = [["x", "0.500 [0.400, 0.610]", "1"], ["y", "0.500", "2"]]
    assert table(read_analysis(file)) == (["M", "F1", "B_LOW"], expected)


def test_what_an_analysis_writes_is_read(tmp_path: Path) -> None:
    columns = [("method", "method"), *spread_columns("f1", "F1")]
    rows = [{"method": "learned", **spread("f1", Interval(0.5, 0.25, 0.75))}]
    made = Analysis("a", "A", "Why?", columns, rows, Plot("method", "f1", "method", "f1_low", "f1_high"), {"seed": 1})
    made.write(tmp_path)
    read = read_analysis(tmp_path / "a.json")
    assert read.as_dict() == made.as_dict()
