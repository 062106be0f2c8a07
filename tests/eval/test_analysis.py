"""The file of an analysis, which a report reads, and its table."""

import json
from pathlib import Path

import pytest

from evidencegym.eval.analysis import Analysis, Plot, spread, spread_columns
from evidencegym.eval.statistics import Interval

COLUMNS = [("method", "method"), *spread_columns("recall", "recall"), ("bound", "bound")]
ROW = {"method": "a|b", **spread("recall", Interval(1 / 3, float("nan"), 0.5)), "bound": False}
PLOT = Plot("method", "recall", "method", "recall_low", "recall_high")
ANALYSIS = Analysis("example", "Example", "Which is best?", COLUMNS, [ROW], PLOT, {"seed": 0})


def test_the_file_holds_what_a_report_reads(tmp_path: Path) -> None:
    ANALYSIS.write(tmp_path)
    found = json.loads((tmp_path / "example.json").read_text())
    assert set(found) == {"name", "title", "asks", "columns", "rows", "plot", "settings"}
    assert found["columns"][0] == {"key": "method", "label": "method"}
    assert found["rows"] == [
        {"method": "a|b", "recall": 0.333333, "recall_low": None, "recall_high": 0.5, "bound": False}
    ]
    assert found["plot"] == {
        "x": "method", "y": "recall", "series": "method", "low": "recall_low", "high": "recall_high"
    }  # fmt: skip


def test_the_table_is_markdown() -> None:
    assert "| a\\|b | 0.333 |  | 0.500 | no |" in ANALYSIS.markdown()
    assert ANALYSIS.markdown().startswith("### Example\n\nWhich is best?\n\n| method |")


def test_a_row_without_a_column_is_an_error() -> None:
    with pytest.raises(KeyError):
        Analysis("x", "x", "x", COLUMNS, [{"method": "a"}]).as_dict()
