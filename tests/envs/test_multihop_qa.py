"""The Gymnasium environment."""

import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.data.errors import InvalidOperationError
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.envs.rewards import CostPenalty
from tests.small_world import engine, records

SEARCH, GAP, BRIDGE, REWRITE, CHECK, STOP, COMPRESS = range(7)


def env(**arguments: Any) -> MultiHopQAEnv:
    return MultiHopQAEnv(**({"records": records(), "engine": engine()} | arguments))


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b))


@pytest.mark.parametrize("observation", ["vector", "dict"])
@pytest.mark.parametrize("mode", [None, "ansi"])
@pytest.mark.parametrize(
    "rules",
    [
        Rules(),
        Rules(operation_set("paper", compress_in_control=True, closed_book=True), Caps(documents=5)),
        Rules(operation_set(["stop_answer", "retrieve_more"]), Caps(steps=1)),
    ],
    ids=["paper", "options", "subset"],
)
def test_gymnasium_has_nothing_to_say_against_it(observation: str, mode: str | None, rules: Rules) -> None:
    made = env(observation=observation, render_mode=mode, rules=rules)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Outside of gymnasium.make there is no spec, so the checker cannot make other render modes.
        check_env(made, skip_render_check=True)


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_a_thousand_masked_episodes_end_with_an_answer(observation: str) -> None:
    made = env(observation=observation, rules=Rules(operation_set("paper", compress_in_control=True)))
    random = np.random.default_rng(0)
    ends = set()
    for episode in range(1000 if observation == "vector" else 100):
        seen, info = made.reset(seed=episode)
        assert made.observation_space.contains(seen)
        terminated = False
        while not terminated:
            mask = made.action_masks()
            assert mask.dtype == np.bool_ and mask.any() and np.array_equal(mask, info["action_mask"])
            seen, reward, terminated, truncated, info = made.step(np.int64(random.choice(np.flatnonzero(mask))))
            assert made.observation_space.contains(seen)
            assert np.isfinite(reward) and not truncated
        assert info["answer"] and info["metrics"].keys() >= {"support_recall", "answer_f1"}
        ends.add(info["end"])
    assert ends == {"stop", "cap"}


def test_an_invalid_operation_costs_a_penalty_and_a_step() -> None:
    made = env(invalid_penalty=0.25, rules=Rules(caps=Caps(steps=2)))
    first, _ = made.reset(seed=1)
    seen, reward, terminated, _, info = made.step(np.int64(GAP))
    assert (reward, terminated) == (-0.25, False)
    assert info["rewards"] == {"support_recall_gain": 0.0, "answer_f1": 0.0, "invalid": -0.25}
    names = made.features.names
    moved = {name for name, a, b in zip(names, first, seen) if a != b}
    assert moved == {"steps", "steps_left"}
    _, _, terminated, _, info = made.step(np.int64(COMPRESS))
    assert terminated and info["end"] == "cap" and info["answer"] == "nothing found"


def test_an_invalid_operation_may_raise_instead() -> None:
    made = env(on_invalid="raise")
    made.reset(seed=1)
    with pytest.raises(InvalidOperationError, match="gap_query is not valid here; valid operations: retrieve_more"):
        made.step(np.int64(GAP))
    assert made.state.steps == 0
    with pytest.raises(InvalidOperationError, match=r"operation 7 is not in 0\.\.6"):
        made.step(np.int64(7))


def test_before_the_first_and_after_the_last_step() -> None:
    made = env(render_mode="ansi")
    for call in (made.action_masks, made.render, made.snapshot, lambda: made.step(np.int64(0))):
        with pytest.raises(InvalidOperationError, match="call reset"):
            call()
    made.reset(seed=0)
    made.step(np.int64(SEARCH))
    assert made.step(np.int64(STOP))[2]
    with pytest.raises(InvalidOperationError, match="the episode has ended: call reset"):
        made.step(np.int64(STOP))
    made.reset()
    assert not made.step(np.int64(SEARCH))[2]


