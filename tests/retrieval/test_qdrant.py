"""Retrieval from a Qdrant server; the server is the client's embedded mode, in this process or behind HTTP."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
pytest.importorskip("faiss", reason="needs FAISS, to compare with")

from evidencegym.actions.dispatcher import Dispatcher
from evidencegym.actions.engine import Engine
from evidencegym.data.errors import BackendUnavailableError, ConfigError, ManifestMismatchError, RequestFailedError
from evidencegym.data.world import World
from evidencegym.generation.tasks import Failed
from evidencegym.retrieval import qdrant_index
from evidencegym.retrieval.base import Search
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.choose import RetrievalSettings
from evidencegym.retrieval.dense import DenseRetriever
from evidencegym.retrieval.dense_settings import DenseSettings
from evidencegym.retrieval.embeddings import Embeddings, embed
from evidencegym.retrieval.qdrant import QdrantRetriever
from evidencegym.retrieval.qdrant_index import open_collection
from evidencegym.retrieval.qdrant_settings import QdrantSettings
from evidencegym.retrieval.vector_index import open_index
from tests.encoders import WordEncoder
from tests.fakes import OverlapGenerator
from tests.qdrant_server import QdrantServer, serving

WORLD = World(700, 3)
CORPUS = BM25Retriever.build(WORLD.passages())
QUERIES = [record.question.text for record in WORLD.questions(24)]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Embeddings:
    return embed(CORPUS.passages, WordEncoder(32), tmp_path_factory.mktemp("qdrant") / "vectors")


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with serving() as running:
        yield running


def retriever(vectors: Embeddings, settings: QdrantSettings) -> QdrantRetriever:
    index = open_collection(vectors, settings)
    return QdrantRetriever(CORPUS, CORPUS.passages, WordEncoder(32), vectors, index)


def test_a_server_finds_what_the_exact_search_finds(vectors: Embeddings, server: QdrantServer) -> None:
    found = retriever(vectors, QdrantSettings(server.url)).search(QUERIES, 12)
    exact = DenseRetriever(
        CORPUS, CORPUS.passages, WordEncoder(32), vectors, open_index(vectors, DenseSettings(), Path("unused"))
    )
    assert found == exact.search(QUERIES, 12)
    assert server.calls.count("PUT/points") == 3 and server.calls.count("POST/points/query/batch") == 1


def test_a_collection_is_filled_once_and_taken_up_where_it_stood(vectors: Embeddings, server: QdrantServer) -> None:
    settings, told = QdrantSettings(server.url), []
    server.points_left = 300
    with pytest.raises(BackendUnavailableError, match="what was sent is kept"):
        open_collection(vectors, settings, lambda *state: told.append(state))
    server.points_left, server.fails = 10**9, 0
    index = open_collection(vectors, settings, lambda *state: told.append(state))
    assert [done for _, done, _ in told] == [256, 512, len(CORPUS.passages)]
    before = len(server.calls)
    again = pickle.loads(pickle.dumps(index))
    assert again.collection == index.collection and "PUT/points" not in server.calls[before:]


def test_a_collection_of_something_else_is_refused(vectors: Embeddings, server: QdrantServer, tmp_path: Path) -> None:
    settings = QdrantSettings(server.url, "mine")
    open_collection(vectors, settings)
    other = embed(CORPUS.passages, WordEncoder(32, seed=1), tmp_path / "other")
    with pytest.raises(ManifestMismatchError, match="another vectors"):
        open_collection(other, settings)
    with pytest.raises(ManifestMismatchError, match="another neighbours"):
        open_collection(vectors, QdrantSettings(server.url, "mine", neighbours=8))
    server.client.create_collection("plain", vectors_config=qdrant_vectors(32))
    with pytest.raises(ManifestMismatchError, match="keeps no metadata"):
        open_collection(vectors, QdrantSettings(server.url, "plain"))


def qdrant_vectors(size: int) -> Any:
    from qdrant_client.models import Distance, VectorParams

    return VectorParams(size=size, distance=Distance.DOT)


def test_passages_that_do_not_belong_there_are_noticed(vectors: Embeddings, server: QdrantServer) -> None:
    settings = QdrantSettings(server.url)
    made = retriever(vectors, settings)
    server.client.upsert(made._index.collection, points=one_point(1, made.vector(QUERIES[0]).tolist()))
    with pytest.raises(RequestFailedError, match="other passages"):
        made.search(QUERIES[:1], 3)
    with pytest.raises(ManifestMismatchError, match=f"holds {len(CORPUS.passages) + 1} passages"):
        open_collection(vectors, settings)


def one_point(id_: int, vector: list[float]) -> Any:
    from qdrant_client.models import PointStruct

    return [PointStruct(id=id_, vector=vector)]


def test_failed_searches_are_failed_requests(vectors: Embeddings, server: QdrantServer) -> None:
    made = retriever(vectors, QdrantSettings(server.url))
    server.fails = 500
    with pytest.raises(RequestFailedError, match="500"):
        made.search(QUERIES, 3)
    [reply] = Engine(made, OverlapGenerator()).execute([Search(QUERIES[0], 3)])
    assert isinstance(reply.response, Failed)
    server.fails = 0
    assert len(made.search(QUERIES[:1], 3)[0]) == 3


def test_without_a_server_the_error_says_what_to_do(vectors: Embeddings) -> None:
    for port in (0, 9):
        with pytest.raises(BackendUnavailableError, match=r"127\.0\.0\.1:9; start a server"):
            open_collection(vectors, QdrantSettings("http://127.0.0.1:9", grpc_port=port, timeout=3))


def test_the_key_comes_from_the_environment(vectors: Embeddings, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(key="secret") as server:
        settings = QdrantSettings(server.url, key_variable="QDRANT_TEST_KEY")
        with pytest.raises(BackendUnavailableError, match="QDRANT_TEST_KEY"):
            open_collection(vectors, settings)
        monkeypatch.setenv("QDRANT_TEST_KEY", "secret")
        made = retriever(vectors, settings)
        assert len(made.search(QUERIES[:1], 3)[0]) == 3
    assert "secret" not in repr(settings) + repr(settings.source()) + made.fingerprint


def test_several_batches_are_under_way_at_a_time(vectors: Embeddings, server: QdrantServer) -> None:
    settings = QdrantSettings(server.url, concurrency=3, batch=4)
    made = retriever(vectors, settings)
    before = server.calls.count("POST/points/query/batch")
    searches = [Search(query, 5) for query in QUERIES]
    replies: dict[int, Any] = {}
    server.meeting = Barrier(3, timeout=20)
    with Dispatcher(Engine(made, OverlapGenerator()), {}) as dispatcher:
        for number, search in enumerate(searches):
            dispatcher.ask(number, search)
        while len(replies) < len(searches):
            replies |= {answered.who: list(answered.reply.response) for answered in dispatcher.replies()}
    server.meeting = None
    assert [replies[number] for number in range(len(searches))] == made.search(QUERIES, 5)
    assert server.calls.count("POST/points/query/batch") == before + 6 + 1


def test_only_what_can_change_a_result_is_in_the_fingerprint(vectors: Embeddings) -> None:
    plain = retriever(vectors, QdrantSettings(":memory:"))
    elsewhere = retriever(vectors, QdrantSettings(":memory:", "named", timeout=5, concurrency=2, shards=2))
    assert plain.fingerprint == elsewhere.fingerprint and plain.concurrency == 0
    assert plain.fingerprint != retriever(vectors, QdrantSettings(":memory:", effort=64)).fingerprint


def test_the_settings_name_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVIDENCEGYM_QDRANT", raising=False)
    assert QdrantSettings().address == "http://localhost:6333"
    monkeypatch.setenv("EVIDENCEGYM_QDRANT", "https://there:6333")
    assert QdrantSettings().address == "https://there:6333"
    settings = RetrievalSettings("bm25", "qdrant", qdrant=QdrantSettings(effort=64))
    assert RetrievalSettings.of(settings.source()) == settings
    assert "qdrant" not in RetrievalSettings().source()
    wrong: list[dict[str, Any]] = [{"url": "there"}, {"url": "http://me:word@there"}, {"batch": 0}, {"neighbours": 1}]
    for given in wrong:
        with pytest.raises(ConfigError):
            QdrantSettings(**given)


def test_without_the_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "qdrant_client", None)
    with pytest.raises(BackendUnavailableError, match=r"evidencegym\[qdrant\]"):
        qdrant_index.connect(QdrantSettings())
