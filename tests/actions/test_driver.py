"""The lockstep driver gives what running one by one gives, in fewer calls."""

from collections.abc import Generator as Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.actions.costs import Cost
from evidencegym.actions.driver import Outcome, drive, run, run_all
from evidencegym.actions.operation import Operation, Process, Request
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.errors import ConfigError, RequestFailedError
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records
from tests.unreliable import UnreliableGenerator
from tests.walks import visited

RULES = Rules(operation_set("paper", compress_in_control=True))
STATES = visited(RULES, engine(), walks=40)
TRIES = [(state, op) for state in STATES for op in RULES.operations if op.valid(state)]


def process(number: int) -> Process:
    state, operation = TRIES[number % len(TRIES)]
    return operation.run(state)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, len(TRIES) - 1), max_size=30), st.sampled_from([0, 1, 20_000]))
def test_lockstep_equals_one_by_one(numbers: list[int], cache_size: int) -> None:
    together = run_all([process(n) for n in numbers], engine(cache_size=cache_size))
    alone = [run(process(n), engine(cache_size=0)) for n in numbers]
    assert together == alone


def operation(name: str) -> Operation:
    return RULES.operations.operations[RULES.operations.id_of(name)]


def after_first_search() -> list[EvidenceState]:
    starts = [RULES.start(record.question) for record in records()]
    return RULES.step(starts, [0] * len(starts), engine())


def test_what_is_asked_at_the_same_time_is_one_batch() -> None:
    generator = OverlapGenerator()
    states = after_first_search()
    mixed = [operation(name).run(s) for s in states for name in ("sufficiency_check", "rewrite_query", "compress")]
    run_all(mixed, engine(generator))
    assert sorted(generator.calls) == [("compress", 8), ("judge", 8), ("rewrite", 8)]


def test_equal_requests_are_executed_once_and_charged_each() -> None:
    generator = OverlapGenerator()
    state = after_first_search()[0]
    check = operation("sufficiency_check")
    outcomes = run_all([check.run(state) for _ in range(5)], engine(generator, cache_size=0))
    assert generator.calls == [("judge", 1)]
    assert outcomes == [run(check.run(state), engine())] * 5
    assert outcomes[0].cost == Cost(prompt_tokens=7, completion_tokens=1, generator_calls=1)


def test_nothing_to_run_runs_nothing() -> None:
    assert run_all([], engine()) == []


def test_a_process_may_end_without_asking_and_another_may_ask_often() -> None:
    state = after_first_search()[0]

    def often(request: Request, times: int) -> Coroutine[Request, Any, EvidenceState]:
        for _ in range(times):
            yield request
        return state

    [check] = [next(operation("sufficiency_check").run(state))]
    outcomes = run_all([often(check, n) for n in (0, 3, 1)], engine())
    assert [o.cost.generator_calls for o in outcomes] == [0, 3, 1]
    assert outcomes[0] == Outcome(state, Cost())


def test_at_least_one_must_be_under_way() -> None:
    with pytest.raises(ConfigError, match="width of 0"):
        drive([], engine(), width=0)


def test_a_failure_that_a_process_does_not_catch_leaves_it() -> None:
    state = after_first_search()[0]
    failing = engine(UnreliableGenerator(lambda task: True))
    with pytest.raises(RequestFailedError, match="not served"):
        run(operation("sufficiency_check").run(state), failing)
    with pytest.raises(RequestFailedError, match="not served"):
        run_all([operation("sufficiency_check").run(state)], failing)
