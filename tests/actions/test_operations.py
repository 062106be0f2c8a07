"""What each operation asks for, and what it makes of the response."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evidencegym.actions.bridge_entity_expand import BridgeEntityExpand
from evidencegym.actions.caps import Caps
from evidencegym.actions.compress import Compress
from evidencegym.actions.gap_query import GapQuery
from evidencegym.actions.operation import Operation, Request
from evidencegym.actions.retrieve_more import RetrieveMore
from evidencegym.actions.rewrite_query import RewriteQuery
from evidencegym.actions.state import EvidenceState, HeldPassage
from evidencegym.actions.sufficiency_check import SufficiencyCheck
from evidencegym.data.records import Passage, Question
from evidencegym.generation.tasks import (
    Compression,
    CompressTask,
    Judgement,
    JudgeTask,
    RewriteTask,
    Rewriting,
    Snippet,
)
from evidencegym.retrieval.base import Hit, Search

ASKED = Question.of("Who wrote Blue Stone?")
TEN = [Passage.of(f"Title {i}", [f"It is about Person {'ABCDEFGHIJ'[i]}x."]) for i in range(10)]


def hits(numbers: Sequence[int]) -> tuple[Hit, ...]:
    return tuple(Hit(TEN[number], 10.0 - rank, rank) for rank, number in enumerate(numbers))


def drive(operation: Operation, state: EvidenceState, responses: Sequence[Any]) -> tuple[list[Request], EvidenceState]:
    """Send the responses one by one; return what was asked for, and the state."""
    process, asked = operation.run(state), []
    try:
        asked.append(next(process))
        for response in responses:
            asked.append(process.send(response))
    except StopIteration as stop:
        return asked, stop.value
    raise AssertionError("the operation wants more responses")


def holding(*numbers: int, caps: Caps | None = None) -> EvidenceState:
    state = EvidenceState(ASKED, caps or Caps())
    return state.received("retrieve_more", "earlier", hits(numbers)) if numbers else state


def titles(state: EvidenceState) -> list[str]:
    return [p.title[-1] for p in state.passages]


def test_retrieve_more_goes_on_where_it_was() -> None:
    state = EvidenceState(ASKED)
    [asked], state = drive(RetrieveMore(), state, [hits([4, 2, 7])])
    assert asked == Search(ASKED.text, 3, "", ASKED.key)
    assert (titles(state), state.frontier, state.frontier_exhausted) == (["4", "2", "7"], 3, False)
    [asked], state = drive(RetrieveMore(), state, [hits([4, 2, 7, 1, 0, 3, 5, 6, 8])])
    assert asked == Search(ASKED.text, 9, "", ASKED.key)
    assert (titles(state), state.frontier) == (["4", "2", "7", "1", "0", "3"], 6)
    assert [item.rank for item in state.held] == [0, 1, 2, 3, 4, 5]
    assert state.queries == (ASKED.text,)


def test_retrieve_more_passes_over_what_other_queries_brought() -> None:
    state = holding(2, 7)
    [asked], after = drive(RetrieveMore(), state, [hits([2, 7, 1, 0, 5])])
    assert isinstance(asked, Search) and asked.k == 5
    assert (titles(after), after.frontier) == (["2", "7", "1", "0", "5"], 5)


def test_retrieve_more_notices_the_end_of_the_ranking() -> None:
    _, after = drive(RetrieveMore(), EvidenceState(ASKED), [hits([1, 2])])
    assert after.frontier_exhausted
    assert not RetrieveMore().valid(after)
    _, nothing = drive(RetrieveMore(), EvidenceState(ASKED), [()])
    assert nothing.frontier_exhausted and nothing.retrievals == 1 and nothing.newest == 0


def test_retrieve_more_does_not_go_beyond_the_depth_of_the_frontier() -> None:
    state = EvidenceState(ASKED, Caps(frontier=4))
    _, state = drive(RetrieveMore(), state, [hits([0, 1, 2])])
    [asked], state = drive(RetrieveMore(), state, [hits([0, 1, 2, 3])])
    assert isinstance(asked, Search) and asked.k == 4
    assert (titles(state), state.frontier) == (["0", "1", "2", "3"], 4)
    assert not RetrieveMore().valid(state)


def test_gap_query_searches_for_the_gap_once() -> None:
    state = replace(holding(0), gap="birthplace of Ax")
    [asked], after = drive(GapQuery(), state, [hits([0, 3, 4, 5])])
    assert asked == Search("birthplace of Ax", 4, "", ASKED.key, targeted=True)
    assert (titles(after), after.queries) == (["0", "3", "4", "5"], ("earlier", "birthplace of Ax"))
    assert not GapQuery().valid(after)
    _, barren = drive(GapQuery(), state, [hits([0])])
    assert barren.barren == ("gap_query",) and barren.evidence_version == state.evidence_version


def test_bridge_entity_expand_asks_for_the_title_and_the_question() -> None:
    state = holding(0, 1)
    assert state.candidates == ("Person Ax", "Person Bx")
    [asked], after = drive(BridgeEntityExpand(), state, [hits([5])])
    assert asked == Search("Person Ax Who wrote Blue Stone?", 5, "Person Ax", ASKED.key, targeted=True)
    assert (after.expanded, after.candidates) == (("Person Ax",), ("Person Ax", "Person Fx", "Person Bx"))
    _, barren = drive(BridgeEntityExpand(), after, [()])
    assert barren.expanded == ("Person Ax", "Person Fx") and barren.newest == 0
    assert barren.next_candidate == "Person Bx"


def test_rewrite_query_searches_with_the_new_query() -> None:
    state = holding(0, 1)
    asked, after = drive(RewriteQuery(), state, [Rewriting("new words"), hits([0, 9])])
    search = Search("new words", 5, "", ASKED.key, targeted=True)
    assert asked == [RewriteTask(ASKED.text, state.context, ("earlier",)), search]
    assert (titles(after), after.queries) == (["0", "1", "9"], ("earlier", "new words"))


@pytest.mark.parametrize("query", ["", "earlier"])
def test_rewrite_query_without_a_new_query_searches_nothing(query: str) -> None:
    state = holding(0, 1)
    asked, after = drive(RewriteQuery(), state, [Rewriting(query)])
    assert len(asked) == 1
    assert (after.held, after.retrievals, after.newest) == (state.held, state.retrievals, 0)
    assert not RewriteQuery().valid(after)
    assert RewriteQuery().valid(after.received("gap_query", "other", hits([0, 5])[1:]))


def test_sufficiency_check_records_verdict_and_gap() -> None:
    state = holding(0, 1)
    [asked], after = drive(SufficiencyCheck(), state, [Judgement(False, "the author", 0.2)])
    assert asked == JudgeTask(ASKED.text, state.context)
    assert (after.sufficient, after.gap, after.sufficiency) == (False, "the author", 0.2)
    _, enough = drive(SufficiencyCheck(), replace(after, gap="old"), [Judgement(True, "left over", 0.9)])
    assert (enough.sufficient, enough.gap) == (True, "")


def test_compress_keeps_the_snippets() -> None:
    state = holding(0, 1)
    kept = (Snippet(TEN[0].id, "Sentence.", 0),)
    [asked], after = drive(Compress(True, 5, 99), state, [Compression(kept)])
    assert asked == CompressTask(ASKED.text, state.context, 5, 99)
    assert (after.snippets, after.compressed_version) == (kept, state.evidence_version)


def test_the_context_is_what_generators_see() -> None:
    state = holding(0, 1, 2, caps=Caps(context_documents=2))
    for operation, response in ((SufficiencyCheck(), Judgement(True, "", 1.0)), (Compress(True), Compression(()))):
        [asked], _ = drive(operation, state, [response])
        assert getattr(asked, "passages") == state.passages[:2]  # noqa: B009


def test_deduplication_by_title_is_an_option() -> None:
    namesake = Passage.of("title 0", ["Another text."])
    found = (Hit(namesake, 2.0, 0), Hit(TEN[3], 1.0, 1))
    state = holding(0)
    assert titles(drive(GapQuery(), replace(state, gap="x"), [found])[1]) == ["0", "0", "3"]
    assert titles(drive(GapQuery(True), replace(state, gap="x"), [found])[1]) == ["0", "3"]
    twins = (Hit(namesake, 2.0, 0), Hit(TEN[0], 1.0, 1))
    assert len(drive(RetrieveMore(True), EvidenceState(ASKED), [twins])[1].held) == 1


def test_a_held_passage_says_what_brought_it() -> None:
    state = replace(holding(0), history=("retrieve_more", "sufficiency_check"), gap="x")
    _, after = drive(GapQuery(), state, [hits([0, 3])])
    assert after.held[1] == HeldPassage(TEN[3], 9.0, 1, "gap_query", "x", 2)
