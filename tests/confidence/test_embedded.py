"""The embedded evaluator: scores, determinism, saved models."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.embedded import EmbeddedEvaluator, EvaluatorModel
from evidencegym.confidence.files import load_evaluator
from evidencegym.confidence.strips import strips_of
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.data.records import Passage
from evidencegym.data.world import World
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.confidence.small_evaluators import cross_fitted, evaluator, tasks, world_records, world_retriever


def test_each_text_has_a_score_in_its_range() -> None:
    for task, scores in zip(tasks(), evaluator().score(tasks())):
        assert len(scores) == len(task.texts) and all(-1 <= score <= 1 for score in scores)
    assert evaluator().score([]) == []


def test_scores_depend_on_nothing_but_the_task() -> None:
    asked = tasks()
    together = evaluator().score(asked)
    one = evaluator()
    assert [one.score([task])[0] for task in reversed(asked)] == together[::-1]
    assert pickle.loads(pickle.dumps(one)).score(asked) == together


def test_support_scores_above_the_rest_out_of_fold() -> None:
    support: list[float] = []
    rest: list[float] = []
    for record in world_records():
        assert record.gold is not None
        judge = EmbeddedEvaluator(cross_fitted().for_record(record.id).model, world_retriever())
        [hits] = world_retriever().search([record.question.text], 12)
        texts = tuple(hit.passage for hit in hits)
        [scores] = judge.score([EvaluateTask(record.question.text, record.question.key, texts)])
        for text, score in zip(texts, scores):
            (support if text.id in record.gold.support_ids else rest).append(score)
    assert np.mean(support) > np.mean(rest) + 0.5


def test_a_telling_strip_scores_above_one_of_another_document() -> None:
    """The world's questions name what their first document is about; a strip of it beats all strips of a stranger."""
    better = 0
    for record in world_records():
        assert record.gold is not None
        held = {p.id: p for p in World(300, 3).passages()}
        gold = [held[support] for support in record.gold.support_ids]
        [hits] = world_retriever().search([record.question.text], 12)
        others = [hit.passage for hit in hits if hit.passage.id not in record.gold.support_ids][-2:]
        documents = (*gold, *others)
        strips = [strip for document in documents for strip in strips_of(document, 1)]
        texts = tuple(strip.text for strip in strips)
        [scores] = evaluator().score([EvaluateTask(record.question.text, record.question.key, texts, documents)])
        best = {document.id: max(s for s, t in zip(scores, strips) if t.document == document) for document in documents}
        better += max(best[p.id] for p in gold) > max(best[p.id] for p in others)
    assert better >= 0.9 * len(world_records())


def test_one_model_is_one_file(tmp_path: Path) -> None:
    model = cross_fitted().full.model
    for folder in (tmp_path / "a", tmp_path / "b"):
        model.save(folder, {"seed": 0})
    for name in ("arrays.npz", "manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    loaded, thresholds = EvaluatorModel.load(tmp_path / "a")
    assert loaded.fingerprint == model.fingerprint and thresholds is None
    assert load_evaluator(tmp_path / "a", world_retriever()).score(tasks()) == evaluator().score(tasks())


def test_the_fingerprint_holds_model_thresholds_and_corpus() -> None:
    base, fitted = evaluator(), cross_fitted()
    others = [
        EmbeddedEvaluator(fitted.folds[0].model, world_retriever(), base.thresholds),
        EmbeddedEvaluator(fitted.full.model, world_retriever()),
        EmbeddedEvaluator(fitted.full.model, world_retriever(), Thresholds(0.9, -0.9)),
        EmbeddedEvaluator(fitted.full.model, BM25Retriever.build([Passage.of("A", ("a",))]), base.thresholds),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 5
    assert evaluator().fingerprint == base.fingerprint


@pytest.mark.parametrize(
    ("name", "value"), [("features", ["length"]), ("format", 0), ("kind", "ranker"), ("type", "t6")]
)
def test_another_kind_of_model_is_refused(name: str, value: object, tmp_path: Path) -> None:
    cross_fitted().full.model.save(tmp_path / "e")
    file = tmp_path / "e" / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), name: value}))
    with pytest.raises(ManifestMismatchError):
        load_evaluator(tmp_path / "e", world_retriever())


def test_damaged_arrays_are_refused(tmp_path: Path) -> None:
    model = cross_fitted().full.model
    narrow = replace(model, trees=type(model.trees)(*_leaf(), 0.0, 1.0, 3))
    narrow.save(tmp_path / "narrow")
    with pytest.raises(ManifestMismatchError, match="do not fit its features"):
        EvaluatorModel.load(tmp_path / "narrow")
    model.save(tmp_path / "e")
    (tmp_path / "e" / "arrays.npz").write_bytes(b"no archive")
    with pytest.raises(DataError):
        EvaluatorModel.load(tmp_path / "e")
    with pytest.raises(DataError, match="no such file"):
        load_evaluator(tmp_path / "none", world_retriever())


def _leaf() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    return np.array([-1], np.int32), np.array([0], np.int32), np.array([0.5]), np.array([0], np.int32)
