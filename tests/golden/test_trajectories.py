"""Golden trajectories: fixed operations on the small corpus, compared exactly with ``trajectories.json``.

They change only when behaviour is meant to change. To write them anew, run

    EVIDENCEGYM_GOLDEN=regenerate python -m pytest tests/golden

which fails on purpose after writing, so that nobody regenerates unawares; then read the diff and run the tests again.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.storage import to_json
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.metrics import episode_metrics
from tests.small_world import engine, records

FILE = Path(__file__).with_name("trajectories.json")
EPISODES: dict[str, tuple[int, Rules, tuple[str, ...]]] = {
    "search and stop": (0, Rules(), ("retrieve_more", "stop_answer")),
    "four searches": (3, Rules(), ("retrieve_more",) * 4),
    "check and gap": (2, Rules(), ("retrieve_more", "sufficiency_check", "gap_query", "sufficiency_check")),
    "bridges": (3, Rules(), ("retrieve_more", "bridge_entity_expand", "bridge_entity_expand", "bridge_entity_expand")),
    "rewritings": (6, Rules(), ("retrieve_more", "rewrite_query", "rewrite_query", "stop_answer")),
    "all seven": (
        7,
        Rules(operation_set("paper", compress_in_control=True), Caps(steps=8)),
        (
            "retrieve_more",
            "sufficiency_check",
            "gap_query",
            "compress",
            "bridge_entity_expand",
            "rewrite_query",
            "stop_answer",
        ),
    ),
    "equal documents": (
        5,
        Rules(operation_set("paper", disabled=["stop_answer", "sufficiency_check"]), Caps(steps=9, documents=7)),
        ("retrieve_more", "rewrite_query", "bridge_entity_expand"),
    ),
    "titles once": (
        1,
        Rules(operation_set("paper", deduplicate_titles=True, closed_book=True), Caps(retrievals=2)),
        ("retrieve_more", "sufficiency_check", "bridge_entity_expand"),
    ),
}


def picture(rules: Rules, state: EvidenceState) -> dict[str, Any]:
    """Return what is compared; floats are rounded, since the last bits may differ between machines."""
    features = FeatureMap(rules.operations.names)
    vector = features.vector(state)
    newest = state.held[len(state.held) - state.newest :]
    return {
        "mask": "".join(map(str, rules.mask(state))),
        "features": ", ".join(f"{name} {value:.4f}" for name, value in zip(features.names, vector) if value),
        "documents": len(state.held),
        "newest": [f"{h.passage.id} {h.passage.title} ({h.score:.4f}, {h.rank}, {h.operation})" for h in newest],
        "queries": list(state.queries),
        "candidates": ", ".join(state.candidates),
        "gap": state.gap,
        "cost": {name: value for name, value in state.cost.as_dict().items() if value},
        "end": state.end,
    }


def trajectory(question: int, rules: Rules, names: tuple[str, ...]) -> dict[str, Any]:
    record, backend = records()[question], engine()
    state = rules.start(record.question)
    states = [state]
    for name in names:
        [state] = rules.step([state], [rules.operations.id_of(name)], backend)
        states.append(state)
    [final] = rules.conclude([state], backend)
    assert final.answer is not None and record.gold is not None
    return {
        "question": record.question.text,
        "operations": list(names),
        "states": [picture(rules, state) for state in states],
        "snippets": [[s.passage_id, s.text] for s in final.snippets or ()],
        "answer": final.answer.text,
        "ledger": {name: cost.as_dict() for name, cost in final.ledger},
        "metrics": {name: round(value, 9) for name, value in episode_metrics(record.gold, final).items()},
    }


def test_every_episode_has_a_golden_trajectory() -> None:
    if os.environ.get("EVIDENCEGYM_GOLDEN") == "regenerate":
        FILE.write_text(to_json({name: trajectory(*episode) for name, episode in EPISODES.items()}), encoding="utf-8")
        pytest.fail(f"{FILE.name} was written anew: read the diff, then run without EVIDENCEGYM_GOLDEN")
    assert sorted(json.loads(FILE.read_text(encoding="utf-8"))) == sorted(EPISODES)


@pytest.mark.parametrize("name", EPISODES)
def test_the_trajectory_is_the_golden_one(name: str) -> None:
    golden = json.loads(FILE.read_text(encoding="utf-8"))[name]
    found = json.loads(to_json(trajectory(*EPISODES[name])))
    assert found == golden


def test_the_golden_episodes_run_every_operation() -> None:
    assert {name for _, _, names in EPISODES.values() for name in names} == set(operation_set().names)
