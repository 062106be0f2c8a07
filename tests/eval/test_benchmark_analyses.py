"""The analyses of a benchmark, against values computed by hand."""

from typing import Any

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.eval.statistics import bootstrap_columns, holm, sign_flip_p
from evidencegym.eval.suite.frontier import area_table, cap_table, equal_recall_table, frontier_table
from evidencegym.eval.suite.operation_use import OperationUse, operation_table, operation_use
from evidencegym.eval.suite.points import area, capped_points, free_points, frontier_line, weighted_points
from evidencegym.eval.suite.protocol_comparison import compare_protocol
from evidencegym.eval.suite.regret import regret_table
from evidencegym.eval.suite.scores import check_paired
from evidencegym.eval.suite.slices import best_baseline, slices
from evidencegym.eval.suite.stops import EARLY, HOPELESS, LATE, ON_TIME, steps_after, stop_of, stop_table
from evidencegym.eval.suite.variants import ablation_table, transfer_table

from .small_scores import point, scores

RECALL = {"a": [1.0, 0.5, 1.0, 0.5], "learned": [1.0, 1.0, 1.0, 0.5], "b": [0.0, 0.5, 0.5, 0.0]}
METHODS = {name: scores(name, support_recall=values, answer_f1=0.5) for name, values in RECALL.items()}


def test_the_tests_of_a_protocol_are_paired_and_corrected_as_one_family() -> None:
    found = compare_protocol("musique", "free", METHODS, seed=2)
    assert [(test.baseline, test.column) for test in found.tests] == [
        ("a", "support_recall"), ("a", "answer_f1"), ("b", "support_recall"), ("b", "answer_f1"),
    ]  # fmt: skip
    differences = np.array([[0, 0.5, 0, 0], [0] * 4, [1.0, 0.5, 0.5, 0.5], [0] * 4]).T
    assert [test.difference.mean for test in found.tests] == pytest.approx([0.125, 0, 0.625, 0])
    assert [test.difference for test in found.tests] == bootstrap_columns(differences, 2)
    p_values = sign_flip_p(differences, 2)
    assert [test.p for test in found.tests] == p_values
    assert [test.p_holm for test in found.tests] == holm(p_values)
    # four differences of one sign: 2 of the 16 flips are as extreme
    assert found.tests[2].p == pytest.approx(2 / 16, abs=0.01)
    assert found.means["b"]["support_recall"].mean == 0.25 and found.questions == 4


def test_without_the_learned_controller_nothing_is_tested() -> None:
    assert compare_protocol("musique", "free", {"a": METHODS["a"]}).tests == ()


def test_slices_show_the_best_baseline_by_type_and_hops() -> None:
    assert best_baseline(METHODS) == "a" and best_baseline({"learned": METHODS["learned"]}) == ""
    found = slices("free", METHODS)
    assert found is not None and found.settings == {"baseline": "a"}
    rows = {row["slice"]: row for row in found.rows}
    assert list(rows) == ["all", "type bridge", "type comparison", "2 hops", "3 hops"]
    assert [rows[name]["questions"] for name in rows] == [4, 2, 2, 3, 1]
    assert rows["type comparison"]["support_recall_difference"] == 0.25  # q1 gains a half, q3 nothing
    assert rows["2 hops"]["support_recall_baseline"] == pytest.approx(2 / 3)  # q0, q1, q3
    assert slices("free", {"a": METHODS["a"]}) is None


def test_the_frontier_is_the_undominated_points() -> None:
    points = [point("x", 1, 0.4), point("x", 2, 0.3), point("x", 2, 0.6), point("x", 3, 0.6), point("x", 4, 1.0)]
    assert frontier_line(points, "retrievals", "support_recall") == [(1, 0.4), (2, 0.6), (4, 1.0)]


def test_the_area_is_the_mean_height_over_the_range() -> None:
    points = [point("x", 1, 0.4), point("x", 2, 0.6), point("x", 4, 1.0)]
    measured = ("retrievals", "support_recall")
    assert area(points, *measured, 1, 4) == pytest.approx((0.5 * 1 + 0.8 * 2) / 3)
    assert area(points, *measured, 3, 5) == pytest.approx((0.9 * 1 + 1.0 * 1) / 2)
    assert area(points, *measured, 1.5, 2) == pytest.approx(0.55)
    assert area(points, *measured, 0.5, 4) is None and area(points, *measured, 4, 4) is None
    assert area([], *measured, 1, 4) is None
    assert area([point("x", 1, 0.7)], *measured, 1, 4) == pytest.approx(0.7)


