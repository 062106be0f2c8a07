"""Whole episodes on backends that fail or are slow."""

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.envs.rendering import render_trace
from evidencegym.envs.rollout import Episode, rollout
from evidencegym.envs.vector_env import EvidenceVectorEnv
from evidencegym.eval.results import result_of
from evidencegym.generation.tasks import AnswerTask
from tests.small_world import engine, records
from tests.unreliable import SlowGenerator, UnreliableGenerator, by_hash

RULES = Rules(operation_set("paper", compress_in_control=True), Caps(steps=8))
QUESTIONS = [record.question for record in records()]
POLICY = UniformController(3)


def episodes(generator: UnreliableGenerator | None, batch: int = 64, cache_size: int = 20_000) -> list[Episode]:
    return rollout(QUESTIONS, RULES, engine(generator, cache_size), POLICY, batch=batch)


@pytest.mark.parametrize("remote", [(0, None), (1, None), (3, 2), (16, 1)])
@pytest.mark.parametrize("batch", [1, 3, 64])
def test_whatever_fails_and_however_it_is_batched_the_episodes_are_the_same(
    remote: tuple[int, int | None], batch: int
) -> None:
    found = episodes(UnreliableGenerator(by_hash(0.3), True, *remote), batch)
    assert found == episodes(UnreliableGenerator(by_hash(0.3), True), 1, cache_size=0)
    assert any(episode.final.failures for episode in found)


def test_a_generator_that_always_fails_ends_every_episode_unanswered() -> None:
    for episode in episodes(UnreliableGenerator(lambda task: True)):
        assert episode.final.end and episode.final.answer is not None and episode.final.answer.text == ""
        assert len(episode.steps) <= 9
        seen = [(f.operation, f.evidence_version) for f in episode.final.failures]
        assert len(seen) == len(set(seen)) and seen[-1][0] == "answer"


def test_one_bad_question_changes_no_other_episode() -> None:
    bad = QUESTIONS[2].text
    found = episodes(UnreliableGenerator(lambda task: task.question == bad, raising=True))
    plain = episodes(None)
    assert [i for i in range(8) if found[i] != plain[i]] == [2]


def test_a_slow_request_keeps_no_other_episode_from_ending() -> None:
    slow = SlowGenerator(lambda t: isinstance(t, AnswerTask) and t.question == QUESTIONS[0].text, 2, max_batch=1)

    def done(count: int) -> None:
        if count == 7:
            slow.release.set()

    found = rollout(QUESTIONS, RULES, engine(slow), POLICY, batch=3, done=done)
    assert slow.held_back == 1 and found == episodes(None)


def test_failures_stand_in_trace_and_results_and_only_there() -> None:
    [episode] = [e for e in episodes(UnreliableGenerator(lambda task: True)) if _failed_check(e)][:1]
    record = next(r for r in records() if r.question == episode.question)
    kept = result_of(record, episode)
    assert kept["failures"] == [[f.operation, f.reason] for f in episode.final.failures]
    failed = [step for step in kept["steps"] if "failure" in step]
    noted = [failure.operation for failure in episode.final.failures]
    assert [step["operation"] for step in failed] == noted[: len(failed)]
    assert set(noted[len(failed) :]) <= {"compress", "answer"}
    assert all(step["verdict"] is None for step in failed)
    assert "    failed:     not served" in render_trace(episode.steps)
    assert "failures" not in result_of(record, episodes(None)[0])


def _failed_check(episode: Episode) -> bool:
    return any(failure.operation == "sufficiency_check" for failure in episode.final.failures)


@pytest.mark.parametrize("remote", [(1, None), (4, 1)])
def test_a_vector_environment_goes_on_too(remote: tuple[int, int | None]) -> None:
    made = [
        EvidenceVectorEnv(records(), engine(UnreliableGenerator(by_hash(0.5), True, *where)), 8, RULES)
        for where in ((0, None), remote)
    ]
    seen = [env.reset(seed=5)[0] for env in made]
    for move in range(30):
        masks = [env.action_masks() for env in made]
        np.testing.assert_equal(masks[0], masks[1])
        np.testing.assert_equal(seen[0], seen[1])
        actions = np.array([np.flatnonzero(row)[move % row.sum()] for row in masks[0]], np.int64)
        steps = [env.step(actions) for env in made]
        np.testing.assert_equal(steps[0], steps[1])
        seen = [step[0] for step in steps]
    assert any(env.state.failures for env in made[0].envs)
