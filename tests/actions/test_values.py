"""Caps, costs, bridge entities and operation sets: the values that the rules are made of."""

import numpy as np
import pytest

from evidencegym.actions.bridge import bridge_candidates, first_unexpanded
from evidencegym.actions.caps import Caps
from evidencegym.actions.costs import COST_NAMES, Cost, charge, check_weights, total, weighted_cost
from evidencegym.actions.operation_set import PRESETS, OperationSet, operation_set
from evidencegym.actions.state import EvidenceState
from evidencegym.actions.stop_answer import StopAnswer
from evidencegym.data.errors import ConfigError, InvalidOperationError
from evidencegym.data.records import Passage, Question


def test_the_paper_s_caps_are_the_default() -> None:
    assert Caps() == Caps(4, 3, 12, None, None, 100)


@pytest.mark.parametrize("name", ["steps", "documents_per_retrieval", "context_documents", "frontier"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, "3"])
def test_a_cap_is_a_whole_number_of_at_least_one(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"caps.{name} must be a whole number of at least 1"):
        Caps(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["retrievals", "documents"])
def test_an_optional_cap_may_be_none(name: str) -> None:
    assert getattr(Caps(), name) is None
    with pytest.raises(ConfigError, match=f"caps.{name}"):
        Caps(**{name: -2})


def test_costs_add_up_per_operation_and_in_all() -> None:
    ledger = charge(charge(charge((), "b", Cost(1, 2, 3)), "a", Cost(retrievals=1)), "b", Cost(10, 20, 30))
    assert ledger == (("b", Cost(11, 22, 33)), ("a", Cost(retrievals=1)))
    assert total(ledger) == Cost(11, 22, 33, 0, 1, 0)
    assert total(ledger).tokens == 33
    assert tuple(total(ledger).as_dict()) == COST_NAMES
    assert total(()) == Cost()


def test_weighted_costs_count_tokens_in_thousands() -> None:
    cost = Cost(prompt_tokens=1500, completion_tokens=500, retrievals=3)
    assert weighted_cost(cost, {"prompt_tokens": 2.0, "completion_tokens": 4.0, "retrievals": 0.5}) == 6.5
    assert weighted_cost(cost, {}) == 0
    with pytest.raises(ConfigError, match="unknown kind of cost euros; kinds: prompt_tokens"):
        check_weights({"euros": 1.0})


def test_bridge_entities_are_names_that_neither_question_nor_titles_hold() -> None:
    first = Passage.of("Blue Stone", ["Blue Stone is by Ann Lee, who left Oslo; 1950 was cold.", "Ann Lee met Bo Ek."])
    second = Passage.of("Bo Ek", ["Bo Ek wrote to ann lee and to Cy Dahl."])
    assert bridge_candidates("Who wrote it in Oslo?", [first, second]) == ("Ann Lee", "Cy Dahl")
    assert bridge_candidates("Who wrote it in Oslo?", [second, first]) == ("Cy Dahl", "Ann Lee")
    assert bridge_candidates("Who is Ann Lee?", [second]) == ("Cy Dahl",)
    assert bridge_candidates("Who?", []) == ()


def test_the_first_unexpanded_candidate_ignores_case_and_spaces() -> None:
    assert first_unexpanded(["Ann Lee", "Cy Dahl"], ["ann  lee"]) == "Cy Dahl"
    assert first_unexpanded(["Ann Lee"], ["Ann Lee"]) == ""


def test_the_order_of_the_set_gives_the_ids() -> None:
    made = operation_set(["stop_answer", "retrieve_more"])
    assert (made.names, made.id_of("retrieve_more"), made.stop, len(made)) == (
        ("stop_answer", "retrieve_more"),
        1,
        0,
        2,
    )
    assert [operation.name for operation in operation_set()] == list(PRESETS["paper"])
    assert np.array_equal(made.mask(EvidenceState(Question.of("q"))), [0, 1])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("papre", "unknown operation set 'papre'; presets: paper"),
        (["retrieve_more", "stop"], "unknown operation 'stop'; operations: retrieve_more"),
        (["retrieve_more"], "needs stop_answer, found retrieve_more"),
        ([], "needs stop_answer, found no operation"),
        (["stop_answer", "stop_answer"], "must not repeat"),
    ],
)
def test_a_wrong_set_is_refused(names: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        operation_set(names)  # type: ignore[arg-type]


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="cannot disable gap_query: the set holds stop_answer"):
        OperationSet([StopAnswer()], disabled=["gap_query"])
    with pytest.raises(InvalidOperationError, match="unknown operation 'jump'; this operation set holds retrieve_more"):
        operation_set().id_of("jump")
