"""Adaptive-RAG: its silver labels, its fit, its files."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.adaptive import (
    MULTI,
    NONE,
    QUESTION_FEATURES,
    SINGLE,
    AdaptiveRAGController,
    ComplexityClassifier,
)
from evidencegym.controllers.adaptive_files import load_adaptive, save_adaptive
from evidencegym.data.errors import ConfigError, EvidenceGymError, ManifestMismatchError
from evidencegym.data.records import Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.question_shape import question_shape
from evidencegym.envs.rollout import rollout
from evidencegym.generation.base import Generator
from evidencegym.generation.tasks import Answer, AnswerTask, Usage
from evidencegym.training.fit_adaptive import AdaptiveSettings, fit_adaptive, silver_labels
from tests.controllers.models import FEATURES, OPERATIONS, leaf, trees
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

FREE = Rules()
CLOSED_BOOK = Rules(operation_set(closed_book=True))
WIDTH = len(QUESTION_FEATURES)
SMALL = AdaptiveSettings(trees=5, min_samples_leaf=1)
shared = engine()


class Knowing(OverlapGenerator):
    """Answers rightly once it reads as many passages as the question needs, and otherwise says nothing."""

    def __init__(self, needed: dict[str, int]) -> None:
        super().__init__()
        self.needed = needed
        self.asked: set[str] = set()

    def _answer(self, task: AnswerTask) -> Answer:
        self.asked.add(task.question)
        right = {record.question.text: record.gold.answers for record in records() if record.gold}[task.question]
        knows = len(task.passages) >= self.needed[task.question]
        return Answer(right[0] if right and knows else "nothing", usage=Usage(1, 1))


ANSWERED = [record for record in records() if record.gold and record.gold.answers]
NEEDED = dict(zip((record.question.text for record in ANSWERED), (0, 1, 4, 3, 0, 99, 4), strict=True))
SIMPLEST = [NONE, SINGLE, MULTI, SINGLE, NONE, MULTI, MULTI]


def labels(rules: Rules, by: str = "answer", generator: Generator | None = None) -> list[int]:
    made = engine(generator or Knowing(NEEDED))
    return [int(label) for label in silver_labels(ANSWERED, rules, lambda _: made, by)]


def test_the_label_is_the_simplest_strategy_that_answers() -> None:
    assert labels(CLOSED_BOOK) == SIMPLEST


def test_without_a_closed_book_no_question_is_labelled_none() -> None:
    assert labels(FREE) == [max(label, SINGLE) for label in SIMPLEST]


def test_labels_by_support_are_what_the_two_strategies_found() -> None:
    single = AdaptiveRAGController(ComplexityClassifier.always(SINGLE), FEATURES, OPERATIONS)
    episodes = rollout([record.question for record in ANSWERED], FREE, shared, single)
    full = [support_recall(r.gold, e.final.passages) == 1 for r, e in zip(ANSWERED, episodes) if r.gold]
    assert labels(FREE, "support") == [SINGLE if found else MULTI for found in full]
    assert {True, False} == set(full)


def test_a_question_is_asked_only_of_its_own_engine() -> None:
    generators = [Knowing(NEEDED), Knowing(NEEDED)]
    engines = [engine(generator) for generator in generators]
    places = {record.uid: place % 2 for place, record in enumerate(ANSWERED)}

    def engine_of(record: Record) -> Engine:
        return engines[places[record.uid]]

    assert silver_labels(ANSWERED, CLOSED_BOOK, engine_of).tolist() == SIMPLEST
    assert [g.asked for g in generators] == [{r.question.text for r in ANSWERED[fold::2]} for fold in (0, 1)]


def fit(rules: Rules = CLOSED_BOOK, seed: int = 13, settings: AdaptiveSettings = SMALL) -> AdaptiveRAGController:
    made = engine(Knowing(NEEDED))
    return fit_adaptive(ANSWERED, rules, lambda _: made, seed, settings)


def rows() -> np.ndarray[Any, np.dtype[np.float32]]:
    features = FeatureMap(OPERATIONS)
    matrix = features.matrix([FREE.start(record.question) for record in ANSWERED])
    return matrix[:, [features.names.index(name) for name in QUESTION_FEATURES]]


def test_what_is_learned_is_what_was_labelled() -> None:
    learned = fit(settings=AdaptiveSettings(trees=60, min_samples_leaf=1))
    assert learned.classifier.strategies(rows()).tolist() == SIMPLEST
    assert learned.manifest["labels"] == {"none": 2, "single": 2, "multi": 3}
    assert len({question_shape(record.question.text) for record in ANSWERED}) == len(ANSWERED)


def test_the_learned_strategy_is_what_runs() -> None:
    learned = fit(settings=AdaptiveSettings(trees=60, min_samples_leaf=1))
    episodes = rollout([r.question for r in ANSWERED], CLOSED_BOOK, engine(Knowing(NEEDED)), learned)
    expected = {NONE: 0, SINGLE: 1}
    found = [min(episode.final.retrievals, 2) for episode in episodes]
    assert found == [expected.get(strategy, 2) for strategy in SIMPLEST]


def test_the_strategy_does_not_change_within_an_episode() -> None:
    made = AdaptiveRAGController(ComplexityClassifier([trees(WIDTH, s) for s in range(3)]), FEATURES, OPERATIONS)
    columns = [FEATURES.index(name) for name in QUESTION_FEATURES]
    for episode in rollout([record.question for record in records()], CLOSED_BOOK, shared, made):
        states = FeatureMap(OPERATIONS).matrix(episode.states)[:, columns]
        assert len(set(made.classifier.strategies(states).tolist())) == 1


def test_ties_go_to_the_simpler_strategy() -> None:
    for shares, strategy in (((1, 1, 1), NONE), ((0, 1, 1), SINGLE), ((0, 0.4, 0.6), MULTI)):
        made = ComplexityClassifier([leaf(WIDTH, float(share)) for share in shares])
        assert made.strategies(np.zeros((2, WIDTH), np.float32)).tolist() == [strategy] * 2


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_one_seed_is_one_controller(tmp_path: Path) -> None:
    for name, seed in (("a", 13), ("b", 13), ("c", 14)):
        save_adaptive(fit(seed=seed), tmp_path / name)
    assert content(tmp_path / "a") == content(tmp_path / "b") != content(tmp_path / "c")


def test_a_saved_controller_decides_the_same(tmp_path: Path) -> None:
    made = AdaptiveRAGController(
        ComplexityClassifier([trees(WIDTH, s) for s in range(3)]), FEATURES, OPERATIONS, {"note": "test"}
    )
    save_adaptive(made, tmp_path / "a")
    loaded = load_adaptive(tmp_path / "a", FEATURES, OPERATIONS)
    features = np.random.default_rng(0).uniform(0, 6, (200, len(FEATURES))).astype(np.float32)
    mask = np.ones((200, len(OPERATIONS)), np.int8)
    chosen = made.act(features, mask, [""] * 200)
    assert np.array_equal(loaded.act(features, mask, [""] * 200), chosen) and len(set(chosen.tolist())) > 1
    assert loaded.fingerprint == made.fingerprint != fit().fingerprint and loaded.manifest["note"] == "test"
    save_adaptive(loaded, tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_other_features_or_operations_are_refused(tmp_path: Path) -> None:
    save_adaptive(fit(), tmp_path / "a")
    with pytest.raises(ManifestMismatchError, match="other operations"):
        load_adaptive(tmp_path / "a", FEATURES, OPERATIONS[::-1])
    with pytest.raises(ManifestMismatchError, match=r"other features \(only there: steps; only here: strides"):
        load_adaptive(tmp_path / "a", ["strides" if name == "steps" else name for name in FEATURES], OPERATIONS)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "forest controller"},
        {"format": 9},
        {"question_features": list(QUESTION_FEATURES[1:])},
        {"question_features": None},
        {"operations": 3},
    ],
)
def test_a_wrong_manifest_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    save_adaptive(fit(), tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    with pytest.raises(EvidenceGymError):
        load_adaptive(tmp_path / "a", FEATURES, OPERATIONS)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    save_adaptive(fit(), tmp_path / "a")
    file = tmp_path / "a" / "arrays.npz"
    whole, random = file.read_bytes(), Random(1)
    for size in [0, 1, *(random.randrange(len(whole) - 1) for _ in range(20))]:
        file.write_bytes(whole[:size])
        with pytest.raises(EvidenceGymError):
            load_adaptive(tmp_path / "a", FEATURES, OPERATIONS)


@pytest.mark.parametrize("widths", [(WIDTH, WIDTH), (WIDTH, WIDTH, WIDTH - 1)])
def test_a_classifier_has_one_ensemble_a_strategy(widths: Sequence[int]) -> None:
    with pytest.raises(ManifestMismatchError, match="expected 3 ensembles"):
        ComplexityClassifier([leaf(width, 0.0) for width in widths])


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot label no questions"):
        fit_adaptive([], FREE, lambda _: shared)
    with pytest.raises(ConfigError, match="has no gold"):
        fit_adaptive([Record(ANSWERED[0].question)], FREE, lambda _: shared)
    with pytest.raises(ConfigError, match="need stop_answer, which the rules disable"):
        fit(Rules(operation_set(disabled=["stop_answer", "sufficiency_check"])))


@pytest.mark.parametrize("changed", [{"suffices": "luck"}, {"trees": 0}, {"min_samples_leaf": 0}])
def test_settings_out_of_range_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        AdaptiveSettings(**changed)
