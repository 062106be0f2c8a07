"""The comparison of methods, and baselines at matched retrievals."""

import json

import numpy as np
import pytest

from evidencegym.eval.comparison import COLUMNS, column, compare, matched
from evidencegym.eval.statistics import bootstrap_mean, paired_difference
from tests.eval.small_results import result

LEARNED = [result(0, 1.0, 2, 1.0), result(1, 0.5, 3, 0.5), result(2, 1.0, 4), result(3, 0.0, 1, prompt_tokens=900)]
BASELINE = [result(0, 0.5, 4, 0.5), result(1, 0.5, 4, 0.5), result(2, 0.5, 4), result(3, 0.5, 4)]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("support_recall", [1.0, 0.5, 1.0, 0.0]),
        ("full_support", [1, 0, 1, 0]),
        ("answer_f1", [1.0, 0.5, 0, 0]),
        ("answer_em", [1, 0, 0, 0]),
        ("documents", [6, 9, 12, 3]),
        ("retrievals", [2, 3, 4, 1]),
        ("tokens", [110, 110, 110, 910]),
        ("generator_calls", [2, 2, 2, 2]),
        ("prompt_tokens", [100, 100, 100, 900]),
    ],
)
def test_columns(name: str, values: list[float]) -> None:
    assert column(LEARNED, name).tolist() == values
    assert column([], name).shape == (0,)


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(KeyError):
        column(LEARNED, "beauty")


def test_means_and_paired_differences() -> None:
    found = compare("title", {"learned": LEARNED, "base": BASELINE}, "learned", seed=3)
    assert (found.title, found.questions, found.reference) == ("title", 4, "learned")
    assert list(found.means) == ["learned", "base"] and list(found.differences) == ["base"]
    assert list(found.means["base"]) == [name for name, _ in COLUMNS]
    for name, _ in COLUMNS:
        a, b = column(LEARNED, name), column(BASELINE, name)
        assert found.means["learned"][name] == pytest.approx(bootstrap_mean(a, 3))
        assert found.differences["base"][name] == pytest.approx(paired_difference(a, b, 3))
    assert found.differences["base"]["support_recall"].mean == pytest.approx(0.125)
    assert compare("title", {"learned": LEARNED, "base": BASELINE}, "learned", seed=3) == found
    assert compare("t", {"base": BASELINE}, "learned").differences == {}


def test_numbers_for_json() -> None:
    found = compare("title", {"learned": LEARNED, "base": BASELINE}, "learned")
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["means"]["learned"]["retrievals"] == dict(
        zip(("mean", "low", "high"), found.means["learned"]["retrievals"])
    )
    assert plain["questions"] == 4 and plain["reference"] == "learned"


def by_k() -> dict[int, list[dict[str, object]]]:
    recalls = {1: [0.0, 0.5], 2: [0.5, 0.5], 4: [1.0, 0.75]}
    return {k: [result(i, recall, k) for i, recall in enumerate(values)] for k, values in recalls.items()}


@pytest.mark.parametrize(
    ("retrievals", "expected"),
    [
        (0.5, [0.0, 0.5]),
        (1.0, [0.0, 0.5]),
        (1.25, [0.125, 0.5]),
        (2.0, [0.5, 0.5]),
        (3.5, [0.875, 0.6875]),
        (4.0, [1.0, 0.75]),
        (7.0, [1.0, 0.75]),
    ],
)
def test_a_baseline_at_matched_retrievals_by_hand(retrievals: float, expected: list[float]) -> None:
    assert matched(by_k(), retrievals, "support_recall").tolist() == expected
    shuffled = dict(sorted(by_k().items(), reverse=True))
    assert matched(shuffled, retrievals, "support_recall").tolist() == expected


def test_a_baseline_that_stops_growing_is_no_division_by_zero() -> None:
    same = {1: [result(0, 0.1, 1)], 2: [result(0, 0.2, 2)], 3: [result(0, 0.3, 2)], 4: [result(0, 0.4, 2)]}
    assert matched(same, 2.0, "support_recall").tolist() == [0.2]
    assert matched(same, 2.5, "support_recall").tolist() == [0.4]
    assert matched({3: [result(0, 0.3, 3)]}, 1.0, "support_recall").tolist() == [0.3]


def test_the_cost_of_a_matched_baseline_is_the_wanted_one() -> None:
    for wanted in np.linspace(1, 4, 13):
        assert matched(by_k(), float(wanted), "retrievals").mean() == pytest.approx(wanted)
