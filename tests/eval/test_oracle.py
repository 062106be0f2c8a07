"""The oracle planner: a bound on what the operations could reach, from gold."""

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Record
from evidencegym.data.support_scores import support_recall
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import Episode, rollout
from evidencegym.eval.oracle import plan
from tests.small_world import engine, records

EQUAL = Rules(operation_set("paper", disabled=["stop_answer", "sufficiency_check"]))
NARROW = Rules(operation_set("paper"), Caps(steps=3, documents_per_retrieval=1))
QUESTIONS = [record.question for record in records()]


def recalls(episodes: list[Episode]) -> np.ndarray:
    golds = [record.gold for record in records()]
    return np.array([support_recall(gold, e.final.passages) for gold, e in zip(golds, episodes) if gold is not None])


@pytest.mark.parametrize("rules", [EQUAL, Rules(), NARROW], ids=["equal", "free", "narrow"])
def test_no_method_holds_more_support_than_the_oracle(rules: Rules) -> None:
    shared = engine()
    bound = recalls(plan(records(), rules, shared))
    names = rules.operations.names
    others = [UniformController(seed) for seed in range(30)]
    found = [recalls(rollout(QUESTIONS, rules, shared, policy)) for policy in others]
    fixed = [FixedKController(FeatureMap(names).names, names, k) for k in range(1, 5)]
    found += [recalls(rollout(QUESTIONS, rules, shared, policy)) for policy in fixed]
    assert all((bound >= other).all() for other in found)


def test_a_wider_beam_holds_at_least_as_much() -> None:
    held = [recalls(plan(records(), NARROW, engine(), width=width)) for width in (1, 2, 8)]
    assert held[0].mean() <= held[1].mean() <= held[2].mean()


def test_it_stops_once_all_support_is_held() -> None:
    for record, episode in zip(records(), plan(records(), Rules(), engine())):
        assert record.gold is not None
        shares = [support_recall(record.gold, state.passages) for state in episode.states]
        full = next(number for number, share in enumerate(shares) if number and share == 1.0)
        assert [step.operation for step in episode.steps[full:]] == ["stop_answer"] * (full < 4)


def test_among_equals_it_takes_the_fewest_retrievals_calls_and_steps() -> None:
    names = ["retrieve_more", "sufficiency_check", "stop_answer", "compress"]
    rules = Rules(operation_set(names, compress_in_control=True), Caps(steps=4, frontier=3))
    for episode in plan(records(), rules, engine()):
        assert [step.operation for step in episode.steps] == ["retrieve_more", "stop_answer"]


def test_where_stopping_is_disabled_it_goes_on_to_the_cap() -> None:
    for episode in plan(records(), EQUAL, engine()):
        assert episode.final.end == "cap" and len(episode.steps) == 4


def test_states_and_steps_are_those_of_a_replay() -> None:
    rules = Rules()
    for episode in plan(records(), rules, engine()):
        [state] = [rules.start(episode.question)]
        for step, expected in zip(episode.steps, episode.states[1:-1]):
            [state] = rules.step([state], [rules.operations.id_of(step.operation)], engine())
            assert state == expected
        [last] = rules.step([episode.states[-2]], [rules.operations.id_of(episode.steps[-1].operation)], engine())
        assert rules.conclude([last], engine()) == [episode.final]
        assert episode.final.answer is not None


@pytest.mark.parametrize("batch", [1, 3])
def test_the_batch_changes_nothing(batch: int) -> None:
    done: list[int] = []
    assert plan(records(), Rules(), engine(), batch=batch, done=done.append) == plan(records(), Rules(), engine())
    assert done[-1] == 8


def test_what_it_cannot_plan_is_refused() -> None:
    with pytest.raises(ConfigError, match="the oracle needs gold, which these questions lack"):
        plan([records()[0], Record(QUESTIONS[1])], Rules(), engine())
    with pytest.raises(ConfigError, match="width must be at least 1, found 0"):
        plan(records(), Rules(), engine(), width=0)
    assert plan([], Rules(), engine()) == []
