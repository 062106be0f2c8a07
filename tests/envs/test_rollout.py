"""Episodes in lockstep, and their traces."""

import json

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.base import Controller
from evidencegym.controllers.fixed_k import FixedKController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.records import Question
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rendering import render_trace
from evidencegym.envs.rollout import Episode, decision_key, rollout
from evidencegym.envs.trace import step_between
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

RULES = Rules(operation_set("paper", compress_in_control=True))
QUESTIONS = [record.question for record in records()]


def fixed(rules: Rules = RULES) -> Controller:
    return FixedKController(FeatureMap(rules.operations.names).names, rules.operations.names, 2)


@pytest.mark.parametrize("batch", [1, 3, 64])
@pytest.mark.parametrize("policy", [UniformController(3), fixed()], ids=["uniform", "fixed"])
def test_the_batch_changes_nothing(batch: int, policy: Controller) -> None:
    alone = [rollout([question], RULES, engine(cache_size=0), policy)[0] for question in QUESTIONS]
    done: list[int] = []
    assert rollout(QUESTIONS, RULES, engine(), policy, batch=batch, done=done.append) == alone
    assert done[-1] == 8 and done == sorted(done)


def test_lockstep_asks_each_kind_once_a_turn() -> None:
    generator = OverlapGenerator()
    rollout(QUESTIONS, Rules(), engine(generator), fixed())
    assert generator.calls == [("compress", 8), ("answer", 8)]


def test_the_order_of_questions_changes_no_episode() -> None:
    forth = rollout(QUESTIONS, RULES, engine(), UniformController(1))
    back = rollout(QUESTIONS[::-1], RULES, engine(), UniformController(1))
    assert forth == back[::-1]
    assert rollout([], RULES, engine(), UniformController(1)) == []


def test_states_and_steps_belong_together() -> None:
    for episode in rollout(QUESTIONS, RULES, engine(), UniformController(2)):
        assert len(episode.states) == len(episode.steps) + 1
        assert episode.final.answer is not None and episode.final == episode.states[-1]
        assert episode.final.history == tuple(step.operation for step in episode.steps)
        for before, after, step in zip(episode.states, episode.states[1:], episode.steps):
            assert step.operation in step.valid
            assert step.valid == tuple(n for n, bit in zip(RULES.operations.names, RULES.mask(before)) if bit)
            assert len(step.brought) == len(after.held) - len(before.held)
            assert (step.verdict is not None) == (step.operation == "sufficiency_check")
            assert step.cost.retrievals == after.retrievals - before.retrievals


def test_decisions_have_a_key_of_question_and_count() -> None:
    start = RULES.start(QUESTIONS[0])
    [after] = RULES.step([start], [0], engine())
    assert [decision_key(state) for state in (start, after)] == [f"{QUESTIONS[0].key}:0", f"{QUESTIONS[0].key}:1"]


def chosen(*names: str) -> Episode:
    class Script(Controller):
        def decide(self, features, mask, keys):  # type: ignore[no-untyped-def]
            from evidencegym.controllers.base import Decision

            ids = [RULES.operations.id_of(names[int(key.rsplit(":", 1)[1])]) for key in keys]
            return Decision(np.array(ids, np.int64), np.where(mask > 0, 0.25, np.nan))

    return rollout([QUESTIONS[0]], RULES, engine(), Script())[0]


def test_a_trace_as_text() -> None:
    shown = render_trace(chosen("retrieve_more", "sufficiency_check", "gap_query", "stop_answer").steps).splitlines()
    assert shown[:5] == [
        "step 1: retrieve_more",
        "    could run:  retrieve_more +0.250",
        "    searched:   Where was the director of The Amber Gate born?",
        "    brought:    The Amber Gate; The Amber Gate (novel); Amber",
        "    cost:       1 retrievals",
    ]
    assert shown[7] == "    verdict:    not sufficient (0.25)"
    assert shown[-3:] == [
        "step 4: stop_answer",
        "    could run:  " + ", ".join(f"{n} +0.250" for n in RULES.operations.names if n != "gap_query"),
        "    cost:       nothing",
    ]


def test_a_trace_as_json() -> None:
    steps = chosen("retrieve_more", "sufficiency_check", "stop_answer").steps
    plain = json.loads(json.dumps([step.as_dict() for step in steps], allow_nan=False))
    assert [step["operation"] for step in plain] == ["retrieve_more", "sufficiency_check", "stop_answer"]
    assert plain[0]["values"] == {"retrieve_more": 0.25} and plain[0]["cost"] == {"retrievals": 1}
    assert plain[1]["verdict"] is False and plain[1]["gap"] and plain[1]["sufficiency"] == 0.25


def test_a_search_that_brings_nothing_is_told() -> None:
    rules = Rules(caps=Caps(steps=2))
    start = rules.start(Question.of("zzz qqq"))
    [after] = rules.step([start], [0], engine())
    step = step_between(start, after, rules.operations.names, 0, rules.mask(start))
    assert (step.query, step.brought, step.values) == ("zzz qqq", (), ())
    assert "    brought:    nothing new" in render_trace([step])