def test_the_areas_of_all_families_are_over_one_range() -> None:
    points = [point("learned", 1, 0.5), point("learned", 3, 0.9), point("fixed_k", 2, 0.4), point("fixed_k", 4, 0.6)]
    rows = {row["family"]: row for row in area_table(points).rows if row["cost"] == "retrievals"}
    assert list(rows) == ["learned", "all baselines", "fixed_k"]
    assert {(row["low"], row["high"]) for row in rows.values()} == {(2.0, 4.0)}
    assert rows["learned"]["support_recall"] == pytest.approx((0.8 + 0.9) / 2)
    assert rows["fixed_k"]["support_recall"] == rows["all baselines"]["support_recall"] == pytest.approx(0.5)


def test_equal_recall_takes_the_cheapest_setting_that_reaches_the_best_baseline() -> None:
    own = [point("learned", 2, 0.7, setting="low"), point("learned", 2.5, 0.8, setting="mid"), point("learned", 4, 0.9)]
    baselines = [point("s2g", 3, 0.6), point("ircot", 4, 0.75), point("ircot", 1, 0.99, steps=1)]
    row = equal_recall_table([*own, *baselines]).rows[0]
    assert (row["baseline"], row["setting"], row["baseline_cost"], row["learned_cost"]) == ("ircot", "mid", 4.0, 2.5)
    assert row["share"] == pytest.approx(2.5 / 4) and row["difference"] == pytest.approx(0.05)
    assert row["cost_difference"] == pytest.approx(-1.5)
    ranked = equal_recall_table([*own, *baselines, point("ircot+ranker", 4, 0.85)]).rows
    found = [(row["baseline"], row["setting"]) for row in ranked if row["quality"] == "support recall"]
    assert found == [("ircot", "mid")] * 2 + [("ircot+ranker", own[2].setting)] * 2
    [unreached, *_] = equal_recall_table([own[0], baselines[1]]).rows
    assert unreached["setting"] is None and unreached["share"] is None
    assert equal_recall_table(own).rows == []


def test_points_are_read_off_the_names_of_the_methods() -> None:
    free = {name: scores(name) for name in ("learned", "fixed_1", "fixed_4", "s2g", "s2g+ranker")}
    caps = {name: scores(name) for name in ("learned-steps2", "fixed_2-steps2", "s2g-steps2")}
    assert [(p.family, p.steps) for p in capped_points(caps, free, 4)] == [
        ("learned", 2), ("learned", 4), ("fixed_k", 2), ("fixed_k", 4), ("s2g", 2), ("s2g", 4),
    ]  # fmt: skip
    assert [p.family for p in free_points(free)] == ["learned", "fixed_k", "fixed_k", "s2g", "s2g+ranker"]
    weighted = weighted_points({name: scores(name) for name in ("tokens-0.1", "tokens-0.05", "retrievals-1", "other")})
    assert [p.setting for p in weighted] == ["λ = 1 on retrievals", "λ = 0.05 on tokens", "λ = 0.1 on tokens"]


def test_the_tables_of_points_have_their_columns() -> None:
    points = [point("learned", 1, 0.5, steps=1), point("learned", 2, 0.75, steps=2)]
    assert [row["support_recall"] for row in cap_table(points).as_dict()["rows"]] == [0.5, 0.75]
    assert [row["tokens"] for row in frontier_table(points, "tokens").as_dict()["rows"]] == [1.0, 2.0]


def test_variants_are_the_learned_controller_minus_them() -> None:
    learned, other = METHODS["learned"], METHODS["b"]
    table = ablation_table("free", learned, {"no_compress": other}).as_dict()
    assert [row["what"] for row in table["rows"]] == ["nothing", "compress is disabled"]
    assert table["rows"][1]["support_recall_difference"] == 0.625 and "2 tests" in table["asks"]
    assert table["rows"][0]["support_recall_p_holm"] is None
    moved = transfer_table("equal", "musique", learned, {"from_hotpotqa": other}).as_dict()
    assert [row["what"] for row in moved["rows"]] == ["trained here", "trained on hotpotqa"]


def test_scores_are_restricted_and_paired_by_question() -> None:
    some = METHODS["learned"].on(["q3", "q1"])
    assert some.column("support_recall").tolist() == [0.5, 1.0] and some.types == ("comparison", "comparison")
    with pytest.raises(ConfigError, match="does not hold 1 of 2 questions"):
        METHODS["learned"].on(["q0", "q9"])
    with pytest.raises(ConfigError, match="cannot pair b with a"):
        check_paired([METHODS["a"], METHODS["b"].on(["q1", "q0"])])


def step(operation: str, brought: list[str], valid: list[str], vetoed: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "operation": operation,
        "valid": valid,
        "vetoed": list(vetoed),
        "values": {name: 1.0 if name == operation else 0.25 for name in valid},
        "brought": [[f"id of {title}", title] for title in brought],
    }


