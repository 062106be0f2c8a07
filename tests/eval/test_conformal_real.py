"""Conformal confidence on a benchmark's official files, where they are at hand."""

from collections.abc import Callable
from pathlib import Path

from evidencegym.confidence.conformal_settings import ConformalSettings
from evidencegym.envs.build import build_retriever, load_records
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.conformal_report import conformal_report


def test_musique_is_covered_with_ten_chunks_and_refused_with_one(real_data: Callable[[str], Path]) -> None:
    real_data("musique/musique_ans_v1.0_train.jsonl.gz")
    folder = real_data("musique/musique_ans_v1.0_dev.jsonl.gz").parents[1]
    task = TaskSettings(dataset="musique", data=folder)
    train, dev, retriever = load_records(task, "train"), load_records(task, "dev"), build_retriever(task)
    for row in conformal_report(retriever, train, dev, ConformalSettings()).coverage.rows:
        assert row["covered"] and not row["refusal"]
    for row in conformal_report(retriever, train, dev, ConformalSettings(k=1)).coverage.rows:
        assert row["refusal"].startswith("on the calibration questions")
        assert row["reachable_upper"] < row["expected"]