def test_the_last_info_tells_everything() -> None:
    made = env()
    made.reset(options={"question": "2hop__2"})
    made.step(np.int64(SEARCH))
    made.step(np.int64(BRIDGE))
    _, reward, terminated, truncated, info = made.step(np.int64(STOP))
    assert (terminated, truncated, info["end"], info["operation"]) == (True, False, "stop", "stop_answer")
    assert made.state.answer is not None and info["answer"] == made.state.answer.text
    assert [item["title"] for item in info["evidence"]] == [p.title for p in made.state.passages]
    assert list(info["ledger"]) == ["retrieve_more", "bridge_entity_expand", "stop_answer", "compress", "answer"]
    assert info["metrics"]["support_recall"] == 1.0
    assert reward == sum(info["rewards"].values())


def test_rewards_add_up_to_recall_and_f1() -> None:
    made = env()
    for number, record in enumerate(records()):
        made.reset(options={"question": record.id})
        total, terminated, info = 0.0, False, {"action_mask": np.ones(1)}
        while not terminated:
            action = np.flatnonzero(info["action_mask"])[number % 2 - 1] if made.state.steps else 0
            _, reward, terminated, _, info = made.step(np.int64(action))
            total += reward
        assert total == pytest.approx(info["metrics"]["support_recall"] + info["metrics"]["answer_f1"])


def test_named_terms_make_the_reward() -> None:
    made = env(rewards={"cost": CostPenalty({"retrievals": 0.5, "prompt_tokens": 1.0})})
    made.reset(seed=0)
    _, reward, _, _, info = made.step(np.int64(SEARCH))
    assert reward == -0.5 and info["rewards"] == {"cost": -0.5}
    _, reward, _, _, info = made.step(np.int64(STOP))
    assert reward == pytest.approx(-made.state.cost.prompt_tokens / 1000) and reward < 0


@pytest.mark.parametrize("observation", ["vector", "dict"])
def test_a_snapshot_brings_everything_back(observation: str) -> None:
    made = env(observation=observation)
    made.reset(seed=3)
    seen, _, _, _, info = made.step(np.int64(SEARCH))
    kept = made.snapshot()
    first = [made.step(np.int64(action)) for action in (CHECK, BRIDGE, STOP)]
    again, again_info = made.restore(kept)
    assert same(seen, again) and same(again_info["action_mask"], info["action_mask"])
    second = [made.step(np.int64(action)) for action in (CHECK, BRIDGE, STOP)]
    for a, b in zip(first, second):
        assert same(a[0], b[0]) and a[1:4] == b[1:4] and str(a[4]) == str(b[4])
    made.reset(seed=4)
    made.restore(kept)
    assert made.snapshot() == kept


def test_a_snapshot_of_the_end_keeps_the_answer() -> None:
    made = env()
    made.reset(seed=3)
    made.step(np.int64(SEARCH))
    *_, info = made.step(np.int64(STOP))
    kept = made.snapshot()
    made.reset(seed=4)
    _, restored = made.restore(kept)
    assert restored["answer"] == info["answer"] and restored["metrics"] == info["metrics"]


def test_the_state_as_text() -> None:
    made = env(render_mode="ansi")
    made.reset(options={"question": "2hop__1"})
    made.step(np.int64(SEARCH))
    made.step(np.int64(CHECK))
    shown = made.render()
    assert shown is not None
    lines = shown.splitlines()
    assert lines[:2] == ["Question: Where was the director of The Amber Gate born?", "Step 2 of 4"]
    assert lines[2].startswith("  [1] The Amber Gate  <- retrieve_more (score ")
    assert lines[-3:-1] == ["Verdict: not sufficient (0.25)", f"Missing: {made.state.gap}"]
    assert lines[-1] == "Valid: retrieve_more, gap_query, bridge_entity_expand, rewrite_query, stop_answer"
    made.step(np.int64(STOP))
    assert str(made.render()).endswith("Ended by stop. Answer: Ilona Varga")
    quiet = env()
    quiet.reset(seed=0)
    assert quiet.render() is None


def test_a_dict_observation_holds_mask_and_text() -> None:
    made = env(observation="dict", render_mode="ansi")
    seen, info = made.reset(seed=0)
    assert set(seen) == {"features", "action_mask", "text"}
    assert np.array_equal(seen["action_mask"], info["action_mask"]) and seen["text"] == made.render()
