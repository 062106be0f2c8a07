"""What every retriever keeps to."""

import pickle
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from evidencegym.data.adversarial import genuine_type
from evidencegym.data.errors import ConfigError
from evidencegym.data.world import World
from evidencegym.retrieval.base import Hit, Retriever
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.context import ContextRetriever
from evidencegym.retrieval.dense import DenseRetriever
from evidencegym.retrieval.dense_settings import DenseSettings
from evidencegym.retrieval.embedded import EmbeddedRetriever
from evidencegym.retrieval.embeddings import embed
from evidencegym.retrieval.hybrid import HybridRetriever
from evidencegym.retrieval.prior_settings import PriorSettings
from evidencegym.retrieval.priors import PriorRetriever
from evidencegym.retrieval.qdrant import QdrantRetriever
from evidencegym.retrieval.qdrant_index import open_collection
from evidencegym.retrieval.qdrant_settings import IN_PROCESS, QdrantSettings
from evidencegym.retrieval.routed import RoutedRetriever
from evidencegym.retrieval.source_types import SourceTypes
from evidencegym.retrieval.vector_index import open_index
from tests.encoders import WordEncoder

WORLD = World(600, 3)
QUERIES = [question.question.text for question in WORLD.questions(12)]


@lru_cache(maxsize=1)
def bm25() -> BM25Retriever:
    return BM25Retriever.build(WORLD.passages())


@lru_cache(maxsize=1)
def folder() -> Path:
    return Path(mkdtemp())


def embedded() -> EmbeddedRetriever:
    encoder = WordEncoder(32)
    return EmbeddedRetriever(bm25(), encoder, embed(bm25().passages, encoder, folder() / "vectors"))


def dense(kind: str = "flat") -> DenseRetriever:
    pytest.importorskip("faiss", reason="needs FAISS")
    base = embedded()
    settings = DenseSettings(kind, lists=16, probes=4, bytes=8)
    index = open_index(base.embeddings, settings, folder() / kind)
    return DenseRetriever(bm25(), bm25().passages, WordEncoder(32), base.embeddings, index)


@lru_cache(maxsize=1)
def qdrant() -> QdrantRetriever:
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    vectors = embedded().embeddings
    index = open_collection(vectors, QdrantSettings(IN_PROCESS))
    return QdrantRetriever(bm25(), bm25().passages, WordEncoder(32), vectors, index)


def weighted(base: Retriever, eta: float = 0.0, kind: str = "", prior: float = 0.0) -> PriorRetriever:
    """Weigh by types drawn by a hash, or by one type of everything with that prior."""
    types = {passage.id: kind or genuine_type(passage.id, 1) for passage in bm25().passages}
    settings = PriorSettings(eta=eta, **({"priors": {kind: prior, "unknown": 0.35}} if kind else {}))
    return PriorRetriever(base, settings, SourceTypes(types))


MADE: dict[str, Callable[[], Retriever]] = {
    "bm25": bm25,
    "context": lambda: ContextRetriever({"own": bm25().passages}),
    "embedded": embedded,
    "flat": dense,
    "hnsw": lambda: dense("hnsw"),
    "ivfpq": lambda: dense("ivfpq"),
    "rrf": lambda: HybridRetriever((bm25(), dense())),
    "weighted": lambda: HybridRetriever((bm25(), dense()), "weighted", (1.0, 0.3)),
    "qdrant": qdrant,
    "routed": lambda: RoutedRetriever(bm25(), dense()),
    "priors": lambda: weighted(bm25()),
    "smoothed priors": lambda: weighted(bm25(), 0.3),
}
DEPENDING = ("hnsw", "ivfpq", "weighted", "priors", "smoothed priors")
POOLS = ["own"] * len(QUERIES)


@pytest.fixture(params=MADE)
def retriever(request: pytest.FixtureRequest) -> Retriever:
    return MADE[request.param]()


def check(hits: list[Hit], k: int) -> None:
    assert [hit.rank for hit in hits] == list(range(len(hits))) and len(hits) <= k
    keys = [(-hit.score, hit.passage.id) for hit in hits]
    assert keys == sorted(keys) and len({hit.passage.id for hit in hits}) == len(hits)


@pytest.mark.parametrize("k", [1, 7, 100, 5_000])
def test_hits_are_the_best_in_order_with_ties_by_id(retriever: Retriever, k: int) -> None:
    found = retriever.search(QUERIES, k, POOLS)
    assert len(found) == len(QUERIES) and all(found)
    for hits in found:
        check(hits, k)
    assert all(len(hits) == k for hits in found if k == 1)


def test_the_first_of_many_are_the_best_of_few(retriever: Retriever) -> None:
    if retriever.fingerprint in {MADE[name]().fingerprint for name in DEPENDING}:
        pytest.skip("approximate, or another depth changes what is fused or weighted")
    many, few = (retriever.search(QUERIES, k, POOLS) for k in (20, 5))
    assert [hits[:5] for hits in many] == few


def test_no_batch_changes_a_result(retriever: Retriever) -> None:
    together = retriever.search(QUERIES, 8, POOLS)
    assert [retriever.search([query], 8, ["own"])[0] for query in QUERIES] == together
    assert retriever.search(QUERIES[::-1], 8, POOLS) == together[::-1]
    assert retriever.search([QUERIES[0]] * 3, 8, ["own"] * 3) == [together[0]] * 3


def test_an_empty_query_finds_nothing(retriever: Retriever) -> None:
    assert retriever.search(["", " "], 3, ["own"] * 2) == [[], []]
    assert retriever.search([], 3, []) == []


def test_bad_requests_are_refused(retriever: Retriever) -> None:
    with pytest.raises(ConfigError):
        retriever.search(QUERIES, 0, POOLS)
    with pytest.raises(ConfigError):
        retriever.search("one text", 3, ["own"])


def test_another_process_gets_the_same_retriever(retriever: Retriever, tmp_path: Path) -> None:
    sent = pickle.dumps(retriever)
    again = pickle.loads(sent)
    assert again.fingerprint == retriever.fingerprint and again.encoder == retriever.encoder
    assert again.search(QUERIES, 8, POOLS) == retriever.search(QUERIES, 8, POOLS)


def test_titles_and_rarities_are_those_of_the_corpus(retriever: Retriever) -> None:
    title = bm25().passages[3].title
    assert retriever.titled(title, "own") == bm25().titled(title)
    assert retriever.about(title, "own") == bm25().about(title)
    assert retriever.rarity("film", "own") == bm25().rarity("film")


@pytest.mark.parametrize(("k", "prior", "eta"), [(1, 0.95, 0.0), (4, 0.3, 0.3), (40, 1e-3, 0.0)])
def test_priors_of_one_type_change_nothing(retriever: Retriever, k: int, prior: float, eta: float) -> None:
    for targeted in (False, True):
        plain = retriever.serving(targeted).search(QUERIES, k, POOLS)
        found = weighted(retriever, eta, "blog", prior).serving(targeted).search(QUERIES, k, POOLS)
        assert [[(h.passage.id, h.rank) for h in own] for own in found] == [
            [(h.passage.id, h.rank) for h in own] for own in plain
        ]
        assert {hit.source for own in found for hit in own} == {"blog"}


def test_retrievers_that_search_otherwise_have_other_fingerprints() -> None:
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    made = [make().fingerprint for name, make in MADE.items() if name != "embedded"]
    assert len(set(made)) == len(made)
