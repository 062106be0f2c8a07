"""Fitting a ranker: labels that are right, folds that keep questions apart, rankers that are kept in a run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.driver import run
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError, RequestFailedError
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.data.splits import fold_of
from evidencegym.envs.settings import TaskSettings
from evidencegym.ranking.base import Ranker
from evidencegym.ranking.fitted import FittedRanker, RankerModel
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.passage_features import PASSAGE_FEATURES
from evidencegym.ranking.proposal_features import PROPOSAL_FEATURES
from evidencegym.ranking.tasks import Found, Ranking, RankTask
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training import fit_ranker
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit_ranker import Curriculum, RankerSettings, cross_fit_ranker
from evidencegym.training.generators import Generators
from evidencegym.training.pipeline import collect_rows
from evidencegym.training.ranker_rows import RankerRows, RecordingRanker, explore, labelled
from evidencegym.training.rankers import NO_RANKERS, Rankers, prepare_rankers
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import FITTING, RANKED, cross_fitted, world_records, world_retriever
from tests.small_world import records, retriever

TINY = RankerSettings(rounds=1, folds=2, trees=3, batch=4)
WIDTHS = len(PASSAGE_FEATURES), len(PROPOSAL_FEATURES)

# Labels

FILM = Passage.of("Grey Lantern", ("Grey Lantern is a film by Mira Solt.", "It was shot near Halden Bay."))
DIRECTOR = Passage.of("Mira Solt", ("Mira Solt was born in Ostrev.",))
TOWN = Passage.of("Ostrev", ("Ostrev is a town.",))
BAY = Passage.of("Halden Bay", ("Halden Bay is a bay.",))
CORPUS = BM25Retriever.build([FILM, DIRECTOR, TOWN, BAY])
TEXT = "Where was the director of Grey Lantern born?"
RECORD = Record(
    Question(TEXT, "key"),
    Gold("2hop__1", ("Ostrev",), support_ids=(FILM.id, DIRECTOR.id), match_support_by="id"),
)


def label(found: Sequence[Passage], held: Sequence[Passage]) -> tuple[RankerRows, RankTask]:
    trust = tuple(0.5 for _ in held)
    task = RankTask(TEXT, "key", tuple(held), trust, tuple(Found(p, 0.5, 0) for p in found), (TEXT,))
    ranker = LexicalRanker(CORPUS)
    asked = [(task, ranker.rank([task])[0])]
    return labelled(RECORD, asked, ranker.reader, CORPUS, 0), task


def test_passages_are_labelled_as_support_and_searches_by_what_they_find() -> None:
    rows, task = label([FILM, BAY], [FILM])
    read = LexicalRanker(CORPUS).reader.read(task)
    assert rows.support.tolist() == [True, False]
    assert rows.passages.tobytes() == read.passages.tobytes()
    asked_in_full = {row.tobytes(): place for place, row in enumerate(read.rows)}
    found = {read.searches[asked_in_full[row.tobytes()]]: bool(own) for row, own in zip(rows.searches, rows.finds)}
    assert len(found) == len(read.searches)
    for (entity, query), own in found.items():
        hits = [hit.passage for hit in CORPUS.search([query], 20)[0]]
        assert own == (DIRECTOR in hits), entity
    assert found["Mira Solt", f"Mira Solt {TEXT}"] and found["Mira Solt", "Mira Solt director born"]


def test_what_has_been_found_is_found_no_more() -> None:
    rows, _ = label([FILM, DIRECTOR], [FILM])
    assert rows.support.all() and not rows.finds.any() and len(rows.finds)


def test_support_is_matched_as_the_data_set_does() -> None:
    gold = Gold("x", ("a",), ("halden bay",), match_support_by="title")
    ranker = LexicalRanker(CORPUS)
    task = RankTask(TEXT, "key", (), (), (Found(FILM), Found(replace_title(BAY))), (TEXT,))
    rows = labelled(Record(RECORD.question, gold), [(task, ranker.rank([task])[0])], ranker.reader, CORPUS, 0)
    assert rows.support.tolist() == [False, False]
    gold = replace(gold, support_titles=("Halden Bay",))
    rows = labelled(Record(RECORD.question, gold), [(task, ranker.rank([task])[0])], ranker.reader, CORPUS, 0)
    assert rows.support.tolist() == [False, True]


def replace_title(passage: Passage) -> Passage:
    return Passage.of(passage.title, (*passage.sentences, "Another text."))


def test_all_support_is_kept_however_unlikely_and_of_the_rest_a_sample() -> None:
    others = [Passage.of(f"Other {n}", (f"Grey Lantern director born {n}.",)) for n in range(300)]
    found = [*others, FILM]
    task = RankTask(TEXT, "key", (), (), tuple(Found(p) for p in found), (TEXT,))
    likely = Ranking(tuple(1.0 - n / 1000 for n in range(len(found))))
    ranker = LexicalRanker(CORPUS)
    rows = labelled(RECORD, [(task, likely)], ranker.reader, CORPUS, 0)
    assert rows.support.tolist() == [False] * (len(rows.support) - 1) + [True]
    assert 25 + 5 < len(rows.support) < 25 + 60
    read = ranker.reader.read(task)
    assert rows.passages[:25].tobytes() == read.passages[:25].tobytes()
    again = labelled(RECORD, [(task, likely)], ranker.reader, CORPUS, 0)
    assert again.passages.tobytes() == rows.passages.tobytes()


def test_a_question_that_met_nothing_has_no_rows() -> None:
    rows = labelled(RECORD, [], LexicalRanker(CORPUS).reader, CORPUS, 0)
    assert [column.shape for column in rows] == [(0, WIDTHS[0]), (0,), (0, WIDTHS[1]), (0,)]
    with pytest.raises(ConfigError, match="without gold: key"):
        labelled(Record(RECORD.question), [], LexicalRanker(CORPUS).reader, CORPUS, 0)


def test_exploring_searches_with_the_question_first_and_ends_at_the_caps() -> None:
    recording = RecordingRanker(LexicalRanker(retriever()), 0.3, 0)
    engine = Engine(retriever(), OverlapGenerator(), 0, recording)
    states = explore(records(), RANKED, engine, 0)
    for record, state in zip(records(), states):
        assert state.question == record.question and state.end == "cap" and state.queries[0] == record.question.text
        assert set(state.history) <= {"retrieve_more", "bridge_entity_expand"} and state.history[0] == "retrieve_more"
    asked = {task.question for task, _ in recording.asked}
    assert asked == {record.question.text for record in records()}
    assert explore([], RANKED, engine, 0) == []


class Down(BM25Retriever):
    """A corpus that cannot be searched."""

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        raise RequestFailedError("down")


def test_exploring_ends_where_nothing_can_be_searched() -> None:
    down = Down.build([FILM])
    [state] = explore([RECORD], RANKED, Engine(down, OverlapGenerator(), 0, LexicalRanker(down)), 0)
    assert state.held == () and len(state.failures) == 1


# Folds


def test_every_model_sees_the_rows_of_the_other_folds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows carry the number of their question's fold; a model of a fold must never be fitted to them."""
    folds = {r.question.key: fold_of(r.id, TINY.folds, 0) for r in world_records()}
    models: Sequence[RankerModel] = cross_fitted().folds
    ranked: list[tuple[int, int]] = []
    fitted: list[set[float]] = []

    def marked(record: Record, *arguments: Any) -> RankerRows:
        rows = labelled(record, *arguments)
        return rows._replace(passages=np.full_like(rows.passages, folds[record.question.key]))

    def model_of(rows: Sequence[RankerRows], settings: RankerSettings, seed: int, encoder: str) -> RankerModel:
        fitted.append({float(value) for own in rows for value in np.unique(own.passages)})
        return models[len(fitted) % 2]

    class Noted(FittedRanker):
        def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
            which = [model.fingerprint for model in models].index(self.model.fingerprint)
            ranked.extend((folds[task.pool], which) for task in tasks)
            return super().rank(tasks)

    monkeypatch.setattr(fit_ranker, "labelled", marked)
    monkeypatch.setattr(fit_ranker, "_fitted", model_of)
    monkeypatch.setattr(fit_ranker, "FittedRanker", Noted)
    course = Curriculum(world_records(), RANKED, world_retriever(), OverlapGenerator())
    made = cross_fit_ranker([course], replace(TINY, rounds=2), 0)
    assert fitted == [{1.0}, {0.0}, {1.0}, {0.0}, {0.0, 1.0}]
    # Model 1 was fitted first, to fold 1, and serves fold 0.
    assert set(ranked) == {(0, 1), (1, 0)}
    for record in world_records():
        assert made.for_record(record.id) is made.folds[folds[record.question.key]]


