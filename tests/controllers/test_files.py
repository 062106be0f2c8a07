"""Saved controllers: equal bytes, round trip, refusal of what does not fit or is damaged."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from evidencegym.controllers.files import load_controller, save_controller
from evidencegym.controllers.forest import ForestController
from evidencegym.data.errors import DataError, EvidenceGymError, ManifestMismatchError
from tests.controllers.models import FEATURES, OPERATIONS, forest

Manifest = dict[str, Any]


@pytest.fixture(params=[False, True], ids=["plain", "continuation"])
def controller(request: pytest.FixtureRequest) -> ForestController:
    return forest(continuation=bool(request.param))


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def load(folder: Path) -> ForestController:
    return load_controller(folder, FEATURES, OPERATIONS)


def test_a_round_trip_changes_nothing(controller: ForestController, tmp_path: Path) -> None:
    save_controller(controller, tmp_path / "a")
    loaded = load(tmp_path / "a")
    features = np.random.default_rng(0).uniform(0, 6, (50, len(FEATURES))).astype(np.float32)
    mask = np.ones((50, len(OPERATIONS)), np.int8)
    first, second = (c.decide(features, mask, [""] * 50) for c in (controller, loaded))
    assert np.array_equal(first.operations, second.operations)
    assert first.values is not None and second.values is not None and np.array_equal(first.values, second.values)
    assert loaded.fingerprint == controller.fingerprint
    assert loaded.expected_costs == controller.expected_costs and loaded.manifest["note"] == "test"
    save_controller(loaded, tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_saving_twice_gives_equal_bytes(controller: ForestController, tmp_path: Path) -> None:
    save_controller(controller, tmp_path / "a")
    save_controller(controller, tmp_path / "b")
    first = content(tmp_path / "a")
    assert first == content(tmp_path / "b") and sorted(first) == ["arrays.npz", "manifest.json"]
    save_controller(forest(seed=5), tmp_path / "b")
    save_controller(controller, tmp_path / "b")
    assert first == content(tmp_path / "b")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]


def test_lambda_is_chosen_when_loading(tmp_path: Path) -> None:
    save_controller(forest(), tmp_path / "a")
    costly = load_controller(tmp_path / "a", FEATURES, OPERATIONS, cost_weight=0.7)
    assert costly.fingerprint == forest(cost_weight=0.7).fingerprint


def test_other_operations_or_features_are_refused(tmp_path: Path) -> None:
    save_controller(forest(), tmp_path / "a")
    with pytest.raises(ManifestMismatchError, match=r"other operations \(only there: compress; only here: none"):
        load_controller(tmp_path / "a", FEATURES, OPERATIONS[:-1])
    with pytest.raises(ManifestMismatchError, match=r"other operations .*the order counts too"):
        load_controller(tmp_path / "a", FEATURES, OPERATIONS[::-1])
    with pytest.raises(ManifestMismatchError, match=r"other features \(only there: steps; only here: strides"):
        names = ["strides" if name == "steps" else name for name in FEATURES]
        load_controller(tmp_path / "a", names, OPERATIONS)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"manifest\.json: no such file; expected the folder of a saved forest controller"
    ):
        load(tmp_path / "nowhere")
    save_controller(forest(), tmp_path / "a")
    (tmp_path / "a" / "arrays.npz").unlink()
    with pytest.raises(DataError, match=r"arrays\.npz: no such file"):
        load(tmp_path / "a")


@pytest.mark.parametrize("name", ["arrays.npz", "manifest.json"])
def test_a_truncated_file_is_refused(name: str, controller: ForestController, tmp_path: Path) -> None:
    save_controller(controller, tmp_path / "a")
    file = tmp_path / "a" / name
    whole = file.read_bytes()
    random = Random(1)
    for size in [0, 1, len(whole) - 2, *(random.randrange(len(whole) - 1) for _ in range(60))]:
        file.write_bytes(whole[:size])
        with pytest.raises(EvidenceGymError):
            load(tmp_path / "a")


def test_a_flipped_bit_is_refused_or_harmless(controller: ForestController, tmp_path: Path) -> None:
    save_controller(controller, tmp_path / "a")
    file = tmp_path / "a" / "arrays.npz"
    whole = file.read_bytes()
    random = Random(2)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[random.randrange(len(whole))] ^= 1 << random.randrange(8)
        file.write_bytes(damaged)
        try:
            loaded = load(tmp_path / "a")
        except EvidenceGymError:
            continue
        assert loaded.fingerprint == controller.fingerprint


def without(key: str) -> Callable[[Manifest], Manifest]:
    return lambda manifest: {name: value for name, value in manifest.items() if name != key}


def with_(**changed: Any) -> Callable[[Manifest], Manifest]:
    return lambda manifest: manifest | changed


@pytest.mark.parametrize(
    "change",
    [
        without("kind"),
        without("format"),
        with_(format=99),
        with_(kind="reader"),
        without("operations"),
        with_(operations=3),
        without("feature_names"),
        with_(feature_names=None),
        without("expected_costs"),
        with_(expected_costs=[]),
        with_(expected_costs=[1, 2]),
        with_(expected_costs=[{"prompt_tokens": "many"}] * 7),
        with_(continuation="maybe"),
        with_(continuation=True),
        lambda _: [],  # type: ignore[arg-type,return-value]
    ],
)
def test_a_wrong_manifest_is_refused(change: Callable[[Manifest], Manifest], tmp_path: Path) -> None:
    save_controller(forest(), tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(EvidenceGymError):
        load(tmp_path / "a")


def test_an_older_format_says_train_again(tmp_path: Path) -> None:
    save_controller(forest(), tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 1}))
    with pytest.raises(ManifestMismatchError, match="expected format 2, found 1; train again"):
        load(tmp_path / "a")


def test_arrays_of_another_controller_are_refused(tmp_path: Path) -> None:
    save_controller(forest(continuation=True), tmp_path / "a")
    save_controller(forest(), tmp_path / "b")
    shutil.copy(tmp_path / "b" / "arrays.npz", tmp_path / "a" / "arrays.npz")
    with pytest.raises(ManifestMismatchError, match="no array"):
        load(tmp_path / "a")
