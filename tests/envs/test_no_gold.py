"""Removing every gold-side field changes no observation, mask, operation or answer."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.base import Controller
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.records import Gold, Question, Record
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.rollout import decision_key, rollout
from evidencegym.ranking.lexical import LexicalRanker
from tests.fakes import OverlapGenerator
from tests.small_world import engine, gated_engine, records, retriever

RULES = Rules(operation_set("paper", compress_in_control=True), Caps(steps=6))
RANKED = Rules(operation_set("paper", compress_in_control=True, ranked=True), Caps(steps=6))
NAMES = RULES.operations.names
POLICIES: dict[str, Controller] = {
    **{f"uniform-{seed}": UniformController(seed) for seed in range(5)},
    "fixed": FixedKController(FeatureMap(NAMES).names, NAMES, 3),
}


def stripped(record: Record) -> Record:
    """Return the record without gold."""
    return Record(record.question, None, record.context)


def falsified(record: Record) -> Record:
    """Return the record with gold that is wrong in every field."""
    wrong = Gold(
        "9hop__x", ("wrong",), ("Nowhere",), ("0" * 16,), "title", (("Nowhere", 7),), (), "odd", "easy", 9, False
    )
    return Record(record.question, wrong, record.context)


def ranked_engine() -> Engine:
    return Engine(retriever(), OverlapGenerator(), ranker=LexicalRanker(retriever()))


def course(
    record: Record, policy: Controller, observation: str, rules: Rules = RULES, backend: Engine | None = None
) -> list[Any]:
    """Return every observation, mask, operation and the answer of an episode."""
    made = MultiHopQAEnv([record], backend or engine(), rules, observation=observation, render_mode="ansi")
    seen, info = made.reset(seed=1)
    found: list[Any] = [seen, info["action_mask"], made.render()]
    while "answer" not in info:
        vector = seen if observation == "vector" else seen["features"]
        key = decision_key(made.state)
        operation = policy.act(vector[None], info["action_mask"][None], [key])[0]
        seen, _, _, _, info = made.step(operation)
        found += [seen, info["action_mask"], made.render(), int(operation)]
    return [*found, info["answer"], info["end"], info["evidence"], info["ledger"], made.state]


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("change", [stripped, falsified])
def test_an_episode_does_not_depend_on_gold(change: Any, policy: Controller, observation: str) -> None:
    for record in records():
        with_gold = course(record, policy, observation)
        np.testing.assert_equal(course(change(record), policy, observation), with_gold)


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("change", [stripped, falsified])
def test_a_ranked_episode_does_not_depend_on_gold(change: Any, policy: Controller, observation: str) -> None:
    for record in records():
        with_gold = course(record, policy, observation, RANKED, ranked_engine())
        assert with_gold[-1].ranking is not None
        np.testing.assert_equal(course(change(record), policy, observation, RANKED, ranked_engine()), with_gold)


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("change", [stripped, falsified])
def test_a_gated_episode_does_not_depend_on_gold(change: Any, ranked: bool, observation: str) -> None:
    rules = Rules(operation_set("with_gate", compress_in_control=True, ranked=ranked), Caps(steps=6))
    backend = gated_engine(ranker=LexicalRanker(retriever()) if ranked else None)
    gated = 0
    for record in records():
        for seed in range(4):
            with_gold = course(
                record, UniformController(seed, avoid=[rules.operations.stop]), observation, rules, backend
            )
            gated += with_gold[-1].gate is not None
            other = course(
                change(record), UniformController(seed, avoid=[rules.operations.stop]), observation, rules, backend
            )
            np.testing.assert_equal(other, with_gold)
    assert gated


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_rollout_is_what_the_environment_gives(policy: Controller) -> None:
    """Rollouts see questions only; the environment, which also holds gold, goes the same ways."""
    episodes = rollout([record.question for record in records()], RULES, engine(), policy)
    finals = [course(record, policy, "vector")[-1] for record in records()]
    assert [episode.final for episode in episodes] == finals


def test_the_state_holds_nothing_of_gold() -> None:
    marked = Gold(
        "GOLDID", ("GOLDANSWER",), ("GOLDTITLE",), ("GOLDSUPPORT",), type="GOLDTYPE", level="GOLDLEVEL", hops=4
    )
    record = replace(records()[2], gold=marked)
    assert "GOLD" not in repr(course(record, POLICIES["uniform-0"], "dict"))


def test_a_question_s_key_is_not_made_of_its_id() -> None:
    text = "Who founded the town?"
    ids = ["2hop__1", "4hop3__2"]
    keys = {Record(Question.of(text), Gold(id, ("x",))).question.key for id in ids}
    assert keys == {Question.of(text).key}
    assert all(id not in repr(keys) for id in ids)


def test_gold_changes_rewards_and_metrics_only() -> None:
    infos = []
    for change in (stripped, falsified):
        made = MultiHopQAEnv(list(map(change, records())), engine())
        made.reset(seed=0)
        infos.append(made.step(np.int64(0))[4])
    assert partial(dict.fromkeys, infos[0]["rewards"])(0.0) == infos[0]["rewards"]
    assert infos[0].keys() == infos[1].keys()
