"""The corrective gate: each verdict's correction, what is discarded, what is searched elsewhere, what a reader sees."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.engine import Engine
from evidencegym.actions.gate_settings import GateSettings
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.confidence.refinement import RefinementSettings
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.controllers.crag import CRAGController
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, InvalidOperationError, RequestFailedError
from evidencegym.data.records import Question
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.metrics import episode_metrics
from evidencegym.envs.rollout import rollout
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.retrieval.base import Hit
from evidencegym.retrieval.external import ExternalSearch, LocalSource
from tests.fakes import OverlapGenerator
from tests.judges import OverlapEvaluator
from tests.small_world import gated_engine, outside, records, retriever
from tests.walks import visited

ALWAYS = {
    "correct": Thresholds(-1.0, -1.0),
    "incorrect": Thresholds(1.0, 1.0),
    "ambiguous": Thresholds(1.0, -1.0),
}
QUESTION = Question.of("Where was the director of The Amber Gate born?")


def rules_of(ranked: bool = False, caps: Caps | None = None, gate: GateSettings | None = None) -> Rules:
    return Rules(operation_set("with_gate", ranked=ranked, gate=gate), caps or Caps(steps=8))


def engine_of(verdict: str, ranked: bool = False, external: LocalSource | None = None) -> Engine:
    ranker = LexicalRanker(retriever()) if ranked else None
    judge = OverlapEvaluator(ALWAYS[verdict])
    return Engine(retriever(), OverlapGenerator(), 0, ranker, judge, external or outside())


def after(names: list[str], rules: Rules, engine: Engine, question: Question = QUESTION) -> EvidenceState:
    state = rules.start(question)
    for name in names:
        [state] = rules.step([state], [rules.operations.id_of(name)], engine)
    return state


@lru_cache(maxsize=8)
def gated(verdict: str, ranked: bool = False) -> tuple[EvidenceState, EvidenceState]:
    rules, engine = rules_of(ranked), engine_of(verdict, ranked)
    before = after(["retrieve_more"], rules, engine)
    [state] = rules.step([before], [rules.operations.id_of("corrective_gate")], engine)
    return before, state


@pytest.mark.parametrize("ranked", [False, True])
def test_correct_evidence_is_refined_and_nothing_else(ranked: bool) -> None:
    before, state = gated("correct", ranked)
    assert state.gate is not None and state.gate.verdict == "correct"
    assert state.held == before.held and state.evidence_version == before.evidence_version
    assert (state.external, state.gate.brought, state.gate.discarded) == (0, 0, 0)
    assert dict(state.refined).keys() == {p.id for p in state.passages}
    assert state.cost.external_searches == 0 and state.cost.evaluator_calls > len(before.held)


@pytest.mark.parametrize("ranked", [False, True])
def test_incorrect_evidence_is_discarded_stays_seen_and_is_replaced(ranked: bool) -> None:
    before, state = gated("incorrect", ranked)
    assert state.gate is not None and state.gate.verdict == "incorrect"
    assert state.gate.discarded == len(before.held)
    assert not {p.id for p in before.passages} & {p.id for p in state.passages}
    assert before.seen < state.seen
    assert state.held and {item.source for item in state.held} == {"local_corpus"}
    assert state.gate.brought == len(state.held)
    rules = rules_of(ranked)
    more = rules.step([state], [rules.operations.id_of("retrieve_more")], engine_of("incorrect", ranked))[0]
    assert not {p.id for p in before.passages} & {p.id for p in more.passages}


@pytest.mark.parametrize("ranked", [False, True])
def test_ambiguous_evidence_is_kept_and_added_to(ranked: bool) -> None:
    before, state = gated("ambiguous", ranked)
    assert state.gate is not None and state.gate.verdict == "ambiguous"
    assert state.held[: len(before.held)] == before.held
    assert {item.source for item in state.held[len(before.held) :]} == {"local_corpus"}
    assert state.gate.version == state.evidence_version == before.evidence_version + state.external
    assert state.cost.external_searches == state.external == 2
    assert state.retrievals == before.retrievals == state.cost.retrievals == 1
    assert state.elsewhere[0] == QUESTION.text and state.queries == before.queries


def test_a_ranked_gate_asks_elsewhere_what_the_ranker_proposes_and_no_generator() -> None:
    before, state = gated("ambiguous", True)
    assert before.ranking is not None and state.ranking is not None
    assert state.elsewhere[1] not in {QUESTION.text, ""} and state.cost.generator_calls == 0
    assert {p.id for p in state.passages} <= {item.passage.id for item in state.found}
    assert len(state.ranking.scores) == len(state.found)
    plain = gated("ambiguous")[1]
    assert plain.cost.generator_calls == 1


def test_what_a_reader_sees_is_cut_to_the_strips_and_indices_stay() -> None:
    rules = rules_of(gate=GateSettings(RefinementSettings(most=2)))
    state = after(["retrieve_more", "corrective_gate"], rules, engine_of("correct"))
    kept = dict(state.refined)
    assert sum(map(len, kept.values())) < sum(len(p.sentences) for p in state.passages)
    by_id = {p.id: p for p in state.passages}
    for shown in state.context:
        whole = by_id[shown.id]
        assert shown.sentences == tuple(s if i in kept[shown.id] else "" for i, s in enumerate(whole.sentences))
    assert {p.id for p in state.context} == {i for i, sentences in kept.items() if sentences}


def test_what_comes_after_the_gate_is_shown_whole_until_the_next_one() -> None:
    rules, engine = rules_of(), engine_of("correct")
    state = after(["retrieve_more", "corrective_gate", "retrieve_more"], rules, engine)
    new = state.held[-1].passage
    assert new in state.context
    assert rules.mask(state)[rules.operations.id_of("corrective_gate")]
    assert new.id in dict(after(["retrieve_more", "corrective_gate"] * 2, rules, engine).refined)


def test_support_that_is_held_and_not_shown_counts_for_one_measure_only() -> None:
    record = records()[0]
    gate = GateSettings(RefinementSettings(1, 1.0, 1))
    rules, engine = rules_of(gate=gate), engine_of("correct")
    state = after(["retrieve_more", "bridge_entity_expand", "corrective_gate"], rules, engine, record.question)
    [final] = rules.conclude([state], engine)
    assert record.gold is not None
    found = episode_metrics(record.gold, final)
    assert found["support_recall"] == 1.0 and found["context_support_recall"] == 0.5


def test_it_may_run_once_on_the_same_evidence() -> None:
    rules, engine = rules_of(), engine_of("correct")
    gate = rules.operations.id_of("corrective_gate")
    assert not rules.mask(rules.start(QUESTION))[gate]
    once = after(["retrieve_more", "corrective_gate"], rules, engine)
    assert not rules.mask(once)[gate]
    with pytest.raises(InvalidOperationError, match="corrective_gate is not valid"):
        rules.step([once], [gate], engine)


@pytest.mark.parametrize(("budget", "searches"), [(1, 2), (2, 1), (3, 2)])
def test_the_budget_of_an_episode_is_never_passed(budget: int, searches: int) -> None:
    rules = rules_of(gate=GateSettings(searches=searches, budget=budget), caps=Caps(steps=30, frontier=100))
    engine = engine_of("ambiguous")
    gate, more = rules.operations.id_of("corrective_gate"), rules.operations.id_of("retrieve_more")
    state, gates = after(["retrieve_more"], rules, engine), 0
    while not state.end and rules.mask(state)[more]:
        gates += int(rules.mask(state)[gate])
        [state] = rules.step([state], [gate if rules.mask(state)[gate] else more], engine)
        assert state.external <= budget
    assert state.external == budget and gates == -(-budget // searches)


def test_without_anywhere_else_to_search_nothing_is_discarded() -> None:
    rules = rules_of(gate=GateSettings(budget=0))
    engine = Engine(retriever(), OverlapGenerator(), evaluator=OverlapEvaluator(ALWAYS["incorrect"]))
    state = after(["retrieve_more", "corrective_gate"], rules, engine)
    assert state.gate is not None and state.gate.verdict == "incorrect"
    assert len(state.held) == 3 and state.refined


def test_caps_on_documents_hold_for_what_comes_from_elsewhere() -> None:
    caps = Caps(steps=8, documents=4)
    for verdict in ALWAYS:
        state = after(["retrieve_more", "corrective_gate"], rules_of(caps=caps), engine_of(verdict))
        assert len(state.held) <= 4


def test_an_uncalibrated_evaluator_is_refused() -> None:
    with pytest.raises(ConfigError, match="evidencegym calibrate"):
        Engine(retriever(), OverlapGenerator(), evaluator=OverlapEvaluator(None))


def test_an_engine_without_evaluator_or_source_says_what_is_missing() -> None:
    rules = rules_of()
    state = after(["retrieve_more"], rules, engine_of("correct"))
    gate = rules.operations.id_of("corrective_gate")
    with pytest.raises(ConfigError, match="needs an evaluator"):
        rules.step([state], [gate], Engine(retriever(), OverlapGenerator()))
    judge = OverlapEvaluator(ALWAYS["ambiguous"])
    with pytest.raises(ConfigError, match="no external source"):
        rules.step([state], [gate], Engine(retriever(), OverlapGenerator(), evaluator=judge))


class Broken(LocalSource):
    """A source that is down."""

    def find(self, searches: object) -> list[list[Hit]]:
        raise RequestFailedError("the wiki is down")


def test_a_search_that_fails_is_charged_noted_and_not_repeated_on_the_same_evidence() -> None:
    rules, engine = rules_of(), engine_of("ambiguous", external=Broken(retriever()))
    before = after(["retrieve_more"], rules, engine)
    gate = rules.operations.id_of("corrective_gate")
    [state] = rules.step([before], [gate], engine)
    assert state.held == before.held and state.refined
    assert [failure.reason for failure in state.failures] == ["the wiki is down"]
    assert state.cost.external_searches == state.external == 1 and state.steps == 2
    assert not rules.mask(state)[gate]


def test_nothing_is_discarded_where_no_replacement_could_be_had() -> None:
    rules, engine = rules_of(), engine_of("incorrect", external=Broken(retriever()))
    state = after(["retrieve_more", "corrective_gate"], rules, engine)
    assert state.gate is not None and (state.gate.verdict, state.gate.discarded) == ("incorrect", 0)
    assert len(state.held) == 3 and len(state.failures) == 1 and state.external == 1


class Flaky(LocalSource):
    """A source whose second search fails."""

    asked = 0

    def find(self, searches: Sequence[ExternalSearch]) -> list[list[Hit]]:
        self.asked += len(searches)
        if self.asked > 1:
            raise RequestFailedError("the wiki is tired")
        return super().find(searches)


@pytest.mark.parametrize("ranked", [False, True])
def test_what_came_before_a_search_failed_is_kept_and_counted(ranked: bool) -> None:
    engine = engine_of("ambiguous", ranked, Flaky(outside().retriever))
    state = after(["retrieve_more", "corrective_gate"], rules_of(ranked), engine)
    assert state.gate is not None and state.gate.brought == 3 and state.external == 2
    assert state.cost.external_searches == 2 and len(state.failures) == 1


def test_no_other_operation_brings_what_lies_elsewhere() -> None:
    rules, engine = rules_of(True, Caps(steps=9)), engine_of("ambiguous", True)
    state = after(["retrieve_more", "corrective_gate"], rules, engine)
    pool = {item.passage.id for item in state.found}
    taken = {item.passage.id for item in state.held if item.source}
    everywhere = {
        p.id for [hits] in [outside().find([ExternalSearch("film", 20)])] for p in (hit.passage for hit in hits)
    }
    assert taken and everywhere - taken and not pool & (everywhere - taken)
    for name in ("retrieve_more", "bridge_entity_expand", "retrieve_more"):
        if rules.mask(state)[rules.operations.id_of(name)]:
            [state] = rules.step([state], [rules.operations.id_of(name)], engine)
    outsiders = [item for item in state.held if item.passage.id in everywhere]
    assert {item.operation for item in outsiders} == {"corrective_gate"} and all(item.source for item in outsiders)


def test_snippets_do_not_outlive_what_they_were_chosen_from() -> None:
    rules = Rules(operation_set("with_gate", compress_in_control=True), Caps(steps=8))
    for verdict in ALWAYS:
        state = after(["retrieve_more", "compress", "corrective_gate"], rules, engine_of(verdict))
        assert state.snippets is None and state.compressed_version == -1


def test_features_say_what_the_gate_found() -> None:
    rules = rules_of()
    features = FeatureMap(rules.operations.names)
    assert "gated" not in FeatureMap(operation_set("paper").names).names
    before, state = gated("incorrect")
    values = dict(zip(features.names, features.vector(state).tolist()))
    assert values["gated"] == values["gate_incorrect"] == 1 and values["gate_correct"] == 0
    assert values["gate_discarded"] == 3 and values["elsewhere_held"] == len(state.held)
    assert values["external_searches"] == 2 and values["count_corrective_gate"] == 1
    assert np.isclose(values["gate_best"], max(state.gate.scores if state.gate else (0.0,)))
    assert dict(zip(features.names, features.vector(before).tolist()))["gate_best"] == -1


@pytest.mark.parametrize("ranked", [False, True])
def test_every_state_of_random_walks_keeps_its_promises(ranked: bool) -> None:
    rules = rules_of(ranked, Caps(steps=12))
    engine = gated_engine(ranker=LexicalRanker(retriever()) if ranked else None)
    verdicts = set()
    for state in visited(rules, engine, walks=40):
        held = [item.passage.id for item in state.held]
        assert len(set(held)) == len(held) and set(held) <= state.seen
        assert state.external <= 4 and state.cost.external_searches == state.external
        assert len(state.context) <= len(held) and all(p.text for p in state.context)
        if state.gate is not None:
            verdicts.add(state.gate.verdict)
            assert all(-1 <= score <= 1 for score in state.gate.scores)
    assert verdicts == {"correct", "ambiguous", "incorrect"}


def test_crag_retrieves_judges_and_stops() -> None:
    rules = rules_of()
    names = rules.operations.names
    for k in (1, 2):
        crag = CRAGController(FeatureMap(names).names, names, k)
        episodes = rollout([r.question for r in records()], rules, gated_engine(), crag)
        courses = {tuple(step.operation for step in episode.steps) for episode in episodes}
        assert courses == {("retrieve_more",) * k + ("corrective_gate", "stop_answer")}
    with pytest.raises(ConfigError, match=r"crag\.k"):
        CRAGController(FeatureMap(names).names, names, 0)
    with pytest.raises(ConfigError, match="corrective_gate"):
        CRAGController(FeatureMap(names).names, operation_set("paper").names)


def test_the_trace_tells_verdict_discards_and_queries() -> None:
    rules, engine = rules_of(), engine_of("incorrect")
    crag = CRAGController(FeatureMap(rules.operations.names).names, rules.operations.names)
    [episode] = rollout([QUESTION], rules, engine, crag)
    step = episode.steps[1]
    assert step.gate is not None and (step.gate.verdict, step.gate.discarded) == ("incorrect", 3)
    assert step.query == QUESTION.text and step.brought
    plain = step.as_dict()
    assert plain["gate"]["verdict"] == "incorrect" and "gate" not in episode.steps[0].as_dict()


def test_compress_may_keep_the_evaluators_strips() -> None:
    rules = Rules(operation_set("with_gate", compress_strips=True, max_snippets=3))
    engine = engine_of("correct")
    state = after(["retrieve_more"], rules, engine)
    [final] = rules.conclude([state], engine)
    assert final.snippets is not None and 0 < len(final.snippets) <= 3
    by_id = {p.id: p for p in state.passages}
    for snippet in final.snippets:
        assert snippet.sentence is not None
        assert snippet.text.endswith(by_id[snippet.passage_id].sentences[snippet.sentence])
    spent = dict(final.ledger)["compress"]
    assert spent.generator_calls == 0 and spent.evaluator_calls > 0


@pytest.mark.parametrize("wrong", [{"searches": 0}, {"budget": -1}])
def test_settings_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        GateSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="manifest"):
        GateSettings.of({"what": 1})


def test_uniform_episodes_with_a_gate_are_the_same_whatever_the_batch() -> None:
    rules = rules_of(caps=Caps(steps=5))
    questions = [record.question for record in records()]
    found = [rollout(questions, rules, gated_engine(), UniformController(3), batch=size) for size in (1, 8)]
    assert [e.final for e in found[0]] == [e.final for e in found[1]]


def test_a_local_source_marks_what_it_returns() -> None:
    [hits] = outside().find([ExternalSearch("Kelmar", 2)])
    assert hits and {hit.source for hit in hits} == {"local_corpus"}