def test_the_batch_changes_no_model() -> None:
    course = Curriculum(world_records(), RANKED, world_retriever(), OverlapGenerator())
    prints = {
        tuple(model.fingerprint for model in (made.full, *made.folds))
        for made in (cross_fit_ranker([course], replace(TINY, batch=batch), 0) for batch in (1, 5, 16))
    }
    assert len(prints) == 1
    other = cross_fit_ranker([course], TINY, 1)
    assert other.full.fingerprint not in {prints_of[0] for prints_of in prints}


def test_two_courses_give_the_rows_of_both() -> None:
    courses = [
        Curriculum(world_records(), RANKED, world_retriever(), OverlapGenerator()),
        Curriculum(records(), RANKED, retriever(), OverlapGenerator()),
    ]
    seen: list[tuple[str, int, int]] = []
    made = cross_fit_ranker(courses, TINY, 0, lambda *call: seen.append(call))
    assert made.full.fingerprint != cross_fit_ranker(courses[:1], TINY, 0).full.fingerprint
    assert seen == [("ranker, round 1", 1, 2), ("ranker, round 1", 2, 2)] * 2


def test_a_fitted_ranker_knows_support_from_the_rest() -> None:
    """Measured out of fold: support is scored above what is not, on average and by far."""
    support: list[float] = []
    rest: list[float] = []
    for record in world_records():
        assert record.gold is not None
        ranker = FittedRanker(cross_fitted().for_record(record.id), world_retriever())
        recording = RecordingRanker(ranker, 0.0, 0)
        explore([record], RANKED, Engine(world_retriever(), OverlapGenerator(), 0, recording), 0)
        task, ranking = recording.asked[0]
        for found, score in zip(task.found, ranking.scores):
            (support if found.passage.id in record.gold.support_ids else rest).append(score)
    assert np.mean(support) > 2 * np.mean(rest)


