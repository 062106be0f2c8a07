"""Tree arrays predict the very bits of scikit-learn, and damaged ones are refused."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits

from evidencegym.data.errors import ManifestMismatchError
from evidencegym.data.storage import load_folder, save_folder
from evidencegym.data.trees import TreeArrays

Rows = NDArray[np.floating[Any]]


def data(
    seed: int, n: int = 400, width: int = 6, integers: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    rows = random.integers(0, 4, (n, width)).astype(np.float64) if integers else random.normal(size=(n, width))
    return rows, np.sin(3 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + random.normal(0, 0.1, n)


FORESTS: dict[str, dict[str, Any]] = {
    "full": {"n_estimators": 13},
    "as many as walk side by side": {"n_estimators": 16, "max_depth": 3},
    "one more": {"n_estimators": 17, "max_depth": 3},
    "one tree": {"n_estimators": 1},
    "depth 1": {"n_estimators": 20, "max_depth": 1},
    "leaf 8": {"n_estimators": 20, "min_samples_leaf": 8, "max_features": 1 / 3},
    "best first": {"n_estimators": 9, "max_leaf_nodes": 17},
    "single leaf": {"n_estimators": 5, "min_samples_leaf": 400},
    "absolute error": {"n_estimators": 3, "criterion": "absolute_error", "max_depth": 4},
}


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("integers", [False, True])
def test_a_forest_gives_the_same_bits(name: str, integers: bool) -> None:
    rows, target = data(1, integers=integers)
    fitted = RandomForestRegressor(random_state=3, n_jobs=1, **FORESTS[name]).fit(rows, target)
    for unseen in (rows.astype(np.float32), data(2, integers=integers)[0].astype(np.float32)):
        assert TreeArrays.from_forest(fitted).predict(unseen).tobytes() == fitted.predict(unseen).tobytes()


def test_a_forest_on_float32_edges_gives_the_same_bits() -> None:
    """Rows that lie on the thresholds themselves go left, as scikit-learn sends them."""
    rows, target = data(4, integers=True)
    fitted = ExtraTreesRegressor(n_estimators=7, random_state=0, n_jobs=1).fit(rows, target)
    model = TreeArrays.from_forest(fitted)
    on = np.unique(model.value[model.feature >= 0]).astype(np.float32)
    edges = np.stack([np.nextafter(on, np.float32(side)) for side in (-9, 9)] + [on], axis=1).ravel()
    unseen = np.resize(edges, (len(edges), rows.shape[1])).astype(np.float32)
    assert model.predict(unseen).tobytes() == fitted.predict(unseen).tobytes()


BOOSTINGS: dict[str, dict[str, Any]] = {
    "default": {"max_iter": 15},
    "one stump": {"max_iter": 1, "max_depth": 1},
    "stumps": {"max_iter": 30, "max_depth": 1},
    "leaves": {"max_iter": 10, "max_leaf_nodes": 5},
    "single leaf": {"max_iter": 3, "min_samples_leaf": 400},
}


@pytest.mark.parametrize("name", BOOSTINGS)
def test_boosting_gives_the_same_bits(name: str) -> None:
    rows, target = data(5)
    unseen = data(6)[0]
    with threadpool_limits(1):
        regressor = HistGradientBoostingRegressor(random_state=0, **BOOSTINGS[name]).fit(rows, target)
        classifier = HistGradientBoostingClassifier(random_state=0, **BOOSTINGS[name]).fit(rows, target > 0)
    assert TreeArrays.from_boosting(regressor).predict(unseen).tobytes() == regressor.predict(unseen).tobytes()
    raw = TreeArrays.from_boosting(classifier).predict(unseen)
    assert raw.tobytes() == classifier.decision_function(unseen).tobytes()


@lru_cache(maxsize=4)
def model(n_estimators: int = 9) -> TreeArrays:
    rows, target = data(7, n=120)
    made = RandomForestRegressor(n_estimators, min_samples_leaf=4, random_state=0, n_jobs=1)
    return TreeArrays.from_forest(made.fit(rows, target))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 63, 64, 65, 200, 277, 528])
def test_rows_are_predicted_one_by_one_as_together(n: int, kind: type[Any]) -> None:
    rows = data(8, n=n)[0].astype(kind)
    together = model().predict(rows)
    assert np.array_equal(together, [model().predict(row[None])[0] for row in rows])
    assert np.array_equal(together, model().predict(np.asfortranarray(rows)))
    assert np.array_equal(together[::2], model().predict(rows[::2]))
    if kind is np.float32:
        assert np.array_equal(together, model().predict(rows.astype(np.float64)))


def test_no_row_has_no_prediction() -> None:
    for kind in (np.float32, np.float64):
        assert model().predict(np.zeros((0, 6), kind)).shape == (0,)


def test_no_tree_predicts_the_base() -> None:
    ids = np.zeros(0, np.int32)
    none = TreeArrays(ids, ids, np.zeros(0), ids, 1.5, 1.0, 2)
    assert none.predict(np.zeros((3, 2))).tolist() == [1.5] * 3


def test_the_sign_of_nothing_is_kept() -> None:
    """What fills a group of trees up adds nothing, not even a sign."""
    ids = np.zeros(1, np.int32)
    for base, value, expected in ((-0.0, -0.0, True), (0.0, -0.0, False), (-0.0, 0.0, False)):
        single = TreeArrays(ids - 1, ids, np.array([value]), ids, base, 1.0, 2)
        for kind in (np.float32, np.float64):
            found = single.predict(np.zeros((80, 2), kind))
            assert not found.any() and np.all(np.signbit(found) == expected)


def test_what_is_no_number_goes_right_in_every_walk() -> None:
    rows = np.where(np.random.default_rng(0).random((100, 6)) < 0.3, np.nan, data(3, n=100)[0]).astype(np.float32)
    expected = model().predict(rows.astype(np.float64))
    assert np.isfinite(expected).all() and len(np.unique(expected)) > 10
    assert np.array_equal(model().predict(rows), expected)
    assert np.array_equal(model().predict(rows[:20]), expected[:20])


@pytest.mark.parametrize("tests", [10_000, 21_844, 21_845, 40_000])
def test_a_tree_too_large_to_be_packed_gives_the_same(tests: int) -> None:
    """The root's right child stands behind all others: a chain of tests, each with a leaf to its left."""
    chain = np.arange(1, 2 * tests + 1, 2, dtype=np.int32)
    feature, right = np.full(2 * tests + 3, -1, np.int32), np.zeros(2 * tests + 3, np.int32)
    feature[0], right[0], feature[chain], right[chain] = 1, 2 * tests + 2, 0, chain + 2
    value = np.arange(2 * tests + 3, dtype=np.float64)
    value[0], value[chain] = 0.0, np.arange(tests)
    tree = TreeArrays(feature, right, value, np.zeros(1, np.int32), 0.0, 1.0, 2)
    assert (tree._packed is None) == (tests > 21_844)
    rows = np.array([[-1, 0], [7, 0], [tests - 1, 0], [tests, 0], [5, 1]], np.float32)
    expected = [2, 2 * 7 + 2, 2 * tests, 2 * tests + 1, 2 * tests + 2]
    assert tree.predict(rows).tolist() == expected
    assert tree.predict(np.resize(rows, (80, 2))).tolist() == expected * 16


