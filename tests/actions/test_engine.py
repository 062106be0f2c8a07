"""The engine: batches, caching, metering, and searches that want a title."""

from collections.abc import Sequence

import pytest

from evidencegym.actions.costs import Cost
from evidencegym.actions.engine import Engine, Reply
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage
from evidencegym.generation.tasks import AnswerTask, Judgement, JudgeTask, RewriteTask
from evidencegym.retrieval.base import Hit, Retriever, Search
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.fakes import OverlapGenerator
from tests.small_world import engine, passages, retriever


class CountingRetriever(Retriever):
    """Notes the batches that reach the retriever behind it."""

    def __init__(self, inner: Retriever) -> None:
        self.inner = inner
        self.batches: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = []

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        self.batches.append((tuple(queries), k, tuple(pools or ())))
        return self.inner.search(queries, k, pools)

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        return self.inner.titled(title, pool)


def found(engine: Engine, search: Search) -> list[tuple[str, float, int]]:
    [reply] = engine.execute([search])
    return [(hit.passage.title, hit.score, hit.rank) for hit in reply.response]


def test_replies_stand_in_the_order_of_the_requests() -> None:
    task = JudgeTask("q", tuple(passages().values())[:2])
    rewrite = RewriteTask("a question", ())
    search = Search("Kelmar", 2)
    requests = [search, task, rewrite, Search("Velby", 2), task]
    replies = engine().execute(requests)
    assert replies == [engine().execute([request])[0] for request in requests]
    assert isinstance(replies[1].response, Judgement)
    assert engine().execute([]) == []


def test_searches_are_batched_by_depth_and_carry_their_pool() -> None:
    counting = CountingRetriever(retriever())
    Engine(counting, OverlapGenerator()).execute(
        [Search("Kelmar", 3, pool="p"), Search("Velby", 2, pool="q"), Search("Ostra", 3), Search("Kelmar", 3, pool="p")]
    )
    assert counting.batches == [(("Velby",), 2, ("q",)), (("Kelmar", "Ostra"), 3, ("p", ""))]


def test_a_search_costs_one_retrieval_and_a_call_what_it_used() -> None:
    task = AnswerTask("q", (passages()["Kelmar"],))
    replies = engine().execute([Search("Kelmar", 2), Search("nothing of that", 2), task])
    assert [reply.cost for reply in replies] == [
        Cost(retrievals=1),
        Cost(retrievals=1),
        Cost(prompt_tokens=14, completion_tokens=1, generator_calls=1),
    ]


@pytest.mark.parametrize(("cache_size", "calls"), [(20_000, 2), (2, 2), (1, 4), (0, 4)])
def test_a_cache_saves_calls_and_changes_no_reply(cache_size: int, calls: int) -> None:
    generator = OverlapGenerator()
    tasks = [JudgeTask("a", ()), JudgeTask("b", ())]
    cached = engine(generator, cache_size)
    replies = [cached.execute([task])[0] for task in (*tasks, *tasks)]
    assert len(generator.calls) == calls
    assert replies[:2] == replies[2:] and replies[0].cost.generator_calls == 1


def test_a_batch_larger_than_the_cache_is_answered_whole() -> None:
    tasks = [JudgeTask(str(number), ()) for number in range(5)]
    assert engine(cache_size=2).execute(tasks) == engine().execute(tasks)


def test_a_negative_cache_is_refused() -> None:
    with pytest.raises(ConfigError, match="cache_size must not be negative, found -1"):
        engine(cache_size=-1)


def test_a_generator_that_loses_a_task_is_noticed() -> None:
    class Losing(OverlapGenerator):
        def judge_sufficiency(self, tasks: Sequence[JudgeTask]) -> list[Judgement]:
            return super().judge_sufficiency(tasks)[:-1]

    with pytest.raises(ValueError, match="shorter"):
        engine(Losing()).execute([JudgeTask("a", ()), JudgeTask("b", ())])


def test_a_wanted_title_comes_first_with_the_best_score() -> None:
    plain = found(engine(), Search("the director of a film", 3))
    titled = found(engine(), Search("the director of a film", 4, title="  mount   BRAE "))
    assert titled[0] == ("Mount Brae", plain[0][1], 0)
    assert [title for title, _, _ in titled[1:]] == [title for title, _, _ in plain]
    assert [rank for _, _, rank in titled] == [0, 1, 2, 3]
    assert found(engine(), Search("the director of a film", 3, title="No Such Title")) == plain


def test_a_wanted_title_that_was_found_anyway_stands_once() -> None:
    titles = [
        title for title, _, _ in found(engine(), Search("Kelmar fair in May Ilona Varga", 4, title="Ilona Varga"))
    ]
    assert titles[0] == "Ilona Varga" and titles.count("Ilona Varga") == 1
    assert titles.count("Kelmar") == 1


def test_a_wanted_title_is_kept_where_the_search_finds_nothing() -> None:
    assert found(engine(), Search("zzz", 3, title="Kelmar")) == [("Kelmar", 0.0, 0)]


def twins() -> list[Passage]:
    return [Passage.of("Twin", [f"The same word and number{i}."]) for i in range(6)]


def test_passages_of_one_title_come_by_id_and_within_k() -> None:
    ids = sorted(passage.id for passage in twins())
    both = Engine(BM25Retriever.build([*twins(), *passages().values()]), OverlapGenerator())
    [reply] = both.execute([Search("Kelmar", 4, title="twin")])
    assert [hit.passage.id for hit in reply.response] == ids[:4]
    assert [hit.rank for hit in reply.response] == [0, 1, 2, 3]


@pytest.mark.parametrize("order", [1, -1])
def test_ties_are_broken_by_id_at_every_depth(order: int) -> None:
    ids = sorted(passage.id for passage in twins())
    made = Engine(BM25Retriever.build(twins()[::order]), OverlapGenerator())
    for k in range(1, 7):
        [reply] = made.execute([Search("same word", k)])
        assert [hit.passage.id for hit in reply.response] == ids[:k]


def test_the_fingerprint_depends_on_retriever_and_generator() -> None:
    class Other(OverlapGenerator):
        @property
        def fingerprint(self) -> str:
            return "other"

    other_corpus = Engine(BM25Retriever.build(twins()), OverlapGenerator())
    assert engine().fingerprint == engine().fingerprint
    assert len({engine().fingerprint, engine(Other()).fingerprint, other_corpus.fingerprint}) == 3


def test_a_reply_holds_response_and_cost() -> None:
    [reply] = engine().execute([Search("zzz", 1)])
    assert reply == Reply((), Cost(retrievals=1))
