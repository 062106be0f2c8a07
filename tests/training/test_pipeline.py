"""The whole of training on the small corpus, with generators that have not seen their questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import PRESETS
from evidencegym.controllers.files import load_controller
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.data.records import Record
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.settings import TaskSettings
from evidencegym.generation.base import Generator
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit import FitSettings
from evidencegym.training.generators import Generators
from evidencegym.training.pipeline import collect_rows, fit_rows
from evidencegym.training.rows import ROW_FORMAT
from tests.fakes import OverlapGenerator
from tests.small_world import records, retriever
from tests.training.test_collect import Fitted

SETTINGS = TaskSettings()
TEXTS = [record.question.text for record in records()]


def generators(n_folds: int = 3) -> tuple[Generators, list[Fitted]]:
    """Return a generator fitted on everything, which may not be asked, and one a fold, fitted on the others."""
    folds = [Fitted(f"fold {n}", [t for i, t in enumerate(TEXTS) if i % n_folds != n]) for n in range(n_folds)]

    def of(record: Record) -> Generator:
        return folds[TEXTS.index(record.question.text) % n_folds]

    return Generators(Fitted("full", TEXTS), of), folds


def collect_small(folder: Path, settings: TaskSettings = SETTINGS, seed: int = 0, **changed: Any) -> Any:
    collecting = CollectSettings(**changed)
    return collect_rows(settings, records(), retriever(), generators()[0], folder, collecting, seed)


def test_every_question_is_asked_of_a_model_that_has_not_seen_it(tmp_path: Path) -> None:
    made, folds = generators()
    rows = collect_rows(SETTINGS, records(), retriever(), made, tmp_path, CollectSettings(), 0)
    assert [fold.asked for fold in folds] == [{t for i, t in enumerate(TEXTS) if i % 3 == n} for n in range(3)]
    assert set(rows.column("question_id").to_pylist()) == {record.id for record in records()}


def test_the_behaviour_never_stops_while_it_may_go_on(tmp_path: Path) -> None:
    rows = collect_small(tmp_path).to_pylist()
    assert {row["operation"] for row in rows} >= {"stop_answer", "sufficiency_check", "gap_query"}
    followed = [row for row in rows if row["chosen"]]
    assert all(row["operation"] != "stop_answer" for row in followed)
    assert {row["episode"] for row in rows} == {0, 1}


def test_one_seed_is_one_controller(tmp_path: Path) -> None:
    def train(folder: Path, seed: int) -> dict[str, bytes]:
        rows = collect_small(folder / "collection", seed=seed)
        fitting = FitSettings(trees=5, jobs=1)
        fit_rows(SETTINGS, rows, folder / "controller", fitting, OverlapGenerator(), seed)
        return {file.name: file.read_bytes() for file in (folder / "controller").iterdir()}

    assert train(tmp_path / "a", 0) == train(tmp_path / "b", 0)
    assert train(tmp_path / "a", 0) != train(tmp_path / "c", 1)
    manifest = load_small(tmp_path / "a" / "controller").manifest
    assert manifest["questions"] == 8 and manifest["generator"] == "overlap" and manifest["caps"]["steps"] == 4


def load_small(folder: Path) -> Any:
    return load_controller(folder, FeatureMap(PRESETS["paper"]).names, PRESETS["paper"])


@pytest.mark.parametrize(
    ("settings", "seed", "changed", "message"),
    [
        (TaskSettings(caps=Caps(steps=5)), 0, {}, "another caps"),
        (TaskSettings(disabled=["gap_query"]), 0, {}, "another disabled"),
        (TaskSettings(operations=["stop_answer", "retrieve_more"]), 0, {}, "another features, operations"),
        (TaskSettings(closed_book=True), 0, {}, "another rules"),
        (SETTINGS, 1, {}, "another behaviour"),
        (SETTINGS, 0, {"episodes": 3}, "another behaviour"),
    ],
)
def test_a_collection_made_otherwise_is_refused(
    settings: TaskSettings, seed: int, changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    collect_small(tmp_path)
    with pytest.raises(ManifestMismatchError, match=message):
        collect_small(tmp_path, settings, seed, **changed)
    collect_small(tmp_path, batch=3)


def test_a_collection_of_the_format_before_is_refused(tmp_path: Path) -> None:
    collect_small(tmp_path)
    manifest = tmp_path / "manifest.json"
    noted = json.loads(manifest.read_text())
    assert noted.pop("row_format") == ROW_FORMAT
    manifest.write_text(json.dumps(noted))
    with pytest.raises(ManifestMismatchError, match="another row_format; use another folder"):
        collect_small(tmp_path)


def test_other_generators_are_refused(tmp_path: Path) -> None:
    collect_small(tmp_path)
    with pytest.raises(ManifestMismatchError, match="another generators"):
        other = Generators(OverlapGenerator(), lambda _: OverlapGenerator())
        collect_rows(SETTINGS, records(), retriever(), other, tmp_path, CollectSettings(), 0)


def test_a_controller_cannot_take_the_place_of_a_file(tmp_path: Path) -> None:
    rows = collect_small(tmp_path / "collection")
    (tmp_path / "run").write_text("x")
    with pytest.raises(DataError, match="cannot write"):
        fit_rows(SETTINGS, rows, tmp_path / "run" / "controller", FitSettings(trees=2), OverlapGenerator(), 0)
