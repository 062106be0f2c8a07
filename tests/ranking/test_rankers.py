"""What every ranker must keep to, and what ranked operations do with it."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.records import Gold, Passage, Record
from evidencegym.data.world import World
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import rollout
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.ranking.base import Ranker
from evidencegym.ranking.fitted import FittedRanker, RankerModel
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.tasks import RankTask
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.fit_ranker import CrossFittedRanker, Curriculum, RankerSettings, cross_fit_ranker
from evidencegym.training.ranker_rows import RecordingRanker, explore

RULES = Rules(operation_set(ranked=True), Caps())
WORLD = World(300, 1)
RECORDS = list(WORLD.questions(12, "train"))
RETRIEVER = BM25Retriever.build(WORLD.passages())
GENERATOR = ExtractiveGenerator.default()


@pytest.fixture(scope="module")
def fitted() -> CrossFittedRanker:
    settings = RankerSettings(rounds=2, folds=2, trees=10)
    return cross_fit_ranker([Curriculum(RECORDS, RULES, RETRIEVER, GENERATOR)], settings, 0)


@pytest.fixture(params=["lexical", "fitted"])
def ranker(request: pytest.FixtureRequest, fitted: CrossFittedRanker) -> Ranker:
    return LexicalRanker(RETRIEVER) if request.param == "lexical" else FittedRanker(fitted.full, RETRIEVER)


def tasks() -> list[RankTask]:
    """Return what a ranker is asked in some episodes."""
    recording = RecordingRanker(LexicalRanker(RETRIEVER), 0.5, 3)
    explore(RECORDS[:4], RULES, Engine(RETRIEVER, GENERATOR, 0, recording), 5)
    return [task for task, _ in recording.asked]


def test_each_found_passage_has_a_probability_and_proposals_are_new_and_ordered(ranker: Ranker) -> None:
    for task, ranking in zip(tasks(), ranker.rank(tasks())):
        assert len(ranking.scores) == len(task.found)
        assert all(0 <= score <= 1 for score in ranking.scores)
        gains = [proposal.gain for proposal in ranking.proposals]
        assert gains == sorted(gains, reverse=True)
        assert not {proposal.query for proposal in ranking.proposals} & set(task.queries)


def test_rankings_do_not_depend_on_the_batch(ranker: Ranker) -> None:
    asked = tasks()
    together = ranker.rank(asked)
    assert [ranker.rank([task])[0] for task in reversed(asked)] == together[::-1]
    assert pickle.loads(pickle.dumps(ranker)).rank(asked) == together


def test_another_corpus_is_another_fingerprint(fitted: CrossFittedRanker) -> None:
    other = BM25Retriever.build(World(300, 2).passages())
    assert FittedRanker(fitted.full, RETRIEVER).fingerprint != FittedRanker(fitted.full, other).fingerprint
    assert FittedRanker(fitted.folds[0], RETRIEVER).fingerprint != FittedRanker(fitted.full, RETRIEVER).fingerprint


def test_one_seed_is_one_ranker_and_a_saved_one_is_the_same(fitted: CrossFittedRanker, tmp_path: Path) -> None:
    settings = RankerSettings(rounds=2, folds=2, trees=10)
    again = cross_fit_ranker([Curriculum(RECORDS, RULES, RETRIEVER, GENERATOR)], settings, 0)
    assert again.full.fingerprint == fitted.full.fingerprint
    fitted.full.save(tmp_path / "ranker")
    assert RankerModel.load(tmp_path / "ranker").fingerprint == fitted.full.fingerprint


def test_a_damaged_ranker_is_refused(fitted: CrossFittedRanker, tmp_path: Path) -> None:
    fitted.full.save(tmp_path / "ranker")
    manifest = tmp_path / "ranker" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"least_trust"', '"most_trust"'))
    with pytest.raises(ManifestMismatchError, match="other features"):
        RankerModel.load(tmp_path / "ranker")
    (tmp_path / "ranker" / "arrays.npz").write_bytes(b"no archive")
    with pytest.raises((DataError, ManifestMismatchError)):
        RankerModel.load(tmp_path / "ranker")


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"folds": 1}, {"stray": 1.5}, {"bags": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="ranker_fit"):
        RankerSettings(**wrong)  # type: ignore[arg-type]


def test_a_fold_is_ranked_by_a_model_that_has_not_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change the gold of one question: only the models of the other folds and the full one may change."""
    settings = RankerSettings(rounds=1, folds=2, trees=10)
    records = list(RECORDS)
    before = cross_fit_ranker([Curriculum(records, RULES, RETRIEVER, GENERATOR)], settings, 0)
    gold = records[0].gold
    assert gold is not None
    records[0] = Record(records[0].question, replace(gold, support_ids=RECORDS[1].gold.support_ids), ())  # type: ignore[union-attr]
    after = cross_fit_ranker([Curriculum(records, RULES, RETRIEVER, GENERATOR)], settings, 0)
    assert before.for_record(gold.id).fingerprint == after.for_record(gold.id).fingerprint
    assert before.full.fingerprint != after.full.fingerprint


def test_ranked_episodes_do_not_depend_on_the_batch(ranker: Ranker) -> None:
    questions = [record.question for record in RECORDS]
    runs = [
        rollout(questions, RULES, Engine(RETRIEVER, GENERATOR, 0, ranker), UniformController(1), batch=batch)
        for batch in (1, 5, 12)
    ]
    assert runs[0] == runs[1] == runs[2]
    assert all(episode.final.answer is not None for episode in runs[0])
    assert all(len({p.id for p in episode.final.passages}) == len(episode.final.passages) for episode in runs[0])


def test_the_context_begins_with_the_likeliest_passages(ranker: Ranker) -> None:
    [state] = explore(RECORDS[:1], RULES, Engine(RETRIEVER, GENERATOR, 0, ranker), 1)
    assert state.ranking is not None
    scores = {item.passage.id: score for item, score in zip(state.found, state.ranking.scores)}
    ordered = [scores[passage.id] for passage in state.context]
    assert ordered == sorted(ordered, reverse=True)
    assert set(state.ordered) == set(state.passages)


def test_gold_reaches_no_observation(ranker: Ranker) -> None:
    features = FeatureMap(RULES.operations.names)
    engine = Engine(RETRIEVER, GENERATOR, 0, ranker)
    bare = [Record(record.question, Gold(record.id, ("no",)), ()) for record in RECORDS]
    with_gold = features.matrix(explore(RECORDS, RULES, engine, 1))
    assert np.array_equal(with_gold, features.matrix(explore(bare, RULES, engine, 1)))


def test_odd_texts_are_ranked() -> None:
    odd = [
        Passage.of("", ()),
        Passage.of("Straße (film)", ("", "É.", "東京 is a city. " * 300)),
        Passage.of("A", ("a",)),
        Passage.of("A", ("A is not a.",)),
    ]
    retriever = BM25Retriever.build(odd)
    questions = [Record(r.question) for r in RECORDS[:1]]
    for text in ("東京", "A", "Straße film?", "?"):
        record = Record(replace(questions[0].question, text=text))
        [state] = explore([record], RULES, Engine(retriever, GENERATOR, 0, LexicalRanker(retriever)), 0)
        assert state.end or state.steps <= RULES.caps.steps
