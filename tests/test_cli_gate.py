"""The corrective gate from the command line: trained, compared, used on own documents, calibrated."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from evidencegym.cli import main
from evidencegym.data.world import World
from evidencegym.envs.build import lies_outside

SMALL = [
    "--train_questions", "14", "--dev_questions", "6", "--passages", "300", "--caps.steps", "3",
    "--collect.episodes", "1", "--evaluator_fit.folds", "3", "--evaluator_fit.trees", "10", "--evaluator_fit.bags", "1",
]  # fmt: skip
FAST = ["--fit.trees", "10", "--fit.folds", "2", "--fit.jobs", "1"]
DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small run with a gate."""
    folder = tmp_path_factory.mktemp("gate") / "run"
    assert main(["train", "--config", "with_gate", *SMALL, *FAST, "--out", str(folder)]) == 0
    return folder


def manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "controller" / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_a_run_says_who_judged_and_where_was_searched(run: Path) -> None:
    found = manifest(run)
    assert found["operations"][-1] == "corrective_gate" and "gate_best" in found["feature_names"]
    assert found["evaluator"] and found["external"] and found["external_source"]["where"] == "half"
    assert found["rules"]["gate"]["budget"] == 4 and found["rules"]["gate"]["refinement"]["most"] == 12
    costs = dict(zip(found["operations"], found["expected_costs"]))
    assert costs["corrective_gate"]["evaluator_calls"] > 0
    judged = json.loads((run / "evaluator" / "manifest.json").read_text(encoding="utf-8"))["thresholds"]
    assert judged["lower"] <= judged["upper"] and "all of the support" in judged["criterion"]


def test_training_again_reads_what_is_there(run: Path) -> None:
    files = {file: file.read_bytes() for file in run.rglob("*.npz")}
    assert main(["train", "--config", "with_gate", *SMALL, *FAST, "--out", str(run)]) == 0
    assert files and files == {file: file.read_bytes() for file in run.rglob("*.npz")}


def test_rows_collected_with_another_evaluator_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = ["train", "--config", "with_gate", *SMALL, *FAST, "--out", str(run)]
    assert main([*again, "--thresholds", "[0.5, -0.5]"]) == 1
    assert "another evaluators" in capsys.readouterr().err
    assert main([*again, "--gate.budget", "2"]) == 1
    assert "another rules" in capsys.readouterr().err


def test_a_benchmark_compares_the_gate_with_crag_and_with_itself_without(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "benchmark"
    words = [
        "benchmark",
        "--config",
        "benchmark_gate",
        "--datasets",
        "[synthetic]",
        "--runs",
        str(run),
        "--out",
        str(out),
    ]
    assert main([*words, "--passages", "300", "--dev_questions", "6", "--baselines", "[crag, crag_2, uniform]"]) == 0
    results = [
        json.loads(line) for line in (out / "synthetic/free/crag.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {tuple(r["operations"]) for r in results} == {("retrieve_more", "corrective_gate", "stop_answer")}
    assert all(step["gate"]["scores"] for r in results for step in r["steps"] if step["operation"] == "corrective_gate")
    assert any("sources" in r for r in results)
    tables = (out / "summary.md").read_text(encoding="utf-8")
    assert "of them elsewhere" in tables
    disabled = (out / "synthetic/free_ablations/no_corrective_gate.jsonl").read_text(encoding="utf-8")
    assert '"gate"' not in disabled and '"operations"' in disabled


def test_a_trained_gate_needs_somewhere_to_search(
    run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = [
        "answer",
        "--corpus",
        str(DOCS / "example"),
        "--question",
        "Who directed The Glass Orchard?",
        "--run",
        str(run),
    ]
    assert main(words) == 1
    assert "--external.where" in capsys.readouterr().err
    (tmp_path / "more.txt").write_text("Ilse Varn directed The Glass Orchard in Kellermouth.", encoding="utf-8")
    assert main([*words, "--external.where", str(tmp_path)]) == 0
    assert "Answer:" in capsys.readouterr().out


def test_a_gate_without_an_evaluator_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--operations", "with_gate", "--out", str(tmp_path / "run")]) == 1
    assert "--evaluator fit" in capsys.readouterr().err


def test_calibrate_stores_thresholds_with_the_evaluator(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["calibrate", *SMALL[:6], "--out", str(tmp_path / "out")]
    copied = tmp_path / "evaluator"
    copied.mkdir()
    for file in (run / "evaluator").iterdir():
        os.link(file, copied / file.name)
    before = (copied / "manifest.json").read_bytes()
    assert main([*words, "--evaluator", str(copied), "--split", "dev", "--calibration.correct_error", "0.5"]) == 0
    assert "| all | correct |" in capsys.readouterr().out
    assert (copied / "manifest.json").read_bytes() != before
    assert (run / "evaluator" / "manifest.json").read_bytes() == before
    assert main([*words, "--evaluator", str(run / "evaluator"), "--split", "dev"]) == 1
    assert "belongs to a run" in capsys.readouterr().err
    for wanted in ("none", "packaged"):
        assert main([*words, "--evaluator", wanted]) == 1
        assert "--evaluator fit" in capsys.readouterr().err


def test_conformal_reports_coverage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["conformal", "--passages", "300", "--train_questions", "60", "--dev_questions", "10"]
    assert main([*words, "--answers", "false", "--conformal.alphas", "[0.2]", "--out", str(tmp_path)]) == 0
    assert "| 0.200 | 0.800 |" in capsys.readouterr().out
    assert list((tmp_path / "conformal").iterdir())


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "gate.md").read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, "docs/gate.md", "exec"), {"__name__": "__main__"})
    shown = capsys.readouterr().out
    assert "Gate: " in shown and " | " in shown


def test_a_run_without_a_gate_is_benchmarked_on_the_half_that_it_was_trained_on(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    words = ["--passages", "300", "--train_questions", "8", "--caps.steps", "2", "--collect.episodes", "1"]
    assert main(["train", "--config", "without_gate", *words, *FAST, "--out", str(run)]) == 0
    assert manifest(run)["external_source"]["where"] == "half" and "evaluator" not in manifest(run)
    asked = ["--datasets", "[synthetic]", "--baselines", "[fixed_4]", "--passages", "300", "--dev_questions", "8"]
    assert main(["benchmark", "--config", "benchmark_gate", "--runs", str(run), "--out", str(out), *asked]) == 0
    outside = {p.id for p in World(300, 1).passages() if lies_outside(p)}
    results = [json.loads(x) for x in (out / "synthetic/free/fixed_4.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {passage for result in results for passage, _ in result["passages"]}
    assert outside and found and not found & outside
