"""What is kept from step to step is, bit by bit, what the plain definitions give."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.actions.bridge import bridge_candidates
from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import PRESETS, operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState, HeldPassage
from evidencegym.data.records import Passage, Question
from evidencegym.data.world import World
from evidencegym.envs import overlap
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from tests.envs.reference_features import reference_candidates, reference_next, reference_vector
from tests.small_world import engine, passages, records
from tests.walks import picks, questions, visited, walk

PAPER = FeatureMap(PRESETS["paper"])
ENGINE = engine()
RULES = {
    "paper": Rules(),
    "long": Rules(operation_set("paper", compress_in_control=True), Caps(steps=40, context_documents=3)),
    "few documents": Rules(operation_set("paper", closed_book=True), Caps(steps=12, documents=7)),
    "one at a time": Rules(
        operation_set("paper", deduplicate_titles=True), Caps(steps=30, documents_per_retrieval=1, retrievals=20)
    ),
}


def same_bits(state: EvidenceState, features: FeatureMap = PAPER) -> bool:
    """Compare the bytes, so that -0.0 is not 0.0."""
    found, wanted = features.vector(state), reference_vector(features, state)
    return found.dtype == wanted.dtype == np.float32 and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_every_state_of_many_walks(rules: Rules) -> None:
    states = visited(rules, ENGINE, walks=60, seed=3)
    assert len(states) > 30 and max(len(state.held) for state in states) >= 6
    for state in states:
        assert same_bits(state)


@settings(deadline=None, max_examples=40)
@given(questions, picks, st.sampled_from(sorted(RULES)))
def test_every_step_of_a_walk(question: int, choices: list[int], rules: str) -> None:
    for move in walk(RULES[rules], ENGINE, question, choices):
        assert same_bits(move.before) and same_bits(move.after)
        ranked = [item.passage for item in sorted(move.after.held, key=lambda item: item.rank)]
        if move.after.held != move.before.held:
            assert move.after.candidates == reference_candidates(move.after.question.text, ranked)
        assert move.after.next_candidate == reference_next(move.after)


def _drawn(random: Random, pool: list[Passage], question: str) -> EvidenceState:
    """Return a state that no walk leads to: passages in any order, some of them twice, any newest, any scores."""
    chosen = [random.choice(pool) for _ in range(random.randrange(30))]
    held = tuple(HeldPassage(p, random.uniform(-1, 300), i, "gap_query", "q", i) for i, p in enumerate(chosen))
    names = bridge_candidates(question, chosen)
    return EvidenceState(
        Question.of(question),
        held=held,
        newest=random.randrange(6),
        candidates=names,
        expanded=tuple(random.sample(names, random.randrange(min(4, len(names) + 1)))),
        evidence_version=len(held),
    )


def test_states_that_no_walk_leads_to() -> None:
    random = Random(7)
    world = World(300, 5)
    pool = [*passages().values(), *world.passages()]
    twins = [Passage.of(f"{p.title} (other)", p.sentences) for p in random.sample(pool, 20)]
    cut = [Passage.of(p.title, [p.text]) for p in random.sample(pool, 20)]
    odd = [Passage.of("", [""]), Passage.of("A", []), Passage.of("  ", ["Ann Lee. ann lee. ANN LEE in 1950."])]
    asked = [record.question.text for record in world.questions(20, "dev")] + ["", "Ann Lee or Ann Lee and the A?"]
    for _ in range(300):
        state = _drawn(random, pool[:40] + twins + cut + odd, random.choice(asked))
        ranked = [item.passage for item in state.held]
        assert state.candidates == reference_candidates(state.question.text, ranked)
        assert same_bits(state)


def test_the_way_to_a_state_does_not_matter() -> None:
    """Whatever was asked for before, in whatever order, an equal state has equal features."""
    states = visited(RULES["long"], ENGINE, walks=20, seed=5)
    wanted = [reference_vector(PAPER, state).tobytes() for state in states]
    order = list(range(len(states)))
    for seed in range(3):
        Random(seed).shuffle(order)
        assert all(PAPER.vector(replace(states[i])).tobytes() == wanted[i] for i in order)


def test_how_much_is_kept_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "_KEPT", 3)
    overlap.forget_evidence()
    assert all(same_bits(state) for state in visited(RULES["long"], ENGINE, walks=20, seed=6))
    assert len(overlap._kept) <= 3


def test_a_changed_state_is_a_replaced_one() -> None:
    for state in visited(RULES["long"], ENGINE, walks=10, seed=7):
        changed, replaced = state.changed(gap="x", newest=9), replace(state, gap="x", newest=9)
        assert changed == replaced and hash(changed) == hash(replaced) and repr(changed) == repr(replaced)
        assert state.changed() == state and state.gap != "x"
    with pytest.raises(TypeError, match="no such attribute: gold"):
        EvidenceState(Question.of("Who?")).changed(gold=1)


def test_a_step_that_is_not_checked_again_is_the_same_step() -> None:
    rules = RULES["long"]
    for number in range(8):
        for move in walk(rules, ENGINE, number, [0, 3, 2, 1, 4]):
            assert rules.step([move.before], [move.operation], ENGINE, checked=True) == [move.after]


def test_the_mask_that_is_given_away_is_a_copy() -> None:
    env = MultiHopQAEnv(records(), engine())
    _, info = env.reset(seed=0)
    wanted = info["action_mask"].copy()
    info["action_mask"][:] = 1 - wanted
    assert np.array_equal(env.action_masks(), wanted.astype(np.bool_))
    _, reward, *_ = env.step(np.int64(1))
    assert reward == -env.invalid_penalty
