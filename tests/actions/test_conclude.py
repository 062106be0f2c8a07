"""How an episode is concluded: compression, then the answer, whatever the episode held."""

from dataclasses import replace

import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import ANSWER, Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.data.records import Question
from evidencegym.generation.tasks import AnswerTask
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records


def ended(rules: Rules, *names: str, question: int = 0) -> EvidenceState:
    state = rules.start(records()[question].question)
    for name in names:
        [state] = rules.step([state], [rules.operations.id_of(name)], engine())
    return state


def test_compression_runs_by_itself_and_is_charged() -> None:
    rules = Rules()
    [done] = rules.conclude([ended(rules, "retrieve_more", "stop_answer")], engine())
    ledger = dict(done.ledger)
    assert list(ledger) == ["retrieve_more", "stop_answer", "compress", ANSWER]
    assert ledger["compress"].generator_calls == ledger[ANSWER].generator_calls == 1
    assert done.history == ("retrieve_more", "stop_answer")
    assert done.snippets and len(done.snippets) == 3


@pytest.mark.parametrize(
    "rules",
    [
        Rules(operation_set("paper", disabled=["compress"])),
        Rules(operation_set(["retrieve_more", "stop_answer"])),
    ],
    ids=["disabled", "absent"],
)
def test_without_compress_the_whole_context_is_read(rules: Rules) -> None:
    asked: list[AnswerTask] = []

    class Listening(OverlapGenerator):
        def _answer(self, task: AnswerTask):  # type: ignore[no-untyped-def]
            asked.append(task)
            return super()._answer(task)

    state = ended(rules, "retrieve_more", "stop_answer")
    [done] = rules.conclude([state], engine(Listening()))
    assert asked == [AnswerTask(state.question.text, state.context)]
    assert done.snippets is None and "compress" not in dict(done.ledger)


def test_what_a_controller_compressed_is_not_compressed_again_unless_evidence_came() -> None:
    rules = Rules(operation_set("paper", compress_in_control=True))
    [fresh] = rules.conclude([ended(rules, "retrieve_more", "compress", "stop_answer")], engine())
    assert dict(fresh.ledger)["compress"].generator_calls == 1
    [stale] = rules.conclude([ended(rules, "retrieve_more", "compress", "retrieve_more", "stop_answer")], engine())
    assert dict(stale.ledger)["compress"].generator_calls == 2
    assert stale.snippets is not None and {s.passage_id for s in stale.snippets} == {p.id for p in stale.passages}


def test_an_episode_without_evidence_is_answered_too() -> None:
    rules = Rules(operation_set("paper", closed_book=True))
    [done] = rules.conclude([ended(rules, "stop_answer")], engine())
    assert done.answer is not None and done.answer.text == "nothing found"
    assert list(dict(done.ledger)) == ["stop_answer", ANSWER]


def test_many_are_concluded_as_each_alone() -> None:
    rules = Rules(caps=Caps(steps=2))
    states = [ended(rules, *["retrieve_more"] * 2, question=i) for i in range(8)]
    states[3] = replace(rules.start(Question.of("zzz")), end="stop")
    generator = OverlapGenerator()
    together = rules.conclude(states, engine(generator))
    assert generator.calls == [("compress", 7), ("answer", 8)]
    assert together == [rules.conclude([state], engine())[0] for state in states]
    assert rules.conclude([], engine()) == []


def test_the_context_cap_bounds_what_is_read() -> None:
    rules = Rules(operation_set("paper", disabled=["compress"]), Caps(steps=2, context_documents=1))
    state = ended(rules, "retrieve_more", "retrieve_more")
    [done] = rules.conclude([state], engine())
    whole = OverlapGenerator().answer([AnswerTask(state.question.text, state.passages[:1])])
    assert len(state.held) == 6
    assert done.answer == whole[0]


def test_a_state_is_a_value() -> None:
    rules = Rules()
    state = ended(rules, "retrieve_more")
    assert state == ended(rules, "retrieve_more") and hash(state) == hash(ended(rules, "retrieve_more"))
    assert {state: 1}[ended(rules, "retrieve_more")] == 1
    with pytest.raises(AttributeError):
        state.gap = "x"  # type: ignore[misc]
    assert state != replace(state, gap="x")