def test_saved_arrays_predict_the_same_bits(tmp_path: Path) -> None:
    save_folder(tmp_path / "m", model().arrays("v_") | model(2).arrays("w_"), {"kind": "m"})
    arrays, _ = load_folder(tmp_path / "m", "m")
    rows = data(9)[0]
    assert np.array_equal(TreeArrays.from_arrays(arrays, "v_").predict(rows), model().predict(rows))
    assert np.array_equal(TreeArrays.from_arrays(arrays, "w_").predict(rows), model(2).predict(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_narrow_arrays_lose_nothing(dtype: type[Any], tmp_path: Path) -> None:
    rows, target = data(5)
    with threadpool_limits(1):
        boosted = TreeArrays.from_boosting(HistGradientBoostingRegressor(max_iter=3, random_state=0).fit(rows, target))
    whole = model() if dtype is np.float32 else boosted
    narrow = whole.narrow_arrays("v_")
    assert narrow["v_thresholds"].dtype == dtype and narrow["v_tests"].dtype == np.uint8
    save_folder(tmp_path / "m", narrow, {"kind": "m"}, deflated=False)
    again = TreeArrays.from_arrays(load_folder(tmp_path / "m", "m")[0], "v_").arrays("")
    assert {k: a.tobytes() for k, a in again.items()} == {k: a.tobytes() for k, a in whole.arrays("").items()}


def test_what_cannot_be_narrowed_is_kept_whole() -> None:
    parts = model(2).arrays("")
    last = int(parts["roots"][1])
    shared = TreeArrays.from_arrays(parts | {"roots": np.array([last, 0], np.int32)}, "")
    assert shared.narrow_arrays("").keys() == parts.keys()


@pytest.mark.parametrize("name", ["tests", "thresholds", "leaves"])
def test_damaged_narrow_arrays_are_refused(name: str) -> None:
    whole = model().narrow_arrays("")
    with pytest.raises(ManifestMismatchError):
        TreeArrays.from_arrays({key: array for key, array in whole.items() if key != name}, "")
    wrong = [whole[name][None], whole[name][:-1], whole[name][1:], whole[name].astype(np.int16)]
    if name == "tests":
        wrong += [np.where(np.arange(len(whole[name])) == INNER, bad, whole[name]) for bad in (6, 255)]
        wrong = [array.astype(np.uint8) if array.dtype == np.int64 else array for array in wrong]
    for array in wrong:
        with pytest.raises(ManifestMismatchError, match="damaged"):
            TreeArrays.from_arrays(whole | {name: array}, "")


@pytest.mark.parametrize("shape", [(3, 5), (3, 7), (6,), (1, 2, 3)])
def test_rows_of_another_width_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ManifestMismatchError, match="expected rows of 6 features, found shape"):
        model().predict(np.zeros(shape))


def damage(name: str, place: int, value: float) -> dict[str, NDArray[Any]]:
    arrays = {key: array.copy() for key, array in model().arrays("").items()}
    arrays[name][place] = value
    return arrays


INNER = int(np.flatnonzero(model().feature >= 0)[3])


@pytest.mark.parametrize(
    "arrays",
    [
        damage("feature", INNER, 6),
        damage("right", INNER, INNER),
        damage("right", INNER, INNER + 1),
        damage("right", INNER, -5),
        damage("right", INNER, 10**6),
        damage("roots", 0, -1),
        damage("roots", 1, 10**6),
        damage("feature", -1, 0),
        damage("scalars", 1, 0.0),
        damage("scalars", 1, np.nan),
        damage("scalars", 2, 3),
    ],
)
def test_damaged_arrays_are_refused(arrays: dict[str, NDArray[Any]]) -> None:
    with pytest.raises(ManifestMismatchError, match="damaged"):
        TreeArrays.from_arrays(arrays, "")


@pytest.mark.parametrize("name", ["feature", "right", "value", "roots", "scalars"])
def test_missing_short_or_folded_arrays_are_refused(name: str) -> None:
    whole = model().arrays("")
    with pytest.raises(ManifestMismatchError, match=f"no array '{name}'"):
        TreeArrays.from_arrays({key: array for key, array in whole.items() if key != name}, "")
    wrong = [whole[name][None]]
    if name != "roots":  # fewer roots are a smaller ensemble
        wrong += [whole[name][:-1], np.concatenate([whole[name], whole[name]])]
    for array in wrong:
        with pytest.raises(ManifestMismatchError, match="damaged"):
            TreeArrays.from_arrays(whole | {name: array}, "")


@pytest.mark.parametrize("seed", range(40))
def test_arbitrary_arrays_are_refused_or_followed_to_an_end(seed: int) -> None:
    random = np.random.default_rng(seed)
    arrays = {key: array.copy() for key, array in model(2).arrays("").items()}
    for _ in range(3):
        name = ("feature", "right", "roots")[random.integers(3)]
        arrays[name][random.integers(len(arrays[name]))] = random.integers(-3, len(arrays["feature"]) + 3)
    try:
        damaged = TreeArrays.from_arrays(arrays, "")
    except ManifestMismatchError:
        return
    rows = data(seed, n=100)[0].astype(np.float32)
    found = damaged.predict(rows.astype(np.float64))
    assert np.isfinite(found).all()
    assert np.array_equal(damaged.predict(rows), found)
    assert np.array_equal(damaged.predict(rows[:20]), found[:20])
