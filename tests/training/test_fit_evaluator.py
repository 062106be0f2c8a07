"""Fitting an evaluator: labels that are right, folds that keep questions apart, evaluators that are kept in a run."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest

from evidencegym.confidence.calibration import Judged
from evidencegym.confidence.calibration_settings import CalibrationSettings
from evidencegym.confidence.embedded import EmbeddedEvaluator
from evidencegym.confidence.features import FEATURES, Reader
from evidencegym.confidence.strips import strips_of
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.records import Gold, Hop, Passage, Question, Record
from evidencegym.data.splits import fold_of
from evidencegym.training import fit_evaluator
from evidencegym.training.calibrate import calibrate_folder, judgements
from evidencegym.training.evaluator_rows import evaluator_rows, strip_labels
from evidencegym.training.evaluators import NO_EVALUATORS, Evaluators, prepare_evaluators
from evidencegym.training.fit_evaluator import EvaluatorSettings, cross_fit_evaluator
from tests.confidence.small_evaluators import FITTING, cross_fitted, world_records, world_retriever
from tests.small_world import passages, records, retriever

# Labels

FILM = Passage.of("Grey Lantern", ("It is a film.", "Mira Solt made it.", "It was shot near a bay.", "It is long."))
SAME = Passage.of("Grey Lantern", ("Another text.", "Of the same title.", "Third.", "Fourth."))
BAY = Passage.of("Halden Bay", ("Halden Bay is a bay.", "Mira Solt swam there.", "It is deep.", "It is cold."))


def labels(gold: Gold, *documents: Passage) -> list[bool]:
    return strip_labels(gold, [strip for document in documents for strip in strips_of(document, 1)])


def test_strips_with_a_supporting_sentence_are_support() -> None:
    gold = Gold("1", ("a",), ("Grey Lantern",), supporting_facts=(("Grey Lantern", 1), ("Halden Bay", 0)))
    assert labels(gold, FILM, BAY) == [False, True, False, False] + [False] * 4


def test_where_facts_point_outside_the_document_every_strip_counts() -> None:
    gold = Gold("1", ("a",), ("Grey Lantern",), supporting_facts=(("Grey Lantern", 40),))
    assert labels(gold, FILM, BAY) == [True] * 4 + [False] * 4


def test_without_facts_strips_that_speak_of_the_answer_to_their_step_are_support() -> None:
    steps = (Hop("Who made Grey Lantern?", "Mira Solt", FILM.id), Hop("Where?", "nowhere", BAY.id))
    gold = Gold("1", ("a",), support_ids=(FILM.id, BAY.id), match_support_by="id", decomposition=steps)
    assert labels(gold, FILM, SAME, BAY) == [False, True, False, False] + [False] * 4 + [True] * 4


def test_rows_are_those_of_context_prefixes_and_strips() -> None:
    record = records()[0]
    context = tuple(passages()[title] for title in ("Ilona Varga", "Northern Lamp", "The Amber Gate"))
    made = evaluator_rows(replace(record, context=context), Reader(retriever()), retriever(), (1, 4))
    strips = [strip for document in context for strip in strips_of(document)]
    assert len(made.rows) == len(made.support) == 3 + 1 + 4 + len(strips) and made.rows.shape[1] == len(FEATURES)
    assert made.support[:4].tolist() == [True, False, True, True]
    assert [len(evidence.rows) for evidence in made.evidence] == [1, 4]
    assert [(own.judged.held, own.judged.wanted) for own in made.evidence] == [(1, 2), (2, 2)]
    assert made.rows[3:4].tobytes() == made.evidence[0].rows.tobytes()


def test_a_question_without_annotated_support_calibrates_nothing_and_one_without_gold_is_refused() -> None:
    bare = Record(Question.of("Who?"), Gold("x", ("a",)))
    assert evaluator_rows(bare, Reader(retriever()), retriever(), (3,)).evidence == ()
    with pytest.raises(ConfigError, match="without gold"):
        evaluator_rows(Record(bare.question), Reader(retriever()), retriever(), (3,))


# Folds


def test_every_model_and_every_threshold_sees_the_rows_of_other_folds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows carry the number of their question's fold; each fit, and each score, is watched."""
    folds = {r.id: fold_of(r.id, FITTING.folds, 0) for r in world_records()}
    fitted: list[set[int]] = []
    judged: list[dict[int, set[int]]] = []

    def marked(record: Record, *arguments: Any) -> fit_evaluator.EvaluatorRows:
        rows = evaluator_rows(record, *arguments)
        own = tuple(replace(e, rows=np.full_like(e.rows, folds[record.id])) for e in rows.evidence)
        return rows._replace(rows=np.full_like(rows.rows, folds[record.id]), evidence=own)

    class Watched:
        """Knows what it was fitted to; its scores tell."""

        def __init__(self, rows: Sequence[fit_evaluator.EvaluatorRows], *_: Any) -> None:
            self.seen = {int(value) for own in rows for value in np.unique(own.rows)}
            fitted.append(self.seen)

        def scores(self, rows: np.ndarray) -> tuple[float, ...]:  # type: ignore[type-arg]
            own = set(np.unique(rows).tolist())
            assert not own & self.seen, "was fitted on it"
            return tuple(0.001 * sum(1 << fold for fold in self.seen) for _ in rows)

    def calibrate(cases: Sequence[Judged], *_: Any) -> str:
        seen: dict[int, set[int]] = {}
        for one in cases:
            bits = round(max(one.scores) * 1000)
            own = folds[one.question.split("#")[0]]
            seen.setdefault(own, set()).update(fold for fold in range(3) if bits >> fold & 1)
        judged.append(seen)
        return "calibration"

    monkeypatch.setattr(fit_evaluator, "evaluator_rows", marked)
    monkeypatch.setattr(fit_evaluator, "_model", Watched)
    monkeypatch.setattr(fit_evaluator, "calibrate", calibrate)
    made = cross_fit_evaluator(world_records(), world_retriever(), FITTING, 0)
    assert fitted == [{1, 2}, {0, 2}, {0, 1}, {0, 1, 2}, {2}, {1}, {0}]
    # The thresholds at inference: each fold is scored by the model without it. Those of fold 0's evaluator: fold 1 by
    # the model that saw fold 2 alone, and the other way round, so that fold 0 is nowhere in them.
    assert judged[0] == {0: {1, 2}, 1: {0, 2}, 2: {0, 1}}
    assert judged[1:] == [{1: {2}, 2: {1}}, {0: {2}, 2: {0}}, {0: {1}, 1: {0}}]
    for record in world_records():
        assert made.for_record(record.id).model.seen == {0, 1, 2} - {folds[record.id]}  # type: ignore[attr-defined]