@pytest.mark.parametrize("asked", [[], world_records()[:1]])
def test_too_few_questions_are_refused(asked: list[Record]) -> None:
    with pytest.raises(ConfigError, match="at least two of 5 folds"):
        course = Curriculum(asked, RANKED, world_retriever(), OverlapGenerator())
        cross_fit_ranker([course], RankerSettings(), 0)


# Rankers of a run


def prepared(run: Path, seed: int = 0, caps: Caps = RANKED.caps, fitting: RankerSettings = TINY) -> Rankers:
    return prepare_rankers("fit", world_records(), world_retriever(), OverlapGenerator(), caps, run, fitting, seed)


def test_a_run_keeps_its_rankers_and_gives_each_question_its_fold(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    times = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npz")}
    assert len(times) == 1 + TINY.folds
    again = prepared(tmp_path)
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.npz")} == times
    course = Curriculum(world_records(), Rules(operation_set(ranked=True)), world_retriever(), OverlapGenerator())
    made = cross_fit_ranker([course], TINY, 0)
    assert first.full is not None and again.full is not None
    assert first.full.fingerprint == again.full.fingerprint
    for record in world_records():
        expected = FittedRanker(made.for_record(record.id), world_retriever()).fingerprint
        for rankers in (first, again):
            own = rankers.of(record)
            assert own is not None and own.fingerprint == expected != first.full.fingerprint


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 1}, "another seed"),
        ({"caps": Caps(steps=5)}, "another caps"),
        ({"fitting": replace(TINY, trees=4)}, "another settings"),
        ({"fitting": replace(TINY, folds=3)}, "another settings"),
    ],
)
def test_rankers_fitted_otherwise_are_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    prepared(tmp_path)
    if "fitting" in changed and changed["fitting"].folds == 3:
        (tmp_path / "ranker_folds" / "2").mkdir()
        (tmp_path / "ranker_folds" / "2" / "manifest.json").write_bytes(
            (tmp_path / "ranker_folds" / "1" / "manifest.json").read_bytes()
        )
    with pytest.raises(ManifestMismatchError, match=message):
        prepared(tmp_path, **changed)


