"""Thresholds that are stored with an evaluator, and evaluators that have none."""

import json
from pathlib import Path

import pytest

from evidencegym.confidence.files import load_evaluator, require_calibrated, save_thresholds
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from tests.confidence.small_evaluators import cross_fitted, tasks, world_retriever


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cross_fitted().full.model.save(tmp_path / "e", {"seed": 7})
    return tmp_path / "e"


def test_thresholds_are_stored_with_the_evaluator(folder: Path) -> None:
    before = json.loads((folder / "manifest.json").read_text())
    assert load_evaluator(folder, world_retriever()).thresholds is None and before["thresholds"] is None
    save_thresholds(folder, Thresholds(0.4, -0.6), {"criterion": "by hand"})
    first = (folder / "manifest.json").read_bytes()
    manifest = json.loads(first)
    assert manifest.pop("thresholds") == {"upper": 0.4, "lower": -0.6, "criterion": "by hand"}
    assert manifest == {name: value for name, value in before.items() if name != "thresholds"}
    assert load_evaluator(folder, world_retriever()).thresholds == Thresholds(0.4, -0.6)
    save_thresholds(folder, Thresholds(0.4, -0.6), {"criterion": "by hand"})
    assert (folder / "manifest.json").read_bytes() == first


@pytest.mark.parametrize("wrong", [Thresholds(-0.6, 0.4), Thresholds(1.5, 0.0), Thresholds(float("nan"), 0.0)])
def test_thresholds_out_of_range_are_not_stored(wrong: Thresholds, folder: Path) -> None:
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(ConfigError, match="thresholds must satisfy"):
        save_thresholds(folder, wrong, {})
    assert (folder / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    "damaged", [{"upper": 0.4}, {"upper": "high", "lower": 0}, [0.4, 0.2], {"upper": 0, "lower": 1}]
)
def test_damaged_thresholds_are_refused(damaged: object, folder: Path) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "thresholds": damaged}))
    with pytest.raises(ManifestMismatchError, match="thresholds are damaged"):
        load_evaluator(folder, world_retriever())


def test_nothing_is_stored_where_there_is_no_evaluator(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        save_thresholds(tmp_path, Thresholds(0.4, -0.6), {})


def test_an_uncalibrated_evaluator_is_refused_unless_thresholds_are_given(folder: Path) -> None:
    bare = load_evaluator(folder, world_retriever())
    with pytest.raises(ConfigError, match="evidencegym calibrate"):
        require_calibrated(bare)
    allowed = require_calibrated(bare, Thresholds(0.5, -0.91))
    assert allowed.thresholds == Thresholds(0.5, -0.91)
    assert allowed.score(tasks()) == bare.score(tasks())
    assert allowed.fingerprint != bare.fingerprint
    with pytest.raises(ConfigError, match="thresholds must satisfy"):
        require_calibrated(bare, Thresholds(-1.0, 0.5))


def test_given_thresholds_take_the_place_of_fitted_ones(folder: Path) -> None:
    save_thresholds(folder, Thresholds(0.4, -0.6), {})
    calibrated = load_evaluator(folder, world_retriever())
    assert require_calibrated(calibrated) is calibrated
    assert require_calibrated(calibrated, Thresholds(0.1, 0.0)).thresholds == Thresholds(0.1, 0.0)


@pytest.mark.parametrize("kind", ["t5", "cross_encoder"])
def test_transformers_are_read_from_their_settings(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model itself is not needed to see which class is asked, with which settings and thresholds."""
    from evidencegym.confidence import cross_encoder, t5

    made: list[tuple[object, object, object]] = []

    def of(cls: type) -> classmethod:  # type: ignore[type-arg]
        return classmethod(lambda _, settings, thresholds=None: made.append((cls, settings, thresholds)) or "made")

    classes = {"t5": t5.T5Evaluator, "cross_encoder": cross_encoder.CrossEncoderEvaluator}
    for cls in classes.values():
        monkeypatch.setattr(cls, "from_settings", of(cls))
    manifest = {
        "kind": "evaluator",
        "type": kind,
        "settings": {"model": ".", "max_length": 64},
        "thresholds": {"upper": 0.5, "lower": -0.5},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert str(load_evaluator(tmp_path, world_retriever())) == "made"
    [(cls, settings, thresholds)] = made
    assert cls is classes[kind] and thresholds == Thresholds(0.5, -0.5)
    assert (settings.model, settings.max_length) == (str(tmp_path), 64)  # type: ignore[attr-defined]
