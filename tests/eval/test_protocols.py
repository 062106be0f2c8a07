"""The two comparisons: what each method may do under them."""

from dataclasses import replace

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.protocols import equal, free, retrieving, uniform_k
from evidencegym.eval.runner import run_method
from tests.small_world import engine, records

CONTROLLER = UniformController(9)
RETRIEVALS = {"retrieve_more", "gap_query", "bridge_entity_expand", "rewrite_query"}


def test_every_method_is_in_both_comparisons() -> None:
    settings = TaskSettings(caps=Caps(steps=3))
    assert [m.name for m in free(settings, CONTROLLER, 0)] == [
        "learned",
        "uniform",
        "fixed-1",
        "fixed-2",
        "fixed-3",
        "oracle",
    ]
    assert [m.name for m in equal(settings, CONTROLLER, 0)] == ["learned", "uniform", "fixed-3", "oracle"]
    for methods in (free(settings, CONTROLLER, 0), equal(settings, CONTROLLER, 0)):
        assert methods[0].policy is CONTROLLER and methods[-1].policy is None
        assert all(method.rules.caps == settings.caps for method in methods)
        assert len({method.rules.operations.names for method in methods}) == 1


@pytest.mark.parametrize("compress_in_control", [False, True])
@pytest.mark.parametrize("closed_book", [False, True])
def test_at_equal_documents_every_step_is_a_retrieval(compress_in_control: bool, closed_book: bool) -> None:
    settings = TaskSettings(compress_in_control=compress_in_control, closed_book=closed_book)
    for method in equal(settings, CONTROLLER, 0):
        for result in run_method(method, records(), engine()):
            assert set(result["operations"]) <= RETRIEVALS
            assert (result["end"], len(result["operations"])) == ("cap", 4)
            assert result["ledger"]["compress"]["generator_calls"] == 1


def test_what_settings_disable_stays_disabled() -> None:
    rules = retrieving(TaskSettings(disabled=["rewrite_query", "stop_answer"]))
    assert rules.operations.disabled == {"rewrite_query", "stop_answer", "sufficiency_check"}
    subset = retrieving(TaskSettings(operations=["retrieve_more", "stop_answer"]))
    assert subset.operations.disabled == {"stop_answer"}


def test_fixed_k_retrieves_k_times_where_the_ranking_lasts() -> None:
    methods = {method.name: method for method in free(TaskSettings(caps=Caps(frontier=6)), CONTROLLER, 0)}
    for k in (1, 2):
        results = run_method(methods[f"fixed-{k}"], records(), engine())
        assert {tuple(result["operations"]) for result in results} == {("retrieve_more",) * k + ("stop_answer",)}


def test_uniform_k_makes_k_retrievals() -> None:
    for k, method in uniform_k(TaskSettings(), 3).items():
        results = run_method(method, records(), engine())
        assert {result["cost"]["retrievals"] for result in results} == {k}
        assert method.name == f"uniform-{k}" and method.rules.caps == replace(Caps(), retrievals=k)


def test_free_methods_may_stop() -> None:
    [learned, *_] = free(TaskSettings(), CONTROLLER, 0)
    assert isinstance(learned.rules, Rules) and learned.rules.operations.disabled == frozenset()
    ends = [result["end"] for result in run_method(learned, records(), engine())]
    assert "stop" in ends and np.mean([end == "stop" for end in ends]) < 1