def test_an_interrupted_fit_is_made_again(tmp_path: Path) -> None:
    whole = prepared(tmp_path).full
    rmtree(tmp_path / "ranker_folds" / "1")
    again = prepared(tmp_path).full
    assert whole is not None and again is not None and again.fingerprint == whole.fingerprint


def test_none_and_a_folder_give_every_question_the_same(tmp_path: Path) -> None:
    arguments = world_records(), world_retriever(), OverlapGenerator(), RANKED.caps, tmp_path, FITTING, 0
    none = prepare_rankers("none", *arguments)
    assert none.full is None and none.of(world_records()[0]) is None
    cross_fitted().full.save(tmp_path / "saved")
    single = prepare_rankers(str(tmp_path / "saved"), *arguments)
    assert single.full is single.of(world_records()[0]) is not None
    with pytest.raises(DataError):
        prepare_rankers(str(tmp_path / "absent"), *arguments)


# Collection


class FittedOn(LexicalRanker):
    """Refuses every task about a question that it was fitted on, and notes those that it was asked about."""

    def __init__(self, name: str, seen: Sequence[str]) -> None:
        super().__init__(retriever())
        self.name, self.seen, self.asked = name, set(seen), set[str]()

    @property
    def fingerprint(self) -> str:
        return self.name

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        for task in tasks:
            assert task.question not in self.seen, f"{self.name} was fitted on {task.question!r}"
            self.asked.add(task.question)
        return super().rank(tasks)


TEXTS = [record.question.text for record in records()]
SETTINGS = TaskSettings(ranker="fit")


def collected(
    folder: Path, rankers: Rankers, settings: TaskSettings = SETTINGS, batch: int = 32
) -> list[dict[str, object]]:
    generator = OverlapGenerator()
    generators = Generators(generator, lambda _: generator)
    collecting = CollectSettings(episodes=1, batch=batch)
    table = collect_rows(settings, records(), retriever(), generators, folder, collecting, 0, rankers=rankers)
    rows: list[dict[str, object]] = table.to_pylist()
    return rows


def folds() -> tuple[Rankers, list[FittedOn]]:
    """Return a ranker fitted on everything, which may not be asked, and one a fold, fitted on the others."""
    own = [FittedOn(f"fold {n}", [t for i, t in enumerate(TEXTS) if i % 3 != n]) for n in range(3)]

    def of(record: Record) -> Ranker:
        return own[TEXTS.index(record.question.text) % 3]

    return Rankers(FittedOn("full", TEXTS), of), own


@pytest.mark.parametrize("batch", [1, 32])
def test_no_row_comes_from_a_ranker_that_has_seen_its_question(batch: int, tmp_path: Path) -> None:
    rankers, own = folds()
    rows = collected(tmp_path, rankers, batch=batch)
    assert [one.asked for one in own] == [{t for i, t in enumerate(TEXTS) if i % 3 == n} for n in range(3)]
    assert {row["question_id"] for row in rows} == {record.id for record in records()}
    with pytest.raises(AssertionError, match="was fitted on"):
        collected(tmp_path / "other", Rankers(own[0], lambda _: own[0]))


def test_rows_of_other_rankers_are_refused(tmp_path: Path) -> None:
    collected(tmp_path, folds()[0])
    with pytest.raises(ManifestMismatchError, match="another rankers"):
        single = LexicalRanker(retriever())
        collected(tmp_path, Rankers(single, lambda _: single))
    with pytest.raises(ManifestMismatchError, match="another r"):
        collected(tmp_path, NO_RANKERS, TaskSettings())


def test_a_ranked_collection_differs_from_one_without() -> None:
    [state] = RANKED.step(
        [RANKED.start(records()[0].question)], [0], Engine(retriever(), OverlapGenerator(), 0, folds()[1][0])
    )
    plain = Rules()
    operation = plain.operations.operations[0]
    other = run(operation.run(plain.start(records()[0].question)), Engine(retriever(), OverlapGenerator())).state
    assert state.ranking is not None and other.ranking is None and len(state.found) > len(other.held) == 3
