"""Calibrations: who is trusted, when filtering is refused, and what is saved."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.confidence.clustered import Share
from evidencegym.confidence.conformal import Calibration, calibrate
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.records import Passage
from evidencegym.retrieval.base import Hit
from tests.confidence.made_chunks import ENDS, drawn, made


def calibration(alpha: float = 0.1, correct: int = 2, seed: int = 0, questions: int = 200) -> Calibration:
    random = np.random.default_rng(seed)
    return calibrate(drawn(random, questions, "q", correct), ENDS, alpha, 5, "bm25 of a corpus")


def hits(*scores: float) -> list[Hit]:
    return [Hit(Passage.of(str(place), ("x",)), score, place) for place, score in enumerate(scores)]


def test_a_chunk_at_the_threshold_is_trusted() -> None:
    scores = [float(n) / 7 for n in range(1, 40)]
    questions = [made(str(n), [score, 0.0], [True, False]) for n, score in enumerate(scores)]
    found = calibrate(questions, ENDS, 0.1, 5, "x")
    at = sorted(scores, reverse=True)[36 - 1]
    assert found.trusts([np.nextafter(at, 0), at, np.nextafter(at, 9)]) == (False, True, True)
    assert found.q_hat == pytest.approx(1 - at / 30)
    assert found.chunks == 39 and not found.refusal


def test_coverage_on_other_questions_is_as_promised() -> None:
    random = np.random.default_rng(4)
    found = calibration(questions=500)
    report = found.diagnose(drawn(random, 4000, "new", correct=2))
    assert report.coverage.share == pytest.approx(0.9, abs=0.04)
    assert report.coverage.low <= found.q_hat <= report.coverage.high
    assert report.m2.share == pytest.approx(found.q_hat, abs=0.02)
    assert report.m1.share == pytest.approx(1 - found.threshold**5, abs=0.02)
    assert report.precision.share == pytest.approx(2 / 5, abs=0.02)
    assert report.reachable == Share(1.0, 1.0, 1.0, 0.0)


def test_only_overlapping_chunks_of_right_documents_are_correct() -> None:
    apart = [made("apart", [0.0, 30.0], [False, False], [0.0, 0.4])]
    questions = [made(str(n), [20.0 + n % 2, 5.0], [True, True], [0.5, 0.1]) for n in range(40)]
    found = calibrate(questions, apart, 0.1, 2, "x", beta=1.0)
    assert found.least_overlap == pytest.approx(0.4) and found.chunks == 40
    assert found.trusts([20.0, 5.0]) == (True, False)
    decided = calibrate(questions, apart, 0.1, 2, "x")
    assert decided.least_overlap == 0 and decided.chunks == 80
    assert decided.trusts([20.0, 5.0]) == (True, True)


def test_filtering_keeps_the_trusted_hits_in_order() -> None:
    found = calibration()
    least = found.threshold * 30
    given = hits(least + 1, least - 1, least + 0.5)
    assert found.filtered(given) == [given[0], given[2]]
    with pytest.raises(ConfigError, match="calibrated for 5 chunks a question, found 6"):
        found.filtered(hits(1, 2, 3, 4, 5, 6))


def test_filtering_is_refused_where_correct_chunks_are_not_found() -> None:
    random = np.random.default_rng(0)
    questions = [*drawn(random, 80, "good"), *drawn(random, 20, "lost", correct=0)]
    found = calibrate(questions, ENDS, 0.1, 5, "x")
    assert found.diagnostics.reachable.share == 0.8 and found.diagnostics.reachable_upper < 0.9
    assert found.refusal.startswith("a correct chunk is among those retrieved for 0.800 of the questions")
    assert "below 0.9" in found.refusal and ";" not in found.refusal
    with pytest.raises(ConfigError, match=r"filtering at alpha 0.1 is refused: a correct chunk"):
        found.filtered(hits(29.0))


def test_few_questions_that_fail_do_not_suffice_to_refuse() -> None:
    random = np.random.default_rng(0)
    questions = [*drawn(random, 17, "good"), *drawn(random, 3, "lost", correct=0)]
    found = calibrate(questions, ENDS, 0.1, 5, "x")
    assert found.diagnostics.reachable.share == 0.85 and not found.refusal


def test_filtering_is_refused_where_questions_are_left_without_a_trusted_chunk() -> None:
    found = calibration(alpha=0.2, questions=400)
    far = [made(str(n), [1.0, 2.0], [True, False]) for n in range(20)]
    near = [made(f"near{n}", [29.0, 2.0], [True, False]) for n in range(20)]
    assert not found.diagnose(near).refusal(0.2)
    reason = found.diagnose([*near, *far]).refusal(0.2)
    assert reason.startswith("some chunk is trusted (m1) for 0.500 of the questions, at most 0.6")


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 19), (0.01, 99)])
def test_too_few_correct_chunks(alpha: float, least: int) -> None:
    random = np.random.default_rng(0)
    assert calibrate(drawn(random, least, "q"), ENDS, alpha, 5, "x").chunks == least
    with pytest.raises(ConfigError, match=f"needs at least {least} correct chunks to calibrate on, found {least - 1}"):
        calibrate(drawn(random, least - 1, "q"), ENDS, alpha, 5, "x")


def test_bounds_come_from_other_questions() -> None:
    questions = drawn(np.random.default_rng(0), 30, "q")
    with pytest.raises(ConfigError, match="1 on both sides: q3"):
        calibrate(questions, [*ENDS, questions[3]], 0.1, 5, "x")


def test_more_chunks_than_k() -> None:
    with pytest.raises(ConfigError, match="at most 4 chunks a question, found 5"):
        calibrate(drawn(np.random.default_rng(0), 30, "q"), ENDS, 0.1, 4, "x")


def test_a_saved_calibration_is_the_same(tmp_path: Path) -> None:
    made_ = calibration()
    made_.save(tmp_path / "c")
    first = (tmp_path / "c" / "manifest.json").read_bytes()
    assert Calibration.load(tmp_path / "c", "bm25 of a corpus") == made_
    calibration().save(tmp_path / "c")
    assert (tmp_path / "c" / "manifest.json").read_bytes() == first
    manifest = json.loads(first)
    assert manifest["kind"] == "conformal" and manifest["refusal"] == ""
    assert manifest["q_hat"] == pytest.approx(1 - manifest["threshold"])


def test_a_share_of_nothing_is_saved(tmp_path: Path) -> None:
    made_ = calibration()
    nothing = Share(*[float("nan")] * 4)
    made_ = replace(made_, diagnostics=replace(made_.diagnostics, precision=nothing))
    made_.save(tmp_path / "c")
    assert "NaN" not in (tmp_path / "c" / "manifest.json").read_text()
    assert np.isnan(Calibration.load(tmp_path / "c", "bm25 of a corpus").diagnostics.precision).all()


def test_a_calibration_serves_no_other_scores(tmp_path: Path) -> None:
    calibration().save(tmp_path / "c")
    with pytest.raises(ManifestMismatchError, match="for scores of bm25 of a corpus, found dense"):
        Calibration.load(tmp_path / "c", "dense")


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": 1.5},
        {"threshold": "high"},
        {"threshold": None},
        {"bounds": [3.0]},
        {"bounds": [3.0, 1.0]},
        {"alpha": 0},
        {"diagnostics": {}},
        {"diagnostics": None},
        {"format": 99},
        {"kind": "forest"},
    ],
)
def test_a_damaged_manifest(tmp_path: Path, changes: dict[str, object]) -> None:
    calibration().save(tmp_path / "c")
    file = tmp_path / "c" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(ManifestMismatchError):
        Calibration.load(tmp_path / "c", "bm25 of a corpus")


def test_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="saved conformal"):
        Calibration.load(tmp_path / "none", "x")


def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not a saved conformal"):
        calibration().save(tmp_path)
