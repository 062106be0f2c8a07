"""Golden trajectories of ranked operations on a synthetic world, compared with ``ranked_trajectories.json``.

They change only when behaviour is meant to change. To write them anew, run

    EVIDENCEGYM_GOLDEN=regenerate python -m pytest tests/golden

which fails on purpose after writing, so that nobody regenerates unawares; then read the diff and run the tests again.
"""

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.records import Record
from evidencegym.data.storage import to_json
from evidencegym.data.world import World
from evidencegym.envs.features import FeatureMap
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.fakes import OverlapGenerator

FILE = Path(__file__).with_name("ranked_trajectories.json")
EPISODES: dict[str, tuple[int, Caps, tuple[str, ...]]] = {
    "expansions": (0, Caps(), ("retrieve_more", *("bridge_entity_expand",) * 3)),
    "the pool": (1, Caps(), ("retrieve_more", "bridge_entity_expand", "retrieve_more", "stop_answer")),
    "gap and rewriting": (2, Caps(steps=5), ("retrieve_more", "sufficiency_check", "gap_query", "rewrite_query")),
    "one at a time": (3, Caps(documents_per_retrieval=1), ("retrieve_more", *("bridge_entity_expand",) * 3)),
}


@lru_cache(maxsize=1)
def world() -> tuple[list[Record], BM25Retriever]:
    made = World(300, 5)
    return list(made.questions(len(EPISODES))), BM25Retriever.build(made.passages())


def picture(rules: Rules, state: EvidenceState) -> dict[str, Any]:
    """Return what is compared; floats are rounded, since the last bits may differ between machines."""
    assert state.ranking is not None or not state.queries
    features = FeatureMap(rules.operations.names)
    ranked = features.names.index("found")
    newest = state.held[len(state.held) - state.newest :]
    proposals = state.ranking.proposals[:3] if state.ranking else ()
    return {
        "mask": "".join(map(str, rules.mask(state))),
        "features": [round(float(value), 4) for value in features.vector(state)[ranked : ranked + 11]],
        "newest": [f"{h.passage.title} ({h.score:.4f}, {h.rank}, {h.operation})" for h in newest],
        "context": [passage.title for passage in state.context],
        "found": len(state.found),
        "queries": list(state.queries),
        "proposals": [f"{p.entity}: {p.query} ({p.gain:.4f})" for p in proposals],
        "retrievals": state.cost.retrievals,
        "end": state.end,
    }


def trajectory(question: int, caps: Caps, names: tuple[str, ...]) -> dict[str, Any]:
    asked, corpus = world()
    rules = Rules(operation_set(ranked=True), caps)
    engine = Engine(corpus, OverlapGenerator(), ranker=LexicalRanker(corpus))
    states = [rules.start(asked[question].question)]
    for name in names:
        states += rules.step(states[-1:], [rules.operations.id_of(name)], engine)
    return {"question": asked[question].question.text, "states": [picture(rules, state) for state in states]}


def test_every_episode_has_a_golden_trajectory() -> None:
    if os.environ.get("EVIDENCEGYM_GOLDEN") == "regenerate":
        FILE.write_text(to_json({name: trajectory(*episode) for name, episode in EPISODES.items()}), encoding="utf-8")
        pytest.fail(f"{FILE.name} was written anew: read the diff, then run without EVIDENCEGYM_GOLDEN")
    assert sorted(json.loads(FILE.read_text(encoding="utf-8"))) == sorted(EPISODES)


@pytest.mark.parametrize("name", EPISODES)
def test_the_trajectory_is_the_golden_one(name: str) -> None:
    golden = json.loads(FILE.read_text(encoding="utf-8"))[name]
    assert json.loads(to_json(trajectory(*EPISODES[name]))) == golden
