"""Policy networks: their values, batches, files, and refusal of what does not fit or is damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evidencegym.controllers.mlp_policy import Layer, MLPPolicy, Standardisation
from evidencegym.controllers.policy_files import load_policy, save_policy
from evidencegym.data.errors import ConfigError, DataError, EvidenceGymError, ManifestMismatchError
from evidencegym.data.storage import load_folder, save_folder
from tests.controllers.models import FEATURES, OPERATIONS, forest, network


def features(n: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).uniform(0, 6, (n, len(FEATURES))).astype(np.float32)


def test_a_hand_made_network_gives_the_values_computed_by_hand() -> None:
    layers = [
        Layer(np.array([[1.0, 0.0], [0.0, 2.0]], np.float32), np.array([0.0, 1.0], np.float32)),
        Layer(np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 0.0]], np.float32), np.zeros(3, np.float32)),
    ]
    policy = MLPPolicy(
        layers, Standardisation(np.array([1.0, 0.0]), np.array([2.0, 0.001])), ("a", "b"), ("x", "y", "z")
    )
    seen = np.array([[3.0, -0.5]], np.float32)
    hidden = np.tanh([1.0, 2.0 * -10.0 + 1.0])
    logits = np.array([hidden[0], hidden[1], 3 * hidden[0]])
    assert np.allclose(policy.logits(seen), [logits], atol=1e-12)
    chosen = policy.decide(seen, np.array([[1, 1, 0]], np.int8), ["k"])
    total = np.exp(logits[0]) + np.exp(logits[1])
    assert chosen.operations.tolist() == [0] and chosen.values is not None
    assert np.allclose(chosen.values[0, :2], logits[:2] - np.log(total), atol=1e-12) and np.isnan(chosen.values[0, 2])


def test_no_bit_of_a_value_depends_on_the_batch() -> None:
    policy, seen, mask = network(hidden=(64, 64)), features(50), np.ones((50, len(OPERATIONS)), np.int8)
    together = policy.values(seen, mask)
    alone = np.vstack([policy.values(seen[i : i + 1], mask[:1]) for i in range(50)])
    assert np.array_equal(together, alone) and np.array_equal(together[::-1], policy.values(seen[::-1], mask))


def test_a_round_trip_changes_nothing(tmp_path: Path) -> None:
    save_policy(network(), tmp_path / "a")
    loaded = load_policy(tmp_path / "a", FEATURES, OPERATIONS)
    mask = np.ones((50, len(OPERATIONS)), np.int8)
    assert np.array_equal(loaded.values(features(50), mask), network().values(features(50), mask))
    assert loaded.fingerprint == network().fingerprint != network(1).fingerprint and loaded.manifest["note"] == "test"
    save_policy(loaded, tmp_path / "b")
    assert all(file.read_bytes() == (tmp_path / "b" / file.name).read_bytes() for file in (tmp_path / "a").iterdir())


def test_other_features_or_operations_are_refused(tmp_path: Path) -> None:
    save_policy(network(), tmp_path / "a")
    with pytest.raises(ManifestMismatchError, match=r"other features \(only there: none; only here: more"):
        load_policy(tmp_path / "a", (*FEATURES, "more"), OPERATIONS)
    with pytest.raises(ManifestMismatchError, match="other operations"):
        load_policy(tmp_path / "a", FEATURES, OPERATIONS[::-1])
    with pytest.raises(ManifestMismatchError, match="expected a saved policy network, found something else"):
        save_folder(tmp_path / "b", {}, {"kind": ""})
        load_policy(tmp_path / "b", FEATURES, OPERATIONS)
    with pytest.raises(DataError, match="no such file"):
        load_policy(tmp_path / "c", FEATURES, OPERATIONS)


def test_a_folder_of_another_kind_is_not_overwritten(tmp_path: Path) -> None:
    from evidencegym.controllers.files import save_controller

    save_controller(forest(), tmp_path / "a")
    with pytest.raises(ConfigError):
        save_policy(network(), tmp_path / "a")


Arrays = dict[str, NDArray[Any]]


def damages() -> dict[str, Callable[[Arrays], Any]]:
    return {
        "missing": lambda arrays: arrays.pop("weights_1"),
        "no layer": lambda arrays: [arrays.pop(name) for name in list(arrays) if name not in ("mean", "scale")],
        "shape": lambda arrays: arrays.update(weights_1=arrays["weights_1"].T.copy()),
        "bias": lambda arrays: arrays.update(bias_2=arrays["bias_2"][:-1]),
        "mean": lambda arrays: arrays.update(mean=arrays["mean"][:-1]),
        "scale": lambda arrays: arrays.update(scale=0 * arrays["scale"]),
        "not finite": lambda arrays: arrays.update(bias_0=arrays["bias_0"] * np.nan),
        "not numbers": lambda arrays: arrays.update(mean=np.array(["a"])),
        "depth": lambda arrays: arrays.update(weights_0=arrays["weights_0"][None]),
    }


@pytest.mark.parametrize("name", damages())
def test_damaged_arrays_are_refused(name: str, tmp_path: Path) -> None:
    save_policy(network(), tmp_path / "a")
    arrays, manifest = load_folder(tmp_path / "a", "policy network")
    damages()[name](arrays)
    save_folder(tmp_path / "a", arrays, manifest)
    with pytest.raises(ManifestMismatchError):
        load_policy(tmp_path / "a", FEATURES, OPERATIONS)


@pytest.mark.parametrize("change", [{"format": 2}, {"operations": None}, {"feature_names": [1]}])
def test_damaged_manifests_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    save_policy(network(), tmp_path / "a")
    file = tmp_path / "a" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(EvidenceGymError):
        load_policy(tmp_path / "a", FEATURES, OPERATIONS)
