"""The report on conformal confidence: on the synthetic world, with a generator that shows what it reads."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from evidencegym.actions.engine import Engine
from evidencegym.confidence.chunks import calibration_records
from evidencegym.confidence.conformal import Calibration
from evidencegym.confidence.conformal_settings import ConformalSettings
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Record
from evidencegym.data.splits import fold_of
from evidencegym.data.world import World
from evidencegym.eval.conformal_report import ConformalReport, calibrations_of, conformal_report
from evidencegym.eval.report_analysis import read_analysis
from evidencegym.generation.tasks import Answer, AnswerTask, Failed
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.fakes import OverlapGenerator

SETTINGS = ConformalSettings(k=6, answer_questions=30)


class Titles(OverlapGenerator):
    """Answers with the titles it was shown; fails where it was shown none."""

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer | Failed]:  # type: ignore[override]
        return [
            Answer(" ".join(p.title for p in task.passages)) if task.passages else Failed("nothing to read")
            for task in tasks
        ]


@lru_cache(maxsize=1)
def ground() -> tuple[BM25Retriever, list[Record], list[Record]]:
    world = World(600, 1)
    train, dev = (list(world.questions(count, split)) for count, split in ((150, "train"), (60, "dev")))
    return BM25Retriever.build(world.passages()), train, dev


@lru_cache(maxsize=1)
def report() -> ConformalReport:
    retriever, train, dev = ground()
    return conformal_report(retriever, train, dev, SETTINGS, 0, Engine(retriever, Titles()))


def test_each_alpha_has_a_row_and_coverage_is_as_expected() -> None:
    rows = report().coverage.rows
    assert [row["alpha"] for row in rows] == SETTINGS.alphas
    assert all(row["covered"] and row["coverage"] >= row["expected"] - 1.96 * row["error"] for row in rows)
    assert [row["m2"] for row in rows] == sorted((row["m2"] for row in rows), reverse=True)
    assert all(row["error"] > (row["coverage_high"] - row["coverage_low"]) / 4 for row in rows)


def test_the_first_fold_gives_the_bounds_and_the_others_calibrate() -> None:
    retriever, train, _ = ground()
    used = calibration_records(train)
    apart = [record for record in used if fold_of(record.id, SETTINGS.folds, 0) == 0]
    found = calibrations_of(retriever, train, SETTINGS)[0]
    scores = [h.score for own in retriever.search([r.question.text for r in apart], SETTINGS.k) for h in own]
    assert found.bounds == (min(scores), max(scores))
    assert found.diagnostics.questions == len(used) - len(apart) < len(train)
    assert found.fingerprint == retriever.fingerprint and found.k == SETTINGS.k


def test_answers_from_trusted_chunks_against_all() -> None:
    found = report().answers
    assert found is not None
    for row in found.rows:
        assert row["questions"] == 30 and row["chunks_all"] == 6
        assert 0 < row["chunks"] < 6
        assert row["f1_difference"] == pytest.approx(row["f1"] - row["f1_all"])
    same = [row["agreement"] for row in found.rows]
    assert same == sorted(same, reverse=True) and same[-1] < 1


def test_the_two_answers_agree_where_the_only_chunk_is_trusted_and_fail_elsewhere() -> None:
    retriever, train, dev = ground()
    settings = ConformalSettings(k=1, alphas=[0.3], answer_questions=20)
    found = conformal_report(retriever, train, dev, settings, 0, Engine(retriever, Titles())).answers
    assert found is not None
    [row] = found.rows
    assert 0 < row["chunks"] < 1 and row["agreement"] == pytest.approx(row["chunks"])
    assert row["failed"] == round(20 * (1 - row["chunks"]))


def test_a_retriever_that_finds_too_little_is_refused_with_the_reason() -> None:
    retriever, train, dev = ground()
    settings = ConformalSettings(k=1, alphas=[0.05])
    lost = BM25Retriever.build([p for p in retriever.passages if p.id[0] in "01234567"])
    [row] = conformal_report(lost, train, dev, settings).coverage.rows
    assert row["refusal"].startswith("on the calibration questions a correct chunk is among those retrieved for 0.")
    assert row["reachable_upper"] < 0.95


def test_without_an_engine_nothing_is_answered() -> None:
    retriever, train, dev = ground()
    found = conformal_report(retriever, train, dev, SETTINGS)
    assert found.answers is None and found.analyses == (found.coverage,)
    assert found.coverage == report().coverage


def test_dev_questions_must_not_be_calibrated_on() -> None:
    retriever, train, dev = ground()
    with pytest.raises(ConfigError, match="1 on both sides"):
        conformal_report(retriever, train, [*dev, train[0]], SETTINGS)
    with pytest.raises(ConfigError, match="hold none with an answer and support"):
        conformal_report(retriever, train, [], SETTINGS)


def test_too_few_questions_say_how_many_are_needed() -> None:
    retriever, train, dev = ground()
    with pytest.raises(ConfigError, match=r"alpha 0\.01 needs at least 99 correct chunks"):
        conformal_report(retriever, train[:40], dev, ConformalSettings(k=1, alphas=[0.01]))


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    report().write(tmp_path)
    for analysis in report().analyses:
        assert read_analysis(tmp_path / f"{analysis.name}.json").as_dict() == analysis.as_dict()
    text = (tmp_path / "conformal.md").read_text()
    assert text == report().markdown() and text.count("| 0.050 |") == 2
    for made in report().calibrations:
        folder = tmp_path / "calibrations" / f"alpha-{made.alpha}"
        assert Calibration.load(folder, ground()[0].fingerprint) == made
        assert json.loads((folder / "manifest.json").read_text())["k"] == 6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "conformal.k must be at least 1"),
        ({"folds": 1}, "conformal.folds must be at least 2"),
        ({"answer_questions": -1}, "at least 0"),
        ({"alphas": []}, "different numbers between 0 and 1"),
        ({"alphas": [0.1, 0.1]}, "different numbers"),
        ({"alphas": [1.0]}, "between 0 and 1"),
        ({"beta": 1.2}, "conformal.beta must be in"),
    ],
)
def test_settings_out_of_range(given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ConformalSettings(**given)  # type: ignore[arg-type]
