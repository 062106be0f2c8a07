"""The page on the benchmark names what there is."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from evidencegym import cli
from evidencegym.eval.suite.ablations import ABLATIONS
from evidencegym.eval.suite.protocols import PROTOCOLS
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings, SourceSettings

from .small_runs import benchmark, write_run

TEXT = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^evidencegym (train|benchmark) (.*?)(?: +#.*)?$", TEXT, re.MULTILINE)


def test_every_setting_is_named() -> None:
    named = set(re.findall(r"`(\w+)`", TEXT))
    for kind in (MethodSettings, AnalysisSettings, SourceSettings):
        missing = {field.name for field in fields(kind)} - named
        assert missing <= {"train_questions"}, kind
    assert set(PROTOCOLS) <= named
    operations = {name for name in ABLATIONS if name.startswith("no_")} - {"no_veto", "no_ranker", "no_floor"}
    assert set(ABLATIONS) - operations <= named


def test_every_analysis_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "synthetic")
    benchmark(run, tmp_path / "out", {"protocols": ["free"], "baselines": ["fixed_4"]})
    made = {file.stem for file in (tmp_path / "out" / "synthetic" / "analysis").iterdir()}
    rows = re.findall(r"^\| (`.*?`) \|", TEXT, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {name if name in named else re.sub(r"_free$", "_P", name) for name in made} <= named


@pytest.mark.parametrize(("command", "arguments"), COMMANDS)
def test_every_command_is_understood(command: str, arguments: str) -> None:
    words = [word.strip("'") for word in arguments.split()]
    parsed = cli.build_parser().parse_args(cli.with_shipped_config([command, *words]))
    assert parsed.command == command


def test_there_are_commands() -> None:
    assert {command for command, _ in COMMANDS} == {"train", "benchmark"} and len(COMMANDS) > 5
