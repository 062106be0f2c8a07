"""BM25 over each question's own context."""

import random

import pytest

from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Passage
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.context import ContextRetriever

_WORDS = ("river", "film", "king", "song", "city")


def _pool(seed: int) -> list[Passage]:
    choose = random.Random(seed)
    return [
        Passage.of(" ".join(choose.choices(_WORDS, k=2)), [" ".join(choose.choices(_WORDS, k=9))]) for _ in range(10)
    ]


_POOLS = {f"q{seed}": _pool(seed) for seed in range(8)}
_QUERIES = ("king", "river song", "film city film", "", "xyzzy")


def test_each_pool_is_a_corpus_of_its_own() -> None:
    retriever = ContextRetriever(_POOLS)
    for key, pool in _POOLS.items():
        alone = BM25Retriever.build(pool)
        assert retriever.search(_QUERIES, 4, [key] * len(_QUERIES)) == alone.search(_QUERIES, 4)
        assert retriever.titled("king song", key) == alone.titled("king song")


def test_queries_of_one_batch_search_their_own_pools() -> None:
    retriever = ContextRetriever(_POOLS)
    results = retriever.search(["king song river"] * 8, 10, list(_POOLS))
    for hits, pool in zip(results, _POOLS.values()):
        assert hits
        assert {hit.passage for hit in hits} <= set(pool)


def test_an_empty_pool_finds_nothing() -> None:
    retriever = ContextRetriever({**_POOLS, "empty": []})
    assert retriever.search(["king", "king"], 3, ["empty", "q0"])[0] == []
    assert retriever.titled("king", "empty") == ()


@pytest.mark.parametrize("pools", [None, [], ["q0", "q1"], "q"])
def test_a_pool_a_query_is_needed(pools: list[str] | None) -> None:
    with pytest.raises(ConfigError, match="expected 1 pool"):
        ContextRetriever(_POOLS).search(["king"], 3, pools)


def test_an_unknown_pool_is_refused() -> None:
    retriever = ContextRetriever(_POOLS)
    with pytest.raises(ConfigError, match="no context for the question key 'nobody'"):
        retriever.search(["king"], 3, ["nobody"])
    with pytest.raises(ConfigError, match="no context"):
        retriever.titled("king")


def test_settings_are_checked_at_once() -> None:
    with pytest.raises(ConfigError, match="b must be"):
        ContextRetriever(_POOLS, b=2.0)
    with pytest.raises(ConfigError, match="k must be"):
        ContextRetriever(_POOLS).search(["king"], 0, ["q0"])
    with pytest.raises(DataError, match="no contexts"):
        ContextRetriever({})


def test_fingerprint_follows_pools_and_settings_but_no_order() -> None:
    backwards = {key: pool[::-1] for key, pool in reversed(_POOLS.items())}
    same = ContextRetriever(_POOLS).fingerprint
    assert ContextRetriever(backwards).fingerprint == same
    moved = {**_POOLS, "q0": _POOLS["q1"], "q1": _POOLS["q0"]}
    others = [ContextRetriever(moved), ContextRetriever(_POOLS, k1=1.0), ContextRetriever({"q0": _POOLS["q0"]})]
    assert len({same, *(other.fingerprint for other in others)}) == 4


def test_later_changes_of_the_given_mapping_do_not_matter() -> None:
    given = {"q0": list(_POOLS["q0"])}
    retriever = ContextRetriever(given)
    given["q0"].clear()
    assert retriever.search(["king"], 3, ["q0"]) == ContextRetriever(_POOLS).search(["king"], 3, ["q0"])