OPERATIONS = ("retrieve_more", "gap_query", "bridge_entity_expand", "rewrite_query", "sufficiency_check", "stop_answer")
MORE = ["retrieve_more", "rewrite_query", "sufficiency_check", "stop_answer"]
RESULT = {
    "gold": {"support": ["A", "B"]},
    "steps": [
        step("retrieve_more", ["A", "X"], ["retrieve_more"]),
        step("rewrite_query", ["A", "Y"], MORE, vetoed=("stop_answer",)),
        step("sufficiency_check", [], MORE),
        step("stop_answer", [], MORE),
    ],
}


def test_the_use_of_operations_is_read_off_the_traces() -> None:
    uses = operation_use([RESULT], OPERATIONS)
    first = uses["retrieve_more"]
    assert (first.valid, first.chosen, first.brought, first.helped, first.gains) == (4, 1, 1, 1, 0.5)
    assert first.margins == [0.75, 0.75, 0.75]
    again = uses["rewrite_query"]
    assert (again.valid, again.chosen, again.brought, again.helped, again.gains) == (3, 1, 1, 0, 0.0)
    assert uses["sufficiency_check"].helped == 1 and uses["stop_answer"].vetoed == 1
    reasons = {name: use.reason(name) for name, use in uses.items()}
    assert reasons == {
        "retrieve_more": "alive",
        "gap_query": "never valid",
        "bridge_entity_expand": "never valid",
        "rewrite_query": "chosen, but brings nothing",
        "sufficiency_check": "alive",
        "stop_answer": "alive",
    }
    rows = {row["operation"]: row for row in operation_table("free", uses, 1).as_dict()["rows"]}
    assert rows["retrieve_more"]["chosen"] == 0.25 and rows["gap_query"]["chosen"] is None
    assert rows["stop_answer"]["vetoed"] == pytest.approx(1 / 3, abs=1e-6)


def test_dead_operations_have_their_reason() -> None:
    assert OperationUse(valid=10, margins=[0.5]).reason("gap_query") == "never chosen: valued below another"
    assert OperationUse(valid=10, vetoed=10).reason("stop_answer") == "never chosen: always vetoed"
    assert OperationUse(valid=500, chosen=1, helped=1, margins=[0.5]).reason("gap_query").startswith("rarely chosen")
    assert OperationUse(valid=10, chosen=1).reason("gap_query") == "chosen, but brings nothing"
    assert OperationUse(valid=10, chosen=1).reason("stop_answer") == "alive"


def line(recall: list[float], bound: list[float], operations: str, end: str = "cap") -> dict[str, Any]:
    names = {"R": "retrieve_more", "?": "sufficiency_check", ".": "stop_answer"}
    made = [names[letter] for letter in operations]
    spent = np.cumsum([0, *(name == "retrieve_more" for name in made)]).tolist()
    return {"recall": recall, "bound": bound, "operations": made, "end": end, "retrievals": spent}


EPISODES = [
    line([0, 0.5, 0.5], [1, 1, 0.5], "R.", "stop"),
    line([0, 1, 1], [1, 1, 1], "R.", "stop"),
    line([0, 1, 1, 1, 1], [1, 1, 1, 1, 1], "R?R.", "stop"),
    line([0, 0.5, 1], [1, 1, 1], "RR"),
    line([0, 0, 0], [0, 0, 0], "RR"),
    line([0, 0.5, 0.5], [0.5, 0.5, 0.5], "RR"),
]


def test_stops_are_too_early_on_time_or_too_late() -> None:
    assert [stop_of(episode) for episode in EPISODES] == [EARLY, ON_TIME, LATE, ON_TIME, HOPELESS, LATE]
    assert [steps_after(episode) for episode in EPISODES] == [0, 0, 2, 0, 2, 1]
    rows = {row["end"]: row for row in stop_table("free", EPISODES).as_dict()["rows"]}
    assert [rows[name]["questions"] for name in (EARLY, ON_TIME, LATE, HOPELESS)] == [1, 2, 2, 1]
    assert rows[EARLY]["lost"] == 0.5 and rows[LATE]["spared"] == 1.0 and rows[ON_TIME]["capped"] == 0.5
    assert stop_table("free", EPISODES[:1]).as_dict()["rows"][1]["recall"] is None


def test_the_regrets_of_the_steps_add_up_to_that_of_the_episodes() -> None:
    rows = {row["decision"]: row for row in regret_table("free", EPISODES).as_dict()["rows"]}
    assert rows["whole episodes"]["regret"] == pytest.approx(0.5 / 6, abs=1e-6)
    assert rows["stop_answer"]["regret"] == pytest.approx(0.5 / 3, abs=1e-6) and rows["stop_answer"]["decisions"] == 3
    assert rows["step 2"]["wrong"] == pytest.approx(1 / 6, abs=1e-6) and rows["step 1"]["wrong"] == 0.0
    steps = [row for name, row in rows.items() if name.startswith("step ")]
    assert sum(row["regret"] * row["decisions"] for row in steps) == pytest.approx(0.5, abs=1e-5)
