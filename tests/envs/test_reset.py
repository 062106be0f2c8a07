"""How an episode begins: questions by seed, by id, or of one's own; and what is refused."""

from typing import Any

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from tests.small_world import engine, records


def env(**arguments: Any) -> MultiHopQAEnv:
    return MultiHopQAEnv(**({"records": records(), "engine": engine()} | arguments))


@pytest.mark.parametrize(
    "text", ["Who founded Dornwick?", "¿Quién fundó la ciudad de 東京?", "?" * 50, "word " * 10_000]
)
def test_a_question_of_one_s_own_has_no_gold(text: str) -> None:
    made = env(observation="dict")
    made.reset(options={"question": "2hop__2"})
    seen, _ = made.reset(options={"question": text})
    assert made.observation_space.contains(seen) and made.state.question.text == text
    terminated, info, steps = False, {"action_mask": np.eye(7)[0]}, 0
    while not terminated:
        action = np.flatnonzero(info["action_mask"])[0]
        seen, reward, terminated, _, info = made.step(np.int64(action))
        assert made.observation_space.contains(seen)
        assert reward == 0.0 and set(info["rewards"].values()) == {0.0}
        steps += 1
    assert "metrics" not in info and info["answer"] and steps <= 4


def test_a_question_is_chosen_by_its_id() -> None:
    made = env()
    for record in records():
        made.reset(options={"question": record.id})
        assert made.state.question == record.question


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"question": ""}, "non-empty text, found ''"),
        ({"question": "  \n"}, "non-empty text"),
        ({"question": 3}, "found 3"),
        ({"seed": 3}, "unknown reset option seed; options: question"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        env().reset(options=options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"records": []}, "needs at least one question"),
        ({"on_invalid": "ignore"}, "on_invalid must be one of 'penalty', 'raise', found 'ignore'"),
        ({"observation": "text"}, "observation must be one of"),
        ({"render_mode": "human"}, "render_mode must be one of None, 'ansi'"),
        ({"invalid_penalty": -1}, "invalid_penalty must be a number of at least 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        env(**arguments)


def test_one_seed_is_one_course() -> None:
    def course(made: MultiHopQAEnv, seed: int) -> list[Any]:
        seen, info = made.reset(seed=seed)
        found = [made.state.question.text, seen]
        while "end" not in info:
            action = int(np.flatnonzero(info["action_mask"])[-1 if made.state.steps < 3 else 0])
            seen, reward, _, _, info = made.step(np.int64(action))
            found += [seen, reward, info["action_mask"]]
        return [*found, info["answer"], str(info["ledger"])]

    for seed in range(5):
        assert all(map(np.array_equal, course(env(), seed), course(env(engine=engine(cache_size=0)), seed)))
    drawn = env()
    drawn.reset(seed=0)
    texts = {drawn.state.question.text for _ in range(100) if drawn.reset()}
    assert len(texts) == 8
