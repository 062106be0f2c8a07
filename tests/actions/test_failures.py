"""Requests that fail: the episode records it and goes on, and its neighbours notice nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.costs import Cost
from evidencegym.actions.engine import Engine, Reply
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import ANSWER, COMPRESS, Rules
from evidencegym.actions.state import EvidenceState, Failure
from evidencegym.data.errors import RequestFailedError
from evidencegym.data.records import Passage
from evidencegym.generation.tasks import Answer, AnswerTask, CompressTask, Failed, JudgeTask, RewriteTask, Usage
from evidencegym.retrieval.base import Hit, Retriever
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records, retriever
from tests.unreliable import UnreliableGenerator

RULES = Rules(operation_set("paper", compress_in_control=True), Caps(steps=8))


class UnreliableRetriever(Retriever):
    """Fails on searches whose query holds a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    @property
    def fingerprint(self) -> str:
        return "unreliable"

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        if any(self.word in query for query in queries):
            raise RequestFailedError("index unreachable")
        return retriever().search(queries, k, pools)

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        return retriever().titled(title, pool)


def failing(kind: type, raising: bool = False) -> Engine:
    return engine(UnreliableGenerator(lambda task: isinstance(task, kind), raising))


def after(*names: str) -> EvidenceState:
    state = RULES.start(records()[0].question)
    for name in names:
        [state] = RULES.step([state], [RULES.operations.id_of(name)], engine())
    return state


def tried(state: EvidenceState, name: str, backend: Engine) -> EvidenceState:
    [made] = RULES.step([state], [RULES.operations.id_of(name)], backend)
    return made


@pytest.mark.parametrize(
    ("name", "kind"), [("sufficiency_check", JudgeTask), ("rewrite_query", RewriteTask), ("compress", CompressTask)]
)
@pytest.mark.parametrize("raising", [False, True])
def test_a_failed_operation_is_a_step_and_waits_for_other_evidence(name: str, kind: type, raising: bool) -> None:
    before = after("retrieve_more")
    made = tried(before, name, failing(kind, raising))
    assert made.failures == (Failure(name, "not served", 1),)
    assert made.steps == 2 and made.history[-1] == name
    assert dict(made.ledger)[name] == Cost(prompt_tokens=0 if raising else 3, generator_calls=1)
    untouched = ("held", "queries", "sufficient", "gap", "probed_version", "snippets", "retrievals", "end", "barren")
    assert [getattr(made, field) for field in untouched] == [getattr(before, field) for field in untouched]
    place = RULES.operations.id_of(name)
    assert RULES.mask(before)[place] and not RULES.mask(made)[place]
    assert RULES.mask(tried(made, "retrieve_more", engine()))[place]


@pytest.mark.parametrize("name", ["retrieve_more", "bridge_entity_expand", "rewrite_query", "gap_query"])
def test_a_failed_search_is_charged_and_brings_nothing(name: str) -> None:
    before = after("retrieve_more", "sufficiency_check")
    made = tried(before, name, Engine(UnreliableRetriever(""), OverlapGenerator()))
    assert made.failures[-1][:2] == (name, "index unreachable")
    assert made.retrievals == before.retrievals + 1 and made.newest == 0 and made.held == before.held
    assert made.cost.retrievals == before.cost.retrievals + 1
    assert not RULES.mask(made)[RULES.operations.id_of(name)]


def test_where_the_first_search_fails_the_episode_may_only_stop() -> None:
    made = tried(after(), "retrieve_more", Engine(UnreliableRetriever(""), OverlapGenerator()))
    assert np.flatnonzero(RULES.mask(made)).tolist() == [RULES.operations.stop]


def test_a_failed_answer_is_empty_and_a_failed_compression_leaves_all_to_read() -> None:
    state = after("retrieve_more", "stop_answer")
    [unanswered] = RULES.conclude([state], failing(AnswerTask))
    assert unanswered.answer == Answer("") and unanswered.failures == (Failure(ANSWER, "not served", 1),)
    assert dict(unanswered.ledger)[ANSWER] == Cost(prompt_tokens=3, generator_calls=1)
    [whole] = RULES.conclude([state], failing(CompressTask))
    plain = OverlapGenerator().answer([AnswerTask(state.question.text, state.context)])
    assert whole.snippets is None and [whole.answer] == plain and whole.failures[0].operation == COMPRESS


def test_a_stale_compression_is_not_read_when_the_new_one_fails() -> None:
    state = after("retrieve_more", "compress", "retrieve_more", "stop_answer")
    assert state.snippets
    [done] = RULES.conclude([state], failing(CompressTask))
    assert done.snippets is None and done.answer is not None


def test_what_failed_to_compress_is_not_asked_again() -> None:
    backend = failing(CompressTask)
    state = tried(tried(after("retrieve_more"), "compress", backend), "stop_answer", backend)
    [done] = RULES.conclude([state], backend)
    assert [failure.operation for failure in done.failures] == ["compress"]
    assert dict(done.ledger)["compress"].generator_calls == 1


def test_a_bad_request_among_many_takes_no_other_along() -> None:
    tasks = [JudgeTask(str(number), ()) for number in range(32)]
    generator = UnreliableGenerator(lambda task: task.question == "17", raising=True)
    replies = engine(generator).execute(tasks)
    assert replies[17] == Reply(Failed("not served"), Cost(generator_calls=1))
    others = [i for i in range(32) if i != 17]
    assert [replies[i] for i in others] == [engine().execute(tasks)[i] for i in others]
    assert len(generator.calls) == 5


def test_a_failure_is_not_kept() -> None:
    broken: list[Any] = [True]
    backend = engine(UnreliableGenerator(lambda task: broken[0]))
    task = JudgeTask("a", ())
    assert backend.execute([task, task]) == [Reply(Failed("not served", Usage(3, 0)), Cost(3, 0, 1))] * 2
    broken[0] = False
    assert backend.execute([task]) == engine().execute([task])


def test_other_errors_are_not_swallowed() -> None:
    class Broken(OverlapGenerator):
        def _judge(self, task: JudgeTask) -> Any:
            raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        tried(after("retrieve_more"), "sufficiency_check", engine(Broken()))


def test_a_failure_on_older_evidence_bars_nothing() -> None:
    state = after("retrieve_more").failed("gap_query", "x")
    assert state.barred("gap_query") and not state.barred("rewrite_query")
    assert not replace(state, evidence_version=2).barred("gap_query")