def test_the_gold_of_a_question_changes_nothing_of_the_evaluator_that_judges_it() -> None:
    """Neither model nor thresholds of its fold may move when its gold does; the others must."""
    changed = list(world_records())
    gold, other = changed[0].gold, changed[1].gold
    assert gold is not None and other is not None
    changed[0] = replace(changed[0], gold=replace(gold, support_ids=other.support_ids))
    before, after = cross_fitted(), cross_fit_evaluator(changed, world_retriever(), FITTING, 0)
    own = fold_of(gold.id, FITTING.folds, 0)
    for fold, (a, b) in enumerate(zip(before.folds, after.folds)):
        assert (a.model.fingerprint == b.model.fingerprint) == (fold == own)
        assert (a.calibration.summary() == b.calibration.summary()) == (fold == own)
    assert before.full.model.fingerprint != after.full.model.fingerprint


def test_one_seed_is_one_evaluator() -> None:
    again = cross_fit_evaluator(world_records(), world_retriever(), FITTING, 0)
    assert [f.model.fingerprint for f in again.folds] == [f.model.fingerprint for f in cross_fitted().folds]
    assert again.full.calibration.thresholds == cross_fitted().full.calibration.thresholds


def test_progress_is_told() -> None:
    seen: list[tuple[str, int, int]] = []
    cross_fit_evaluator(world_records()[:12], world_retriever(), FITTING, 0, lambda *call: seen.append(call))
    assert seen[11] == ("evaluator, rows", 12, 12) and seen[-1] == ("evaluator, models", 7, 7)


@pytest.mark.parametrize("asked", [[], world_records()[:1]])
def test_too_few_questions_are_refused(asked: list[Record]) -> None:
    with pytest.raises(ConfigError, match="at least three of 5 folds"):
        cross_fit_evaluator(asked, world_retriever(), EvaluatorSettings(), 0)


@pytest.mark.parametrize("wrong", [{"folds": 2}, {"bags": 0}, {"trees": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="evaluator_fit"):
        EvaluatorSettings(**wrong)  # type: ignore[arg-type]


# Evaluators of a run


def prepared(
    run: Path, wanted: str = "fit", seed: int = 0, fitting: EvaluatorSettings = FITTING, given: Thresholds | None = None
) -> Evaluators:
    return prepare_evaluators(wanted, world_records(), world_retriever(), run, fitting, seed, given=given)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    prepared(folder)
    return folder


def test_a_run_keeps_its_evaluators_and_gives_each_question_its_fold(run: Path) -> None:
    times = {file: file.stat().st_mtime_ns for file in run.rglob("*.npz")}
    assert len(times) == 1 + FITTING.folds
    again = prepared(run)
    assert {file: file.stat().st_mtime_ns for file in run.rglob("*.npz")} == times
    assert again.full is not None
    for record in world_records():
        fitted = cross_fitted().for_record(record.id)
        expected = EmbeddedEvaluator(fitted.model, world_retriever(), fitted.calibration.thresholds)
        own = again.of(record)
        assert own is not None and own.fingerprint == expected.fingerprint != again.full.fingerprint


def test_what_was_fitted_says_what_it_was_fitted_on_and_how(run: Path) -> None:
    manifest = json.loads((run / "evaluator" / "manifest.json").read_text())
    assert manifest["kind"] == "evaluator" and manifest["type"] == "embedded" and manifest["seed"] == 0
    thresholds = manifest["thresholds"]
    assert thresholds["questions"] == manifest["questions"] and thresholds["out_of_fold"] is True
    assert thresholds["lower"] <= thresholds["upper"] and len(thresholds["measured"]) >= 3
    assert thresholds["settings"]["correct_means"] == "relevant"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 1}, "another seed"),
        ({"fitting": replace(FITTING, trees=14)}, "another settings"),
        ({"fitting": replace(FITTING, calibration=CalibrationSettings("complete"))}, "another settings"),
    ],
)
def test_evaluators_fitted_otherwise_are_refused(changed: dict[str, Any], message: str, run: Path) -> None:
    with pytest.raises(ManifestMismatchError, match=message):
        prepared(run, **changed)


