"""Fitting the floor, and keeping it in a run."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evidencegym.actions.engine import Engine
from evidencegym.data.answer_scores import token_f1
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Record
from evidencegym.envs.rollout import rollout
from evidencegym.envs.settings import TaskSettings
from evidencegym.generation.tasks import Answer, AnswerTask
from evidencegym.ranking.fitted import FittedRanker
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit import FitSettings
from evidencegym.training.fit_floor import FloorSettings, fit_floor
from evidencegym.training.floors import prepare_floor
from evidencegym.training.generators import Generators
from evidencegym.training.iterate import Course
from evidencegym.training.rankers import Rankers
from tests.controllers.models import forest
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import RANKED, cross_fitted, model, world_records, world_retriever

FLOORS = FloorSettings([0.0, 0.1, 0.9])
SETTINGS = TaskSettings(passages=300, ranker="fit")


class Crowded(OverlapGenerator):
    """Knows every answer, but only from at most so many passages, and from one that it must have."""

    def __init__(self, most: int, known: Sequence[Record]) -> None:
        super().__init__()
        self.most = most
        self.asked: list[str] = []
        self._answers = {r.question.text: (r.gold.references or ("",))[0] for r in known if r.gold}

    @property
    def fingerprint(self) -> str:
        return f"crowded {self.most}"

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        self.asked += [task.question for task in tasks]
        return [Answer(self._answers[t.question] if len(t.passages) <= self.most else "lost") for t in tasks]


def engine(generator: OverlapGenerator, floor: float = 0.0) -> Engine:
    return Engine(world_retriever(), generator, ranker=FittedRanker(model(), world_retriever(), floor))


@pytest.mark.parametrize(("most", "best"), [(2, 0.9), (12, 0.0)])
def test_the_floor_is_what_the_reader_can_use(most: int, best: float) -> None:
    one = engine(Crowded(most, world_records()))
    floor = fit_floor(world_records(), [RANKED], lambda record: one, forest(), FLOORS)
    assert floor.score == best
    assert [point.floor for point in floor.points] == FLOORS.floors
    read = [point.passages for point in floor.points]
    assert read == sorted(read, reverse=True) and read[-1] >= 2
    assert floor.points[-1].answer_f1 == 1.0 if most == 12 else floor.points[0].answer_f1 < 1.0


def test_what_is_measured_is_what_an_episode_with_the_floor_scores() -> None:
    plain = engine(Crowded(4, world_records()))
    points = fit_floor(world_records(), [RANKED], lambda record: plain, forest(), FLOORS).points
    for point in points:
        own = engine(Crowded(4, world_records()), point.floor)
        finals = [e.final for e in rollout([r.question for r in world_records()], RANKED, own, forest())]
        f1 = [
            token_f1(s.answer.text, r.gold.references) for s, r in zip(finals, world_records()) if s.answer and r.gold
        ]
        assert point.answer_f1 == pytest.approx(sum(f1) / len(finals))
        assert point.passages == pytest.approx(sum(len(s.reading) for s in finals) / len(finals))


def test_every_game_counts_and_progress_is_told() -> None:
    one, told = engine(Crowded(4, world_records())), list[tuple[int, int]]()
    fit_floor(world_records(), [RANKED, RANKED], lambda r: one, forest(), FLOORS, lambda *n: told.append(n))
    assert told == [(16, 32), (32, 32)]


def prepared(run: Path, reader: Crowded, fitting: FloorSettings = FLOORS, seed: int = 0) -> float:
    fitted = cross_fitted()
    folds = {r.id: FittedRanker(fitted.for_record(r.id), world_retriever()) for r in world_records()}
    rankers = Rankers(FittedRanker(model(), world_retriever()), lambda record: folds[record.id])
    generators = Generators(reader, lambda record: reader)
    parts = SETTINGS, world_records(), world_retriever(), generators, rankers, CollectSettings(), FitSettings(), seed
    return prepare_floor(Course(*parts), run, forest(), fitting)


def test_a_run_keeps_its_floor_and_fits_it_again_for_something_else(tmp_path: Path) -> None:
    model().save(tmp_path / "ranker")
    first = Crowded(2, world_records())
    assert prepared(tmp_path, first) == 0.9 and first.asked
    file = tmp_path / "ranker" / "floor" / "manifest.json"
    made, again = file.read_bytes(), Crowded(2, world_records())
    assert prepared(tmp_path, again) == 0.9 and not again.asked and file.read_bytes() == made
    other = Crowded(12, world_records())
    assert prepared(tmp_path, other) == 0.0 and other.asked and file.read_bytes() != made
    assert prepared(tmp_path, first) == 0.9 and file.read_bytes() == made
    fewer = Crowded(2, world_records())
    prepared(tmp_path, fewer, replace(FLOORS, questions=5))
    assert set(fewer.asked) == {record.question.text for record in world_records()[:5]}


@pytest.mark.parametrize("floors", [[], [0.2, 0.1], [0.1, 0.1], [-0.1], [0.0, 1.5]])
def test_floors_that_cannot_be_tried_are_refused(floors: list[float]) -> None:
    with pytest.raises(ConfigError, match=r"floor_fit\.floors must be ascending"):
        FloorSettings(floors)


def test_settings_without_questions_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"floor_fit\.questions must be at least 1"):
        FloorSettings(questions=0)
    assert asdict(FloorSettings())["floors"][0] == 0.0


def test_questions_without_gold_are_refused() -> None:
    one = engine(OverlapGenerator())
    for asked in ([], [Record(world_records()[0].question)]):
        with pytest.raises(ConfigError, match="train questions with gold"):
            fit_floor(asked, [RANKED], lambda record: one, forest(), FLOORS)
