"""The floor: what is read for the answer, and for whom."""

import json
import pickle
from pathlib import Path

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.envs.build import load_ranker
from evidencegym.envs.rollout import Episode, rollout
from evidencegym.ranking.fitted import FittedRanker
from evidencegym.ranking.floors import Floor, Point, read_floor
from evidencegym.ranking.tasks import LEAST_READ
from evidencegym.retrieval.base import Hit
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import RANKED, model, small_tasks
from tests.small_world import passages, records, retriever

FLOOR = Floor([Point(0.0, 0.5, 9.0), Point(0.1, 0.7, 4.0), Point(0.2, 0.7, 3.0), Point(0.3, 0.6, 2.0)])


def episodes(floor: float, caps: Caps = RANKED.caps) -> list[Episode]:
    engine = Engine(retriever(), OverlapGenerator(), ranker=FittedRanker(model(), retriever(), floor))
    rules = Rules(RANKED.operations, caps)
    return rollout([r.question for r in records()], rules, engine, UniformController(1, [RANKED.operations.stop]))


def scored(state: EvidenceState) -> dict[str, float]:
    assert state.ranking is not None
    return {found.passage.id: score for found, score in zip(state.found, state.ranking.scores)}


def test_what_reaches_the_floor_is_read_and_the_best_always() -> None:
    dropped = set()
    for episode in episodes(0.2):
        state = episode.final
        scores = scored(state)
        expected = [p for n, p in enumerate(state.context) if n < LEAST_READ or scores[p.id] >= 0.2]
        assert list(state.reading) == expected and len(expected) >= LEAST_READ
        dropped.add(len(state.context) - len(expected))
    assert max(dropped) > 3


def test_a_floor_of_one_leaves_the_two_best_and_of_none_everything() -> None:
    for low, high in zip(episodes(0.0), episodes(1.0)):
        assert low.final.reading == low.final.context == high.final.context
        assert high.final.reading == high.final.ordered[:LEAST_READ]
    for episode in episodes(0.0, Caps(context_documents=1)) + episodes(1.0, Caps(context_documents=1)):
        assert episode.final.reading == episode.final.ordered[:1]


def test_what_is_not_read_reaches_neither_compression_nor_answer() -> None:
    for low, high in zip(episodes(0.0), episodes(1.0)):
        assert high.final.snippets is not None and low.final.snippets is not None
        assert {s.passage_id for s in high.final.snippets} == {p.id for p in high.final.reading}
        assert len(low.final.snippets) > len(high.final.snippets)


def test_the_floor_changes_no_decision_and_no_evidence() -> None:
    for low, high in zip(episodes(0.0), episodes(1.0)):
        assert low.final.history == high.final.history and low.final.held == high.final.held
        assert [step.operation for step in low.steps] == [step.operation for step in high.steps]


def test_without_a_ranking_everything_is_read() -> None:
    state = Rules().start(records()[0].question)
    held = state.received("retrieve_more", "Kelmar", [Hit(p, 1.0, n) for n, p in enumerate(passages().values())][:3])
    assert held.reading == held.context and len(held.reading) == 3


def test_the_floor_is_part_of_the_ranker() -> None:
    plain, floored = FittedRanker(model(), retriever()), FittedRanker(model(), retriever(), 0.2)
    assert plain.fingerprint == FittedRanker(model(), retriever(), 0.0).fingerprint != floored.fingerprint
    tasks = small_tasks()
    assert [ranking._replace(floor=0.0) for ranking in floored.rank(tasks)] == plain.rank(tasks)
    assert {ranking.floor for ranking in floored.rank(tasks)} == {0.2}
    assert pickle.loads(pickle.dumps(floored)).fingerprint == floored.fingerprint


def test_the_best_floor_is_kept_and_of_equal_ones_the_lowest() -> None:
    assert FLOOR.score == 0.1


def test_a_floor_serves_the_reader_that_it_was_fitted_for(tmp_path: Path) -> None:
    folder = tmp_path / "ranker"
    model().save(folder)
    assert read_floor(folder, model().fingerprint, "overlap") == 0.0
    FLOOR.save(folder, {"ranker": model().fingerprint, "reader": "overlap"})
    assert read_floor(folder, model().fingerprint, "overlap") == 0.1
    assert read_floor(folder, model().fingerprint, "another") == read_floor(folder, "x", "") == 0.0
    measured = json.loads((folder / "floor" / "manifest.json").read_text())["measured"]
    assert measured[1] == {"floor": 0.1, "answer_f1": 0.7, "passages": 4.0}
    for wanted in ("fit", str(folder)):
        floors = [load_ranker(wanted, retriever(), tmp_path, reader) for reader in ("overlap", "another", "")]
        assert [r.floor for r in floors if isinstance(r, FittedRanker)] == [0.1, 0.0, 0.0]


def test_a_floor_of_another_ranker_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    FLOOR.save(tmp_path, {"ranker": "older", "reader": "overlap"})
    with pytest.raises(ManifestMismatchError, match="fitted for another ranker"):
        read_floor(tmp_path, model().fingerprint, "overlap")
    (tmp_path / "floor" / "manifest.json").write_text("{")
    with pytest.raises(DataError, match="not a readable manifest"):
        read_floor(tmp_path, model().fingerprint, "overlap")


def test_fitting_a_ranker_anew_takes_its_floor_away(tmp_path: Path) -> None:
    model().save(tmp_path / "ranker")
    FLOOR.save(tmp_path / "ranker", {"ranker": model().fingerprint, "reader": "overlap"})
    model().save(tmp_path / "ranker")
    assert not (tmp_path / "ranker" / "floor").exists()
