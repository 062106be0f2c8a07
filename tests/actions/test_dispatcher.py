"""Batches under way in other threads: who waits for whom, what is asked once, and what an error leaves behind."""

import pickle
import threading
from collections.abc import Sequence
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidencegym.actions.driver import run_all
from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.data.errors import BackendUnavailableError, ConfigError
from evidencegym.generation.tasks import JudgeTask, RewriteTask
from tests.fakes import OverlapGenerator
from tests.small_world import engine
from tests.unreliable import SlowGenerator, UnreliableGenerator, by_hash
from tests.walks import visited

RULES = Rules(operation_set("paper", compress_in_control=True))
STATES = visited(RULES, engine(), walks=40)
TRIES = [(s, i) for s in STATES for i, op in enumerate(RULES.operations) if op.valid(s)]
REMOTE = [(0, None), (1, None), (2, 3), (8, 1)]


def judging(*texts: str) -> list[Any]:
    def process(text: str) -> Any:
        return (yield JudgeTask(text, ()))

    return [process(text) for text in texts]


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(0, len(TRIES) - 1), max_size=30),
    st.sampled_from(REMOTE),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.booleans(),
)
def test_lockstep_equals_one_by_one_with_failures_too(
    numbers: list[int], remote: tuple[int, int | None], share: float, raising: bool
) -> None:
    tries = [TRIES[number] for number in numbers]
    generator = UnreliableGenerator(by_hash(share), raising, *remote)
    together = RULES.step([s for s, _ in tries], [op for _, op in tries], engine(generator))
    oracle = engine(UnreliableGenerator(by_hash(share), raising), cache_size=0)
    assert together == [RULES.step([s], [op], oracle)[0] for s, op in tries]


def test_kinds_run_side_by_side() -> None:
    both = Barrier(2, timeout=30)

    class Meeting(OverlapGenerator):
        concurrency = 1

        def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> Any:
            both.wait()
            return super().judge_sufficiency(tasks)

        def rewrite(self, tasks: Sequence[RewriteTask]) -> Any:
            both.wait()
            return super().rewrite(tasks)

    def rewriting() -> Any:
        return (yield RewriteTask("a", ()))

    assert len(run_all([*judging("a"), rewriting()], engine(Meeting()))) == 2


def test_what_is_under_way_is_not_asked_again() -> None:
    generator = SlowGenerator(lambda task: task.question == "slow", concurrency=4, max_batch=1)

    def late() -> Any:
        yield JudgeTask("quick", ())
        generator.release.set()
        return (yield JudgeTask("slow", ()))

    outcomes = run_all([*judging("slow"), late()], engine(generator, cache_size=0))
    assert outcomes[0].state == outcomes[1].state
    assert sum(size for _, size in generator.calls) == 2


def test_batches_are_no_larger_than_the_backend_takes() -> None:
    for concurrency in (0, 2):
        generator = UnreliableGenerator(lambda task: False, False, concurrency, 3)
        run_all(judging(*"abcdefg"), engine(generator))
        assert sorted(size for _, size in generator.calls) == [1, 3, 3]
    assert engine(generator).execute([JudgeTask(t, ()) for t in "abcdefg"])[6].cost.generator_calls == 1


@pytest.mark.parametrize("error", [KeyError("a bug"), BackendUnavailableError("no server")])
def test_other_errors_propagate_and_end_the_threads(error: Exception) -> None:
    class Broken(OverlapGenerator):
        concurrency, max_batch = 2, 1

        def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> Any:
            if tasks[0].question == "b":
                raise error
            return super().judge_sufficiency(tasks)

    before = set(threading.enumerate())
    with pytest.raises(type(error)):
        run_all(judging(*"abcdefgh"), engine(Broken()))
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=30)
        assert not thread.is_alive()


def test_an_engine_with_remote_backends_can_be_sent() -> None:
    made: Engine = pickle.loads(pickle.dumps(engine(UnreliableGenerator(_never, False, 2, 5))))
    assert (made.kinds[JudgeTask].concurrency, made.kinds[JudgeTask].max_batch) == (2, 5)


def _never(task: Any) -> bool:
    return False


@pytest.mark.parametrize(("concurrency", "max_batch"), [(-1, None), (0, 0)])
def test_a_backend_that_states_nonsense_is_refused(concurrency: int, max_batch: int | None) -> None:
    with pytest.raises(ConfigError, match="concurrency must be at least 0"):
        engine(UnreliableGenerator(_never, False, concurrency, max_batch))
