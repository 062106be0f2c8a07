"""The floor of a run in a benchmark: the same for every method that has scores, and an ablation without it."""

from pathlib import Path

from evidencegym.eval.suite.contender import Contender
from evidencegym.eval.suite.ground import open_ground
from evidencegym.eval.suite.plan import Plan
from evidencegym.eval.suite.settings import AnalysisSettings, MethodSettings
from evidencegym.eval.suite.trained import open_trained
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.ranking.fitted import FittedRanker
from evidencegym.ranking.floors import Floor, Point
from tests.eval.small_runs import SOURCE, write_run
from tests.ranking.small_rankers import model


def contenders(folder: Path, reader: str = "", ranked: bool = True) -> dict[str, Contender]:
    run = write_run(folder / "run", ranked=ranked)
    if reader:
        made_from = {"ranker": model().fingerprint, "reader": reader}
        Floor([Point(0.0, 0.1, 9.0), Point(0.2, 0.4, 3.0)]).save(run / "ranker", made_from)
    trained = open_trained(run, "synthetic", SOURCE)
    methods = MethodSettings(
        datasets=["synthetic"], protocols=["free"], baselines=["fixed_4"], baselines_with_ranker=True
    )
    analyses = AnalysisSettings(
        ablations=["no_floor"], ablation_protocols=["free"], caps=[], cost_grid=[], oracle=False
    )
    plan = Plan(open_ground("synthetic", trained, 0, 0), methods, analyses, {}, None, None, 0)
    return {contender.key: contender for contender in plan.contenders()}


def floor_of(contender: Contender) -> float | None:
    ranker = contender.engine.ranker
    return ranker.floor if isinstance(ranker, FittedRanker) else None


def test_methods_with_scores_share_the_floor_and_the_others_have_none(tmp_path: Path) -> None:
    made = contenders(tmp_path, ExtractiveGenerator.default().fingerprint)
    floors = {key: floor_of(contender) for key, contender in made.items()}
    assert floors == {
        "free/learned": 0.2,
        "free/fixed_4": None,
        "free/fixed_4+ranker": 0.2,
        "free_ablations/no_floor": 0.0,
    }


def test_without_a_floor_nothing_differs_from_a_run_that_never_had_one(tmp_path: Path) -> None:
    plain, other = contenders(tmp_path / "a"), contenders(tmp_path / "b", "another reader")
    floored = contenders(tmp_path / "c", ExtractiveGenerator.default().fingerprint)
    assert "free_ablations/no_floor" not in plain | other
    assert {k: c.made_from for k, c in plain.items()} == {k: c.made_from for k, c in other.items()}
    assert floored["free/fixed_4"].made_from == plain["free/fixed_4"].made_from
    assert floored["free/learned"].made_from != plain["free/learned"].made_from
    assert floored["free_ablations/no_floor"].made_from == plain["free/learned"].made_from
