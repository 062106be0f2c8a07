"""Fitting: same seed, same bytes; folds that have not seen their questions; bodies of evidence to fit on."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.data.splits import fold_of
from evidencegym.data.support_scores import support_recall
from evidencegym.data.world import World
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.generation.fit import CrossFitted, Example, cross_fit, fit, training_examples
from evidencegym.generation.fit_default import main
from evidencegym.generation.tasks import AnswerTask, JudgeTask
from evidencegym.retrieval.bm25 import BM25Retriever

FOLDS, SEED = 2, 3


@pytest.fixture(scope="module")
def world() -> World:
    return World(300, seed=8)


@pytest.fixture(scope="module")
def retriever(world: World) -> BM25Retriever:
    return BM25Retriever.build(world.passages())


@pytest.fixture(scope="module")
def records(world: World) -> list[Record]:
    return list(world.questions(10))


@pytest.fixture(scope="module")
def examples(records: list[Record], retriever: BM25Retriever) -> list[Example]:
    return training_examples(records, retriever, SEED)


@pytest.fixture(scope="module")
def fitted(examples: list[Example]) -> CrossFitted:
    return cross_fit(examples, FOLDS, SEED)


def of_fold(example: Example, fold: int) -> bool:
    return fold_of(example.gold.id, FOLDS, SEED) == fold


def spoiled(examples: Sequence[Example], fold: int) -> list[Example]:
    """Give the questions of a fold another answer, other support and other steps."""
    return [
        replace(
            e,
            gold=replace(e.gold, answers=("nonsense",), support_ids=("f" * 16,), supporting_facts=(), decomposition=()),
        )
        if of_fold(e, fold)
        else e
        for e in examples
    ]


def test_the_same_seed_gives_the_same_arrays(examples: list[Example], fitted: CrossFitted) -> None:
    assert fit(examples, SEED).fingerprint == fitted.full.fingerprint
    assert fit(examples, SEED + 1).fingerprint != fitted.full.fingerprint


def test_gold_of_a_fold_never_reaches_the_model_that_serves_it(examples: list[Example], fitted: CrossFitted) -> None:
    assert 0 < sum(of_fold(e, 0) for e in examples) < len(examples)
    other = cross_fit(spoiled(examples, 0), FOLDS, SEED)
    assert other.folds[0].fingerprint == fitted.folds[0].fingerprint
    assert other.folds[1].fingerprint != fitted.folds[1].fingerprint
    assert other.full.fingerprint != fitted.full.fingerprint


def test_a_record_is_served_by_the_model_without_it(fitted: CrossFitted, records: list[Record]) -> None:
    for record in records:
        assert fitted.for_record(record.id) is fitted.folds[fold_of(record.id, FOLDS, SEED)]


def test_a_saved_cross_fit_is_equal(fitted: CrossFitted, tmp_path: Path) -> None:
    fitted.save(tmp_path / "c")
    copy = CrossFitted.load(tmp_path / "c")
    assert [g.fingerprint for g in (copy.full, *copy.folds)] == [g.fingerprint for g in (fitted.full, *fitted.folds)]
    assert copy.seed == SEED
    with pytest.raises(ManifestMismatchError):
        CrossFitted.load(tmp_path / "c" / "full")


def test_nothing_to_fit_on_is_an_error() -> None:
    with pytest.raises(DataError, match="at least one training example"):
        fit([], SEED)
    with pytest.raises(DataError, match="at least one training example"):
        fit([Example("Who?", (), Gold("x", ("y",)))], SEED)


def test_folds_below_one_are_an_error(examples: list[Example]) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        cross_fit(examples[:4], 0, SEED)


def test_one_question_is_enough_to_fit_something_that_answers(examples: list[Example]) -> None:
    first = [e for e in examples if e.question == examples[0].question]
    generator = fit(first, SEED)
    generator.answer([AnswerTask(e.question, e.passages) for e in first])
    verdicts = generator.judge_sufficiency([JudgeTask(e.question, e.passages) for e in first])
    assert all(v.sufficient or v.missing for v in verdicts)


def test_examples_hold_sufficient_and_insufficient_bodies(records: list[Record], examples: list[Example]) -> None:
    recall = np.array([support_recall(e.gold, e.passages) for e in examples])
    assert 0.1 < np.mean(recall == 1.0) < 0.9
    assert 4 * len(records) <= len(examples) <= 9 * len(records)
    bodies = [(e.question, tuple(p.id for p in e.passages)) for e in examples]
    assert len(set(bodies)) == len(bodies)
    for record in records:
        own = [e.passages for e in examples if e.question == record.question.text]
        assert record.context in own


def test_examples_follow_the_seed(records: list[Record], retriever: BM25Retriever, examples: list[Example]) -> None:
    assert training_examples(records, retriever, SEED) == examples
    assert training_examples(records, retriever, SEED + 1) != examples


def test_records_without_gold_are_passed_over(retriever: BM25Retriever) -> None:
    record = Record(Question.of("Who?"), None, (Passage.of("A", ["b"]),))
    assert training_examples([record], retriever, SEED) == []


def test_the_script_of_the_packaged_generator_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--output", str(tmp_path / "d"), "--passages", "300", "--questions", "6"])
    assert ExtractiveGenerator.load(tmp_path / "d").fingerprint in capsys.readouterr().out
