"""Retrievals that a ranker chooses within: the pool, what is taken from it, and which searches are made."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from evidencegym.actions.caps import Caps
from evidencegym.actions.driver import run, run_all
from evidencegym.actions.engine import NAMESAKES, Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.pool import ASKED_DEPTH, TARGETED_DEPTH, pooled, subjects
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.actions.workers import Workers
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, RequestFailedError
from evidencegym.data.records import Passage, Question
from evidencegym.envs.rollout import Episode, rollout
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.ranking.base import Ranker
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.tasks import FAR, Found, Proposal, Ranking, RankTask
from evidencegym.retrieval.base import Hit, Retriever, Search
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.context import ContextRetriever
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import ranker
from tests.small_world import passages, records, retriever
from tests.walks import visited

RULES = Rules(operation_set(ranked=True, compress_in_control=True))
LONG = Rules(RULES.operations, Caps(steps=30))
MORE, EXPAND = (RULES.operations.id_of(name) for name in ("retrieve_more", "bridge_entity_expand"))


def engine_of(corpus: Retriever | None = None, name: str = "lexical", cache_size: int = 20_000) -> Engine:
    searched = corpus or retriever()
    return Engine(searched, OverlapGenerator(), cache_size, ranker(name, searched))


@lru_cache(maxsize=1)
def states() -> tuple[EvidenceState, ...]:
    return tuple(visited(LONG, engine_of(), walks=60))


def course(question: Question, rules: Rules, engine: Engine, seed: int = 0) -> EvidenceState:
    """Follow any valid operations to the end and conclude."""
    [episode] = rollout([question], rules, engine, UniformController(seed, avoid=[rules.operations.stop]))
    return episode.final


# The pool


def hits(*titles: str) -> list[Hit]:
    return [Hit(passages()[title], 8.0 / (rank + 1), rank) for rank, title in enumerate(titles)]


def test_the_pool_keeps_what_each_search_thought() -> None:
    first = pooled((), hits("Kelmar", "Velby"), asked=True, gain=0.5)
    assert first == (Found(passages()["Kelmar"], 1.0, 0), Found(passages()["Velby"], 0.5, 1))
    second = pooled(first, hits("Velby", "Tarn"), asked=False, gain=0.25)
    assert second[1] == Found(passages()["Velby"], 0.5, 1, 1.0, 0, 0.25, 1)
    assert second[2] == Found(passages()["Tarn"], 0.0, FAR, 0.5, 1, 0.125, 1)
    third = pooled(second, hits("Tarn", "Velby"), asked=False, gain=0.75)
    assert third[1] == Found(passages()["Velby"], 0.5, 1, 1.0, 0, 0.375, 2)
    assert third[2] == Found(passages()["Tarn"], 0.0, FAR, 1.0, 0, 0.75, 2)
    assert [item.passage for item in third] == [item.passage for item in second]


def test_what_came_along_by_its_title_was_found_by_no_search() -> None:
    along = [*hits("Kelmar"), Hit(passages()["Ostra"], 0.0, 1)]
    assert pooled((), along, asked=True, gain=0.5)[1] == Found(passages()["Ostra"])
    assert pooled((), along[1:], asked=False, gain=0.5) == (Found(passages()["Ostra"]),)
    assert pooled((), [], asked=True, gain=0.5) == ()


def test_a_search_brings_along_the_passages_about_names_of_question_and_evidence() -> None:
    state = RULES.start(records()[1].question)
    assert subjects(state) == ("Northern Lamp",)
    [after] = RULES.step([state], [MORE], engine_of())
    assert subjects(after) == ("Northern Lamp", *after.candidates) and after.candidates
    reply = engine_of().execute([Search(state.question.text, 2, "", "", ("The Amber Gate", "Ilona Varga", "Nobody"))])
    found = reply[0].response
    along = {hit.passage.title for hit in found if hit.score == 0}
    about = {"The Amber Gate", "The Amber Gate (novel)", "Ilona Varga", "Ilona Varga (swimmer)"}
    assert along == about - {hit.passage.title for hit in found[:2]}
    assert len({hit.passage.id for hit in found}) == len(found) and [h.rank for h in found[2:]] == [2] * len(along)
    assert reply[0].cost.retrievals == 1


def test_at_most_so_many_namesakes_come_along() -> None:
    corpus = BM25Retriever.build([Passage.of(f"Oslo (place {n})", (f"Number {n}.",)) for n in range(30)])
    [reply] = engine_of(corpus).execute([Search("nothing", 5, "", "", ("Oslo",))])
    assert [hit.passage for hit in reply.response] == list(corpus.about("oslo")[:NAMESAKES])


# What is taken


class Oracle(Ranker):
    """Scores by given titles and proposes given searches that were not made."""

    def __init__(self, scores: dict[str, float], queries: tuple[str, ...] = ()) -> None:
        self.scores = scores
        self.queries = queries

    @property
    def fingerprint(self) -> str:
        return f"oracle {self.scores} {self.queries}"

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        return [self._ranking(task) for task in tasks]

    def _ranking(self, task: RankTask) -> Ranking:
        scores = tuple(self.scores.get(item.passage.title, 0.0) for item in task.found)
        return Ranking(scores, tuple(Proposal("Velby", q, 0.5) for q in self.queries if q not in task.queries))


def test_the_best_of_the_pool_is_taken_whichever_search_found_it() -> None:
    chosen = Oracle({"Kelmar": 0.9, "Tarn": 0.8, "Velby": 0.7, "Ostra": 0.6}, ("Tarn Velby river",))
    engine = Engine(retriever(), OverlapGenerator(), 0, chosen)
    rules = Rules(RULES.operations, Caps(documents_per_retrieval=2))
    state = rules.start(Question.of("Which town on the Ostra has a river?"))
    [first] = rules.step([state], [MORE], engine)
    assert {item.passage.title for item in first.found} >= {"Kelmar", "Ostra", "Velby"}
    assert [item.passage.title for item in first.held] == ["Kelmar", "Tarn"]
    [second] = rules.step([first], [EXPAND], engine)
    assert [item.passage.title for item in second.held[2:]] == ["Velby", "Ostra"]
    assert [(h.score, h.operation, h.query) for h in second.held[2:]] == [
        (0.7, "bridge_entity_expand", "Tarn Velby river"),
        (0.6, "bridge_entity_expand", "Tarn Velby river"),
    ]
    assert [p.title for p in second.ordered] == ["Kelmar", "Tarn", "Velby", "Ostra"]
    assert second.expanded == ("Velby",) and second.retrievals == 2


def test_equal_scores_are_taken_by_id_and_kept_in_order_of_arrival() -> None:
    engine = Engine(retriever(), OverlapGenerator(), 0, Oracle({}))
    [state] = RULES.step([RULES.start(records()[2].question)], [MORE], engine)
    assert [p.id for p in state.passages] == sorted(item.passage.id for item in state.found)[:3]
    assert state.ordered == state.passages


# Properties of every state


def test_every_state_keeps_the_rules_of_the_pool() -> None:
    assert len(states()) > 100
    for state in states():
        found = [item.passage for item in state.found]
        assert len(set(found)) == len(found) and set(state.passages) <= set(found)
        assert (state.ranking is None) == (not state.queries)
        if state.ranking is not None:
            assert len(state.ranking.scores) == len(found)
            assert not {p.query for p in state.ranking.proposals} & set(state.queries)
        assert sorted(p.id for p in state.ordered) == sorted(p.id for p in state.passages)
        assert RULES.mask(state).any()
        assert len(found) <= ASKED_DEPTH + TARGETED_DEPTH * len(state.queries) + 100
        assert state.cost.retrievals == state.retrievals and len(set(state.queries)) == len(state.queries)


def test_lockstep_equals_one_by_one() -> None:
    tries = [(s, op) for s in states()[::5] for op in LONG.operations if op.retrieves and op.valid(s)]
    together = run_all([op.run(s) for s, op in tries], engine_of())
    assert together == [run(op.run(s), engine_of(cache_size=0)) for s, op in tries]
    assert {outcome.cost.retrievals for outcome in together} <= {0, 1}


@pytest.mark.parametrize("name", ["lexical", "fitted"])
def test_the_batch_changes_no_episode(name: str) -> None:
    questions = [record.question for record in records()]

    def episodes(batch: int, cache_size: int) -> list[Episode]:
        return rollout(questions, RULES, engine_of(None, name, cache_size), UniformController(2), batch=batch)

    assert episodes(1, 0) == episodes(3, 20_000) == episodes(8, 0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_change_no_result(backend: str, tmp_path: Path) -> None:
    retriever().save(tmp_path / "index")
    corpus = BM25Retriever.load(tmp_path / "index")
    engine = Engine(corpus, ExtractiveGenerator.default(), ranker=ranker("fitted", corpus))
    method = Method("uniform", RULES, UniformController(0))
    for file, crew in (("one", Workers()), ("two", Workers(2, backend))):
        evaluate(method, records(), engine, tmp_path / f"{file}.jsonl", batch=3, workers=crew)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


# No search is made twice, and every episode ends


@pytest.mark.parametrize("number", range(8))
def test_expanding_to_the_end_makes_no_search_twice(number: int) -> None:
    engine, rules = engine_of(), Rules(RULES.operations, Caps(steps=500))
    [state] = rules.step([rules.start(records()[number].question)], [MORE], engine)
    while rules.mask(state)[EXPAND]:
        assert state.ranking is not None
        query = state.ranking.proposals[0].query
        [after] = rules.step([state], [EXPAND], engine)
        assert query not in state.queries and after.queries == (*state.queries, query)
        assert after.retrievals == state.retrievals + 1
        state = after
    assert not state.end and len(state.queries) > 5
    assert state.ranking is not None and state.ranking.proposals == ()


def test_a_proposal_that_brings_nothing_is_not_proposed_again() -> None:
    barren = ("xyzzy", "plugh", "foo", "bar", "baz", "qux")
    engine = Engine(retriever(), OverlapGenerator(), 20_000, Oracle({}, barren))
    rules = Rules(RULES.operations, Caps(steps=50, documents=40))
    [state] = rules.step([rules.start(Question.of("Birthplace?"))], [MORE], engine)
    made = 0
    while rules.mask(state)[EXPAND]:
        [state] = rules.step([state], [EXPAND], engine)
        made += 1
        assert state.queries[1:] == barren[:made] and state.retrievals == made + 1
    assert made == len(barren) and state.newest == 0 and not state.end
    assert len(state.held) == len(state.found)


def test_a_retrieval_cap_holds() -> None:
    final = course(records()[3].question, Rules(RULES.operations, Caps(steps=20, retrievals=2)), engine_of())
    assert final.retrievals == 2 and final.end == "cap"


def test_the_frontier_counts_the_passages_that_it_gave_and_ends() -> None:
    engine, rules = engine_of(), Rules(RULES.operations, Caps(steps=60))
    state = rules.start(records()[0].question)
    while rules.mask(state)[MORE]:
        [after] = rules.step([state], [MORE], engine)
        assert after.frontier == state.frontier + after.newest
        assert after.queries == (records()[0].question.text,)
        state = after
    assert state.frontier_exhausted and set(state.passages) == {item.passage for item in state.found}
    shallow = Rules(RULES.operations, Caps(steps=60, frontier=4))
    state = shallow.start(records()[0].question)
    while shallow.mask(state)[MORE]:
        [state] = shallow.step([state], [MORE], engine)
    assert state.frontier == 4


def test_a_ranking_used_up_goes_on_once_another_search_has_refilled_the_pool() -> None:
    engine, rules = engine_of(), Rules(RULES.operations, Caps(steps=60))
    expanded = 0
    for record in records():
        state = rules.start(record.question)
        while rules.mask(state)[MORE]:
            [state] = rules.step([state], [MORE], engine)
        while rules.mask(state)[EXPAND]:
            before = len(state.found)
            [state] = rules.step([state], [EXPAND], engine)
            assert state.frontier_exhausted == (len(state.held) == len(state.found))
            expanded += len(state.found) > before + state.newest
    assert expanded


# Odd questions and corpora


ODD = (
    "",
    "?",
    "xyzzy",
    "Amber",
    "Wo liegt İstanbul, 東京 oder Ōsaka’s Café?",
    "The the of and?",
    "Who? " * 400,
)


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("name", ["lexical", "fitted"])
def test_any_question_comes_to_an_end(text: str, name: str) -> None:
    for seed in range(3):
        final = course(Question.of(text), RULES, engine_of(None, name), seed)
        assert final.end in {"cap", "stop"} and final.answer is not None and final.steps <= 4


def test_a_search_that_finds_nothing_leaves_stopping_alone() -> None:
    [state] = RULES.step([RULES.start(Question.of("xyzzy"))], [MORE], engine_of())
    assert state.found == () and state.ranking == Ranking() and state.frontier_exhausted
    assert np.flatnonzero(RULES.mask(state)).tolist() == [RULES.operations.stop]


def test_duplicate_titles_and_odd_passages_are_ranked() -> None:
    made = [
        *(Passage.of("Same", (f"Text {n} on Amber.",)) for n in range(5)),
        Passage.of("", ("Amber without a title.",)),
        Passage.of("Empty", ()),
        Passage.of("Amber", ("Amber " * 5000,)),
        Passage.of("İstanbul (Ōsaka)", ("", "Amber in İstanbul.", "")),
    ]
    corpus = BM25Retriever.build(made)
    final = course(Question.of("Where is Amber the Same?"), Rules(RULES.operations, Caps(steps=12)), engine_of(corpus))
    assert len({p.id for p in final.passages}) == len(final.passages) >= 5
    once = Rules(operation_set(ranked=True, deduplicate_titles=True), Caps(steps=12))
    titles = [p.title for p in course(Question.of("Where is Amber the Same?"), once, engine_of(corpus)).passages]
    assert len(set(titles)) == len(titles) >= 3


def test_own_contexts_are_ranked_pool_by_pool() -> None:
    every = list(passages().values())
    pools = {r.question.key: every[n : n + 12] for n, r in enumerate(records())} | {"none": []}
    corpus = ContextRetriever(pools)
    questions = [*(r.question for r in records()), Question("Who is it?", "none")]
    episodes = rollout(questions, RULES, engine_of(corpus), UniformController(1, avoid=[RULES.operations.stop]))
    for question, episode in zip(questions, episodes):
        assert {item.passage for item in episode.final.found} <= set(pools[question.key])
    assert [episode for episode in episodes if len(episode.final.held) > 5]
    alone = [
        rollout([q], RULES, engine_of(corpus), UniformController(1, avoid=[RULES.operations.stop]))[0]
        for q in questions
    ]
    assert alone == episodes


# What goes wrong


class Unreliable(LexicalRanker):
    """Fails on every task with anything held."""

    def rank(self, tasks: Sequence[RankTask]) -> list[Ranking]:
        if any(task.held for task in tasks):
            raise RequestFailedError("not served")
        return super().rank(tasks)


def test_a_ranking_that_fails_leaves_the_evidence_as_it_was() -> None:
    engine = Engine(retriever(), OverlapGenerator(), 0, Unreliable(retriever()))
    [state] = RULES.step([RULES.start(records()[0].question)], [MORE], engine)
    assert [f.operation for f in state.failures] == ["retrieve_more"] and state.held == () and state.found == ()
    assert RULES.mask(state).any() and not RULES.mask(state)[MORE]
    assert course(records()[0].question, RULES, engine).end


def test_ranked_operations_without_a_ranker_say_so() -> None:
    engine = Engine(retriever(), OverlapGenerator())
    starts = [RULES.start(record.question) for record in records()[:2]]
    for some in (starts, starts[:1]):
        with pytest.raises(ConfigError, match="no ranker"):
            RULES.step(some, [MORE] * len(some), engine)
    ranked = engine_of()
    assert engine.fingerprint != ranked.fingerprint == ranked.fresh().fingerprint
