"""The contract that every operation of every operation set keeps, whatever the state it may run in."""

import pickle
from dataclasses import fields
from functools import lru_cache

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.costs import Cost
from evidencegym.actions.driver import run
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import PRESETS, operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.errors import InvalidOperationError
from tests.small_world import gated_engine as engine
from tests.walks import visited

OPERATIONS = sorted({name for names in PRESETS.values() for name in names})
CASES = [(preset, name) for preset, names in PRESETS.items() for name in names]
CAPS = (Caps(), Caps(steps=9, documents=7), Caps(retrievals=2), Caps(steps=8, documents_per_retrieval=1, frontier=2))

_RETRIEVED = {"held", "seen", "queries", "candidates", "evidence_version", "barren", "retrievals", "newest"}
CHANGES = {
    "retrieve_more": _RETRIEVED | {"frontier", "frontier_exhausted"},
    "gap_query": _RETRIEVED,
    "bridge_entity_expand": _RETRIEVED | {"expanded"},
    "rewrite_query": _RETRIEVED,
    "sufficiency_check": {"gap", "sufficient", "sufficiency", "probed_version"},
    "stop_answer": {"end"},
    "compress": {"snippets", "compressed_version"},
    "corrective_gate": (_RETRIEVED - {"queries", "retrievals"})
    | {"gate", "refined", "external", "elsewhere", "snippets", "compressed_version"},
}
GENERATOR_CALLS = {"rewrite_query": {1}, "sufficiency_check": {1}, "compress": {1}, "corrective_gate": {0, 1, 2}}


@lru_cache(maxsize=1)
def shared_engine() -> Engine:
    return engine()


@lru_cache(maxsize=16)
def rules_of(preset: str, caps: Caps) -> Rules:
    return Rules(operation_set(preset, compress_in_control=True), caps)


@lru_cache(maxsize=16)
def states_of(preset: str, caps: Caps) -> tuple[EvidenceState, ...]:
    return tuple(visited(rules_of(preset, caps), shared_engine()))


def changed(before: EvidenceState, after: EvidenceState) -> set[str]:
    return {f.name for f in fields(EvidenceState) if getattr(before, f.name) != getattr(after, f.name)}


@pytest.fixture(params=CAPS, ids=["default", "documents", "retrievals", "frontier"])
def caps(request: pytest.FixtureRequest) -> Caps:
    value = request.param
    assert isinstance(value, Caps)
    return value


@pytest.mark.parametrize(("preset", "name"), CASES)
def test_what_may_run_does_run_and_changes_only_what_it_says(preset: str, name: str, caps: Caps) -> None:
    rules = rules_of(preset, caps)
    operation = rules.operations.operations[rules.operations.id_of(name)]
    allowed = [state for state in states_of(preset, caps) if operation.valid(state)]
    assert allowed, "the walks must reach a state in which the operation may run"
    for state in allowed:
        frozen = pickle.dumps(state)
        after, cost = run(operation.run(state), shared_engine())
        assert pickle.dumps(state) == frozen
        assert changed(state, after) <= CHANGES[name]
        assert after.question == state.question and after.answer is None
        assert cost.retrievals == operation.retrieves or (name == "rewrite_query" and name in after.barren)


@pytest.mark.parametrize(("preset", "name"), CASES)
def test_a_step_charges_the_operation_and_nothing_else(preset: str, name: str, caps: Caps) -> None:
    rules = rules_of(preset, caps)
    action = rules.operations.id_of(name)
    for state in states_of(preset, caps):
        if not rules.mask(state)[action]:
            continue
        [after] = rules.step([state], [action], shared_engine())
        before, spent = dict(state.ledger), dict(after.ledger)
        grown = {k for k in spent if spent[k] != before.get(k, Cost())}
        assert grown <= {name}
        added = after.cost.generator_calls - state.cost.generator_calls
        assert added in GENERATOR_CALLS.get(name, {0})
        assert after.history == (*state.history, name)
        assert after.steps == state.steps + (name != "stop_answer")


@pytest.mark.parametrize(
    ("preset", "name"), [c for c in CASES if "retriev" in c[1] or "query" in c[1] or "bridge" in c[1]]
)
def test_a_retrieval_brings_unseen_passages_within_the_caps(preset: str, name: str, caps: Caps) -> None:
    rules = rules_of(preset, caps)
    operation = rules.operations.operations[rules.operations.id_of(name)]
    brought_any = False
    for state in (s for s in states_of(preset, caps) if operation.valid(s)):
        after, cost = run(operation.run(state), shared_engine())
        new = [item.passage.id for item in after.held[len(state.held) :]]
        assert after.held[: len(state.held)] == state.held
        assert not state.seen.intersection(new) and len(set(new)) == len(new)
        assert after.seen == state.seen.union(new)
        assert len(new) <= min(state.room, caps.documents_per_retrieval)
        assert caps.documents is None or len(after.held) <= caps.documents
        assert after.newest == len(new)
        assert after.retrievals - state.retrievals == cost.retrievals <= 1
        assert after.evidence_version == state.evidence_version + bool(new)
        assert all(item.operation == name and item.step == state.steps for item in after.held[len(state.held) :])
        brought_any |= bool(new)
    assert brought_any


@pytest.mark.parametrize(("preset", "name"), CASES)
def test_the_mask_is_the_rule_and_what_it_forbids_is_refused(preset: str, name: str, caps: Caps) -> None:
    rules = rules_of(preset, caps)
    action = rules.operations.id_of(name)
    for state in states_of(preset, caps):
        mask = rules.mask(state)
        assert mask.dtype == np.int8 and mask.shape == (len(rules.operations),)
        by_rule = {operation.name for operation in rules.operations if operation.valid(state)}
        assert bool(mask[action]) == (name in (by_rule or {"stop_answer"}))
        if not mask[action]:
            with pytest.raises(InvalidOperationError, match=name):
                rules.step([state], [action], shared_engine())


@pytest.mark.parametrize("name", OPERATIONS)
def test_running_twice_gives_the_same_value(name: str) -> None:
    rules = rules_of("with_gate", Caps())
    operation = rules.operations.operations[rules.operations.id_of(name)]
    for state in (s for s in states_of("with_gate", Caps()) if operation.valid(s)):
        first, second = run(operation.run(state), shared_engine()), run(operation.run(state), engine(cache_size=0))
        assert first == second
        assert hash(first.state) == hash(second.state)
        assert pickle.loads(pickle.dumps(first.state)) == first.state
