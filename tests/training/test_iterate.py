"""Policy iteration: rounds, their records, resuming, and stopping by validation."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from evidencegym.controllers.files import load_controller
from evidencegym.controllers.forest import ForestController
from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.data.splits import fold_of
from evidencegym.envs.build import build_rules
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.settings import TaskSettings
from evidencegym.training import iterate as module
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit import FitSettings
from evidencegym.training.generators import Generators
from evidencegym.training.iterate import Course, IterateSettings, aggregate, iterate
from evidencegym.training.parts import PartStore, read_rows
from evidencegym.training.pipeline import collect_rows
from evidencegym.training.rankers import NO_RANKERS
from evidencegym.training.returns import Return
from evidencegym.training.validation import Validation, validate
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records, retriever

SETTINGS = TaskSettings()
GENERATORS = Generators(OverlapGenerator(), lambda _: OverlapGenerator())
FOLDS = 3


def course(**changed: Any) -> Course:
    fitting: dict[str, Any] = {"trees": 6, "min_samples_leaf": 2, "jobs": 1, "targets": "fitted_q", "folds": 2}
    fit = FitSettings(**(fitting | changed))
    return Course(SETTINGS, records(), retriever(), GENERATORS, NO_RANKERS, CollectSettings(), fit, 0)


def run(folder: Path, given: Course | None = None, **changed: Any) -> ForestController:
    first = collect_rows(SETTINGS, records(), retriever(), GENERATORS, folder / "collection", CollectSettings(), 0)
    settings = IterateSettings(**({"rounds": 2, "patience": 3, "folds": FOLDS} | changed))
    return iterate(given or course(), first, folder, settings)


def decisions(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "iterations" / "decisions.json").read_text())
    assert isinstance(found, dict)
    return found


def content(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def scripted(monkeypatch: pytest.MonkeyPatch, *worths: float) -> None:
    """Let validation find these returns, one a round."""
    left = list(worths)
    monkeypatch.setattr(module, "validate", lambda *_: Validation(left.pop(0), 0.5, 0.5, 2.0, 3))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    run(folder)
    return folder


def test_every_round_is_kept_and_noted(whole: Path) -> None:
    noted = decisions(whole)
    assert [round_["round"] for round_ in noted["rounds"]] == [0, 1, 2]
    assert [round_["decision"] for round_ in noted["rounds"]] == ["go on", "go on", "stop: last round"]
    held = [record.id for record in records() if fold_of(record.id, FOLDS, 0) == 0]
    assert (noted["held_out"], noted["train"]) == (len(held), 8 - len(held)) and 0 < len(held) < 8
    names = build_rules(SETTINGS).operations.names
    for number in (0, 1, 2):
        kept = load_controller(whole / "iterations" / str(number) / "controller", FeatureMap(names).names, names)
        assert kept.fingerprint == noted["rounds"][number]["controller"]
        assert kept.manifest["questions"] == noted["train"]
    for number in (1, 2):
        behaviour = json.loads((whole / "iterations" / str(number) / "collection" / "manifest.json").read_text())
        assert behaviour["behaviour"]["controller"] == noted["rounds"][number - 1]["controller"]


def test_the_controller_of_the_best_round_is_fitted_to_all_questions_up_to_it(whole: Path) -> None:
    best = decisions(whole)["best"]
    names = build_rules(SETTINGS).operations.names
    final = load_controller(whole / "controller", FeatureMap(names).names, names)
    folders = [whole / "collection", *(whole / "iterations" / str(n) / "collection" for n in range(1, best + 1))]
    assert final.manifest["rows"] == sum(read_rows(folder).num_rows for folder in folders)
    assert final.manifest["questions"] == 8 and final.manifest["iterations"]["best"] == best


@pytest.mark.parametrize("writes", [8, 11, 20])
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(
    writes: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, write = [writes], PartStore.write

    def interrupted(self: PartStore, question_id: str, part: pa.Table) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        write(self, question_id, part)

    with monkeypatch.context() as patch:
        patch.setattr(PartStore, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
    assert not (tmp_path / "controller").exists()
    run(tmp_path)
    assert content(tmp_path) == content(whole)


@pytest.mark.parametrize(
    ("worths", "settings", "best", "rounds"),
    [
        ([0.5, 0.4], {"rounds": 5, "patience": 1}, 0, 2),
        ([0.5, 0.5], {"rounds": 5, "patience": 1}, 0, 2),
        ([0.5, 0.6, 0.55], {"rounds": 5, "patience": 1}, 1, 3),
        ([0.5, 0.4, 0.6], {"rounds": 2, "patience": 2}, 2, 3),
        ([0.5, 0.4, 0.3], {"rounds": 5, "patience": 2}, 0, 3),
        ([0.5, 0.6], {"rounds": 1, "patience": 1}, 1, 2),
    ],
)
def test_it_stops_by_validation_and_keeps_the_best(
    worths: list[float],
    settings: dict[str, Any],
    best: int,
    rounds: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted(monkeypatch, *worths)
    controller = run(tmp_path, **settings)
    noted = decisions(tmp_path)
    assert noted["best"] == best == controller.manifest["iterations"]["best"]
    assert len(noted["rounds"]) == rounds and noted["rounds"][-1]["decision"].startswith("stop")


def test_a_higher_return_is_better_then_a_higher_support_recall() -> None:
    base = Validation(0.5, 0.5, 0.5, 2.0, 3)
    assert base._replace(worth=0.6, support_recall=0.1).better_than(base)
    assert base._replace(support_recall=0.6).better_than(base)
    assert not base.better_than(base) and not base._replace(answer_f1=0.9).better_than(base)


def test_validation_gives_the_means_of_episodes() -> None:
    from evidencegym.controllers.fixed_k import FixedKController
    from evidencegym.eval.runner import Method, run_method

    rules, names = build_rules(SETTINGS), build_rules(SETTINGS).operations.names
    policy = FixedKController(FeatureMap(names).names, names, 2)
    results = run_method(Method("fixed", rules, policy), records(), engine())
    found = validate(policy, records(), rules, lambda _: engine(), Return(answer_weight=0.5))
    recall = sum(result["metrics"]["support_recall"] for result in results) / 8
    f1 = sum(result["metrics"]["answer_f1"] for result in results) / 8
    assert found == pytest.approx((recall + 0.5 * f1, recall, f1, 2.0, 8))
    dear = validate(policy, records(), rules, lambda _: engine(), Return(0.5, 0.1, {"retrievals": 1.0}))
    assert dear.worth < recall - 0.1 * 1.5 + 1e-9


def test_episodes_are_numbered_on() -> None:
    from tests.training.test_targets import row, table

    rows = table(row("gap_query", 0.0, 0.5), row("stop_answer", 0.5, 0.5)._replace(episode=1))
    both = aggregate([rows, rows, rows])
    assert both.column("episode").to_pylist() == [0, 1, 2, 3, 4, 5]
    assert both.schema == rows.schema and aggregate([rows]).equals(rows)


def test_rounds_collected_otherwise_are_refused(tmp_path: Path) -> None:
    run(tmp_path, rounds=1)
    with pytest.raises(ManifestMismatchError, match="another behaviour"):
        run(tmp_path, rounds=1, epsilon=0.5)
    with pytest.raises(ManifestMismatchError, match="another behaviour"):
        run(tmp_path, course(cost_weight=0.3), rounds=1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rounds": -1}, "iterate.rounds must be at least 0, found -1"),
        ({"folds": 1}, "iterate.folds must be at least 2"),
        ({"patience": 0}, "iterate.patience must be at least 1"),
        ({"epsilon": 1.5}, r"iterate.epsilon must be in \[0, 1\]"),
    ],
)
def test_settings_out_of_range_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        IterateSettings(**changed)


def test_too_few_questions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="questions to fit to and to validate on, found 0 held out of 1"):
        one = next(record for record in records() if fold_of(record.id, FOLDS, 0))
        iterate(course()._replace(records=[one]), pa.table({}), tmp_path, IterateSettings(folds=FOLDS))
