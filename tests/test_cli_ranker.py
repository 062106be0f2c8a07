"""A run with a ranker, from training to an answer."""

import json
from pathlib import Path
from shutil import rmtree

import pytest

from evidencegym import cli

SMALL = ["--passages", "300", "--train_questions", "20", "--dev_questions", "6", "--ranker", "fit"]
FIT = ["--ranker_fit.rounds", "1", "--ranker_fit.trees", "10", "--fit.trees", "10", "--fit.jobs", "1"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    assert cli.main(["train", "--out", str(out), *SMALL, *FIT]) == 0
    return out


def test_it_is_evaluated_and_answers(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (run / "ranker" / "manifest.json").exists()
    assert len(list((run / "ranker_folds").iterdir())) == 5
    assert cli.main(["evaluate", "--out", str(run), *SMALL]) == 0
    assert (run / "evaluation" / "equal" / "learned.jsonl").exists()
    (tmp_path / "film.txt").write_text("The Glass Orchard\n\nIt is a 1987 film directed by Ilse Varn.")
    (tmp_path / "director.txt").write_text("Ilse Varn\n\nShe was a film director, born in Kellermouth.")
    capsys.readouterr()
    question = "Where was the director of The Glass Orchard born?"
    assert cli.main(["answer", "--corpus", str(tmp_path), "--question", question, "--run", str(run)]) == 0
    assert "Ilse Varn" in capsys.readouterr().out


def test_a_run_from_before_gets_its_floor_by_the_same_command(run: Path) -> None:
    folder = run / "ranker" / "floor"
    made = (folder / "manifest.json").read_bytes()
    rmtree(folder)
    assert cli.main(["train", "--out", str(run), *SMALL, *FIT]) == 0
    assert (folder / "manifest.json").read_bytes() == made
    assert json.loads(made)["measured"][0]["floor"] == 0.0


def test_a_ranker_fitted_otherwise_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "--out", str(run), *SMALL, *FIT, "--ranker_fit.stray", "0.1"]) == 1
    assert "ranker fitted with another settings" in capsys.readouterr().err
