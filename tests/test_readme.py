"""The code of the README runs, and its figures are those of the records."""

import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_blocks_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out


def test_there_are_blocks_to_run() -> None:
    assert len(BLOCKS) >= 2


def test_the_results_table_is_written_from_the_records() -> None:
    script = runpy.run_path(str(ROOT / "benchmarks" / "readme_table.py"))
    assert script["filled"](README) == README


def test_the_records_hold_what_the_table_says() -> None:
    for name in ("benchmark", "benchmark_encoder"):
        record = json.loads((ROOT / "benchmarks" / "records" / f"{name}.json").read_text())
        assert sorted(record) == ["2wikimultihopqa", "hotpotqa", "musique"]
        for found in record.values():
            means = found["protocols"]["equal"]["learned"]
            assert f"**{means['support_recall']['mean']:.3f} / {means['answer_f1']['mean']:.3f}**" in README


def test_every_command_of_the_readme_exists() -> None:
    from evidencegym.cli import _COMMANDS

    named = set(re.findall(r"evidencegym (\w+) ?(?:--|\\|`|$)", README, re.MULTILINE))
    assert named and named <= set(_COMMANDS)


def test_every_link_of_the_readme_leads_somewhere() -> None:
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if not t.startswith("http")]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