def test_evaluators_of_other_questions_or_another_corpus_are_refused(run: Path) -> None:
    with pytest.raises(ManifestMismatchError, match="another questions"):
        prepare_evaluators("fit", world_records()[:-1], world_retriever(), run, FITTING, 0)
    with pytest.raises(ManifestMismatchError, match="another retriever"):
        prepare_evaluators("fit", world_records(), retriever(), run, FITTING, 0)


def test_a_run_that_was_interrupted_is_fitted_again(run: Path, tmp_path: Path) -> None:
    prepared(tmp_path)
    whole = (tmp_path / "evaluator" / "manifest.json").read_bytes()
    rmtree(tmp_path / "evaluator")
    prepared(tmp_path)
    assert (tmp_path / "evaluator" / "manifest.json").read_bytes() == whole
    assert whole == (run / "evaluator" / "manifest.json").read_bytes()


def test_none_and_a_saved_one_serve_all_questions(run: Path, tmp_path: Path) -> None:
    assert prepared(tmp_path, "none") is NO_EVALUATORS and NO_EVALUATORS.of(world_records()[0]) is None
    saved = prepared(tmp_path, str(run / "evaluator"))
    assert saved.full is saved.of(world_records()[0]) and saved.full is not None
    with pytest.raises(DataError):
        prepared(tmp_path, str(tmp_path / "missing"))


def test_a_saved_one_without_thresholds_is_refused_unless_some_are_given(tmp_path: Path) -> None:
    cross_fitted().full.model.save(tmp_path / "bare")
    with pytest.raises(ConfigError, match="evidencegym calibrate"):
        prepared(tmp_path, str(tmp_path / "bare"))
    allowed = prepared(tmp_path, str(tmp_path / "bare"), given=Thresholds(0.5, -0.5))
    assert allowed.full is not None and allowed.full.thresholds == Thresholds(0.5, -0.5)


def test_given_thresholds_serve_every_fold(run: Path) -> None:
    given = prepared(run, given=Thresholds(0.5, -0.5))
    assert {own.thresholds for record in world_records() if (own := given.of(record))} == {Thresholds(0.5, -0.5)}


# Calibrating a saved one


def test_a_saved_evaluator_is_calibrated_on_other_questions(tmp_path: Path) -> None:
    cross_fitted().full.model.save(tmp_path / "e", {"questions": "others"})
    settings = CalibrationSettings(depths=(2, 5))
    made = calibrate_folder(tmp_path / "e", world_records()[:12], world_retriever(), settings)
    stored = json.loads((tmp_path / "e" / "manifest.json").read_text())["thresholds"]
    assert (stored["upper"], stored["lower"]) == tuple(made.thresholds)
    assert sum(row.cases for row in made.table if not row.type) == 24 and stored["settings"]["depths"] == [2, 5]
    loaded = prepared(tmp_path, str(tmp_path / "e")).full
    assert loaded is not None and loaded.thresholds == made.thresholds


def test_the_questions_that_it_was_fitted_on_are_refused(run: Path) -> None:
    with pytest.raises(ConfigError, match="was fitted on these questions"):
        calibrate_folder(run / "evaluator", world_records(), world_retriever(), CalibrationSettings())


def test_judgements_are_scored_prefixes_of_the_question_s_own_search() -> None:
    evaluator = EmbeddedEvaluator(cross_fitted().full.model, world_retriever())
    unlabelled = [Record(Question.of("Who?")), Record(Question.of("Who?"), Gold("x", ("a",)))]
    judged = judgements(evaluator, [*world_records()[:3], *unlabelled], world_retriever(), (2, 4))
    assert [(one.question, len(one.scores)) for one in judged] == [
        (record.uid, depth) for record in world_records()[:3] for depth in (2, 4)
    ]
    assert all(-1 <= score <= 1 for one in judged for score in one.scores)
