"""Every rule of validity holds along random walks over valid operations."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import PRESETS, operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.errors import InvalidOperationError
from evidencegym.data.records import Question
from tests.small_world import engine, records
from tests.walks import picks, questions, walk

PAPER = PRESETS["paper"]
RETRIEVALS = {"retrieve_more", "gap_query", "bridge_entity_expand", "rewrite_query"}
caps = st.builds(
    Caps,
    steps=st.integers(1, 8),
    documents_per_retrieval=st.integers(1, 4),
    context_documents=st.integers(1, 12),
    retrievals=st.none() | st.integers(1, 4),
    documents=st.none() | st.integers(1, 12),
    frontier=st.integers(1, 12),
)
subsets = st.sets(st.sampled_from(PAPER)).map(lambda chosen: [n for n in PAPER if n in chosen | {"stop_answer"}])
quick = settings(deadline=None, max_examples=60)


@lru_cache(maxsize=1)
def shared() -> Engine:
    return engine()


def valid_names(rules: Rules, state: EvidenceState) -> set[str]:
    return {name for name, bit in zip(rules.operations.names, rules.mask(state)) if bit}


@quick
@given(caps, subsets, st.sets(st.sampled_from(PAPER)), st.booleans(), questions, picks)
def test_a_mask_is_never_all_zero_and_every_walk_ends_with_an_answer(
    caps: Caps, names: list[str], disabled: set[str], closed_book: bool, question: int, choices: list[int]
) -> None:
    off = sorted(disabled.intersection(names))
    rules = Rules(operation_set(names, disabled=off, closed_book=closed_book, compress_in_control=True), caps)
    state = rules.start(records()[question].question)
    assert rules.mask(state).any()
    for move in walk(rules, shared(), question, choices * caps.steps + [0] * caps.steps):
        state = move.after
        assert rules.mask(state).any()
        assert rules.operations.names[move.operation] not in set(off) - {"stop_answer"}
    assert state.end in {"stop", "cap"}
    [answered] = rules.conclude([state], shared())
    assert answered.answer is not None and answered.answer.text


@quick
@given(caps, questions, picks)
def test_caps_are_never_exceeded_and_end_the_episode(caps: Caps, question: int, choices: list[int]) -> None:
    rules = Rules(operation_set("paper", compress_in_control=True), caps)
    for _, operation, after in walk(rules, shared(), question, choices):
        assert after.steps <= caps.steps
        assert after.retrievals <= (caps.retrievals or caps.steps)
        assert len(after.held) <= (caps.documents or caps.steps * caps.documents_per_retrieval)
        assert after.frontier <= caps.frontier
        assert len(after.context) <= caps.context_documents
        spent = (
            after.steps == caps.steps
            or after.retrievals == caps.retrievals
            or len(after.held) == (caps.documents or len(after.held) + 1)
        )
        stopped = rules.operations.names[operation] == "stop_answer"
        assert after.end == ("stop" if stopped else "cap" if spent else "")


@quick
@given(questions, picks, st.integers(1, 3))
def test_retrievals_leave_once_a_cap_is_used_up(question: int, choices: list[int], most: int) -> None:
    free = Rules(caps=Caps(steps=8))
    for move in walk(free, shared(), question, choices):
        for used_up in (Caps(retrievals=most), Caps(documents=3 * most)):
            state = replace(move.after, caps=used_up, end="")
            spent = state.retrievals >= most if used_up.retrievals else len(state.held) >= 3 * most
            before = valid_names(free, replace(state, caps=free.caps)) & RETRIEVALS
            assert valid_names(free, state) & RETRIEVALS == (set() if spent else before)


@quick
@given(questions, picks)
def test_gap_query_needs_a_gap_that_was_not_searched(question: int, choices: list[int]) -> None:
    rules = Rules(caps=Caps(steps=8))
    for state, operation, after in walk(rules, shared(), question, choices):
        open_gap = bool(state.gap) and state.gap not in state.queries
        assert ("gap_query" in valid_names(rules, state)) == open_gap
        if rules.operations.names[operation] == "gap_query":
            assert state.gap in after.queries
            assert "gap_query" not in valid_names(rules, after)


@quick
@given(questions, picks)
def test_a_sufficiency_check_needs_evidence_that_changed_since_the_last(question: int, choices: list[int]) -> None:
    rules = Rules(caps=Caps(steps=8))
    probed: tuple[str, ...] | None = None
    for state, operation, _ in walk(rules, shared(), question, choices):
        held = tuple(p.id for p in state.passages)
        assert ("sufficiency_check" in valid_names(rules, state)) == (held not in {(), probed})
        if rules.operations.names[operation] == "sufficiency_check":
            probed = held


@quick
@given(questions, picks, st.booleans())
def test_stopping_needs_evidence_unless_the_book_is_closed(question: int, choices: list[int], closed: bool) -> None:
    rules = Rules(operation_set("paper", closed_book=closed), Caps(steps=8))
    for move in walk(rules, shared(), question, choices):
        valid = valid_names(rules, move.before)
        assert ("stop_answer" in valid) == (closed or bool(move.before.held) or valid == {"stop_answer"})


def test_stopping_is_the_last_resort_where_nothing_is_found() -> None:
    rules = Rules()
    [after] = rules.step([rules.start(Question.of("zzz qqq"))], [0], shared())
    assert not after.held and not after.end
    assert valid_names(rules, after) == {"stop_answer"}
    [done] = rules.conclude(rules.step([after], [rules.operations.stop], shared()), shared())
    assert done.end == "stop" and done.answer is not None


@quick
@given(questions, picks)
def test_compress_is_not_for_the_controller_by_default(question: int, choices: list[int]) -> None:
    rules = Rules(caps=Caps(steps=8))
    for move in walk(rules, shared(), question, choices):
        assert "compress" not in valid_names(rules, move.before) | valid_names(rules, move.after)


@quick
@given(questions, picks)
def test_compress_in_control_is_valid_exactly_once(question: int, choices: list[int]) -> None:
    rules = Rules(operation_set("paper", compress_in_control=True), Caps(steps=8))
    used = False
    for state, operation, _ in walk(rules, shared(), question, choices):
        assert ("compress" in valid_names(rules, state)) == (bool(state.held) and not used)
        used |= rules.operations.names[operation] == "compress"


@quick
@given(questions, picks)
def test_a_barren_rewriting_is_not_repeated_on_the_same_evidence(question: int, choices: list[int]) -> None:
    rules = Rules(caps=Caps(steps=8))
    barren: set[int] = set()
    for state, operation, after in walk(rules, shared(), question, choices):
        repeated = state.evidence_version in barren
        assert ("rewrite_query" in valid_names(rules, state)) == (bool(state.held) and not repeated)
        if rules.operations.names[operation] == "rewrite_query" and after.evidence_version == state.evidence_version:
            barren.add(state.evidence_version)


@quick
@given(questions, picks)
def test_no_bridge_entity_is_expanded_twice(question: int, choices: list[int]) -> None:
    rules = Rules(caps=Caps(steps=8))
    for state, operation, after in walk(rules, shared(), question, choices):
        unexpanded = [name for name in state.candidates if name not in state.expanded]
        assert ("bridge_entity_expand" in valid_names(rules, state)) == bool(unexpanded)
        if rules.operations.names[operation] == "bridge_entity_expand":
            assert after.expanded == (*state.expanded, unexpanded[0])


@pytest.mark.parametrize("name", sorted(RETRIEVALS | {"sufficiency_check"}))
def test_a_disabled_operation_is_masked_and_refused(name: str) -> None:
    rules = Rules(operation_set("paper", disabled=[name]), Caps(steps=8))
    for number in range(16):
        for move in walk(rules, shared(), number % 8, [number + 3 * i for i in range(8)]):
            assert name not in valid_names(rules, move.before)
            with pytest.raises(InvalidOperationError, match=f"{name} is not valid here"):
                rules.step([move.before], [rules.operations.id_of(name)], shared())


def test_equal_documents() -> None:
    """With stop and check disabled and a document cap, every walk ends with exactly that many passages."""
    rules = Rules(operation_set("paper", disabled=["stop_answer", "sufficiency_check"]), Caps(steps=20, documents=10))
    for number in range(24):
        moves = list(walk(rules, shared(), number % 8, [number * 7 + 5 * i for i in range(20)]))
        assert len(moves[-1].after.held) == 10
        assert moves[-1].after.end == "cap"


def test_an_ended_episode_masks_everything_but_stop() -> None:
    rules = Rules(caps=Caps(steps=1))
    [ended] = rules.step([rules.start(records()[0].question)], [0], shared())
    assert ended.end == "cap"
    assert valid_names(rules, ended) == {"stop_answer"}


def test_an_unknown_action_is_named() -> None:
    rules = Rules()
    start = rules.start(records()[0].question)
    for action in (-1, 7):
        with pytest.raises(InvalidOperationError, match=f"operation {action} is not in 0..6"):
            rules.step([start], [action], shared())


def test_an_invalid_operation_stops_the_whole_batch_before_anything_runs() -> None:
    counted = engine()
    rules = Rules()
    starts = [rules.start(record.question) for record in records()[:2]]
    with pytest.raises(InvalidOperationError):
        rules.step(starts, [0, rules.operations.id_of("gap_query")], counted)
    assert counted._cache == {}


def test_a_wasted_step_changes_only_the_history() -> None:
    rules = Rules(caps=Caps(steps=2))
    start = rules.start(records()[0].question)
    once = rules.wasted(start, 1)
    assert (once.steps, once.end, once.held, once.cost) == (1, "", (), start.cost)
    assert rules.wasted(once, 1).end == "cap"
    assert np.array_equal(rules.mask(once), rules.mask(start))
