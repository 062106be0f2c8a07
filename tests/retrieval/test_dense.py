"""Retrieval by vectors, alone, fused, and for some queries only."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencegym.actions.engine import Engine
from evidencegym.data.errors import BackendUnavailableError, ConfigError, ManifestMismatchError
from evidencegym.data.records import Passage
from evidencegym.data.world import World
from evidencegym.retrieval import vector_index
from evidencegym.retrieval.base import Hit, Search
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.choose import RetrievalSettings, choose_retriever
from evidencegym.retrieval.dense import DenseRetriever
from evidencegym.retrieval.dense_settings import DenseSettings
from evidencegym.retrieval.embeddings import Embeddings, embed
from evidencegym.retrieval.encoder_settings import EncoderSettings
from evidencegym.retrieval.fusion import reciprocal_rank, weighted
from evidencegym.retrieval.hybrid import HybridRetriever
from evidencegym.retrieval.routed import RoutedRetriever
from evidencegym.retrieval.vector_index import VectorIndex, open_index
from tests.encoders import WordEncoder
from tests.fakes import OverlapGenerator

WORLD = World(600, 3)
CORPUS = BM25Retriever.build(WORLD.passages())
QUERIES = [record.question.text for record in WORLD.questions(8)]


@pytest.fixture
def vectors(tmp_path: Path) -> Embeddings:
    pytest.importorskip("faiss", reason="needs FAISS")
    return embed(CORPUS.passages, WordEncoder(32), tmp_path / "vectors")


def dense(vectors: Embeddings, settings: DenseSettings, folder: Path) -> DenseRetriever:
    return DenseRetriever(CORPUS, CORPUS.passages, WordEncoder(32), vectors, open_index(vectors, settings, folder))


def exact(query: str, vectors: Embeddings, k: int) -> list[tuple[str, float]]:
    scores = (np.asarray(vectors.matrix) * WordEncoder(32).query(query)).sum(1, dtype=np.float64).astype(np.float32)
    order = np.argsort(-scores, kind="stable")[:k]
    return [(CORPUS.passages[row].id, float(scores[row])) for row in order]


def pairs(hits: list[Hit]) -> list[tuple[str, float]]:
    return [(hit.passage.id, hit.score) for hit in hits]


def test_a_flat_index_is_exact(vectors: Embeddings, tmp_path: Path) -> None:
    retriever = dense(vectors, DenseSettings(), tmp_path / "none")
    for query, hits in zip(QUERIES, retriever.search(QUERIES, 12)):
        assert pairs(hits) == exact(query, vectors, 12)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("kind", ["hnsw", "ivfpq"])
def test_the_others_find_nearly_the_same_with_exact_scores(vectors: Embeddings, tmp_path: Path, kind: str) -> None:
    retriever = dense(vectors, DenseSettings(kind, lists=8, probes=4, bytes=16), tmp_path / kind)
    found = shared = 0
    for query, hits in zip(QUERIES, retriever.search(QUERIES, 10)):
        known = dict(exact(query, vectors, len(CORPUS.passages)))
        assert all(score == known[id_] for id_, score in pairs(hits))
        found += len(hits)
        shared += len({id_ for id_, _ in pairs(hits)} & {id_ for id_, _ in exact(query, vectors, 10)})
    assert found == 10 * len(QUERIES) and shared > 0.6 * found


def test_equal_vectors_are_ordered_by_id(tmp_path: Path) -> None:
    pytest.importorskip("faiss", reason="needs FAISS")
    twins = [Passage.of(f"Twin {number}", ("same words",)) for number in range(40)]

    class Same(WordEncoder):
        def query(self, text: str) -> Any:
            return super().query("same words")

    corpus, encoder = BM25Retriever.build(twins), Same(8)
    made = embed(corpus.passages, encoder, tmp_path / "v")
    retriever = DenseRetriever(corpus, corpus.passages, encoder, made, open_index(made, DenseSettings(), tmp_path))
    [hits] = retriever.search(["anything"], 5)
    assert len(hits) == 5 and [hit.passage.id for hit in hits] == sorted(hit.passage.id for hit in hits)


def test_a_saved_index_serves_another_process_and_refuses_other_vectors(vectors: Embeddings, tmp_path: Path) -> None:
    settings = DenseSettings("hnsw")
    index = open_index(vectors, settings, tmp_path / "hnsw")
    queries = np.array([WordEncoder(32).query(query) for query in QUERIES])
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(VectorIndex.nearest, [index] * 2, [queries] * 2, [5] * 2):
            for (rows, scores), (own, known) in zip(found, index.nearest(queries, 5), strict=True):
                assert rows.tolist() == own.tolist() and scores.tolist() == known.tolist()
    other = embed(CORPUS.passages, WordEncoder(32, seed=1), tmp_path / "other")
    with pytest.raises(ManifestMismatchError, match="other vectors"):
        open_index(other, settings, tmp_path / "hnsw")
    with pytest.raises(ManifestMismatchError, match=r"dense\.neighbours"):
        open_index(vectors, DenseSettings("hnsw", neighbours=16), tmp_path / "hnsw")
    manifest = json.loads((tmp_path / "hnsw/manifest.json").read_text())
    damaged = (tmp_path / "hnsw/index.faiss").read_bytes()[:-50]
    (tmp_path / "hnsw/index.faiss").write_bytes(damaged)
    with pytest.raises(ManifestMismatchError, match="damaged"):
        open_index(vectors, settings, tmp_path / "hnsw")
    manifest["files"]["index.faiss"]["bytes"] = len(damaged)
    (tmp_path / "hnsw/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ManifestMismatchError, match="damaged"):
        open_index(vectors, settings, tmp_path / "hnsw")


def test_settings_that_cannot_be_are_refused(vectors: Embeddings, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown kind of dense index"):
        DenseSettings("tree")
    with pytest.raises(ConfigError, match=r"dense\.probes must be at least 1"):
        DenseSettings(probes=0)
    with pytest.raises(ConfigError, match="must divide the dimension 32"):
        open_index(vectors, DenseSettings("ivfpq", bytes=5), tmp_path / "i")
    with pytest.raises(ConfigError, match="at least 256 passages"):
        open_index(vectors, DenseSettings("ivfpq", lists=5_000, bytes=8), tmp_path / "i")


def test_gpus_are_used_where_faiss_has_them(
    vectors: Embeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, moved = vector_index.faiss(), []
    monkeypatch.setattr(library, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(library, "index_cpu_to_all_gpus", lambda index: moved.append(index) or index, raising=False)
    settings = DenseSettings("ivfpq", lists=8, bytes=8)
    open_index(vectors, settings, tmp_path / "i")
    open_index(vectors, DenseSettings("ivfpq", lists=8, bytes=8, gpu=False), tmp_path / "i")
    assert len(moved) == 1


def hits(*names: str) -> list[Hit]:
    return [Hit(Passage(name, name, ()), 8.0 - 2 * rank, rank) for rank, name in enumerate(names)]


def test_reciprocal_ranks_are_summed() -> None:
    found = reciprocal_rank([hits("a", "b", "c"), hits("c", "d")], [1.0, 1.0], 3)
    assert [hit.passage.id for hit in found] == ["c", "a", "b"]
    assert [hit.score for hit in found] == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62])
    assert [hit.passage.id for hit in reciprocal_rank([hits("a"), hits("b")], [1.0, 2.0], 2)] == ["b", "a"]
    assert [hit.passage.id for hit in reciprocal_rank([hits("b"), hits("a")], [1.0, 1.0], 2)] == ["a", "b"]


def test_scaled_scores_are_summed() -> None:
    found = weighted([hits("a", "b", "c"), hits("c", "d", "e")], [1.0, 0.5], 9)
    assert [(hit.passage.id, hit.score) for hit in found] == [
        ("a", 1.0),
        ("b", 0.5),
        ("c", 0.5),
        ("d", 0.25),
        ("e", 0.0),
    ]
    assert weighted([hits("a"), []], [1.0, 1.0], 2)[0].score == 1.0


def test_fusions_that_cannot_be_are_refused() -> None:
    for wrong in ({"parts": [CORPUS]}, {"fusion": "max"}, {"weights": [1.0]}, {"weights": [1.0, 0.0]}, {"depth": 0}):
        with pytest.raises(ConfigError):
            HybridRetriever(**{"parts": [CORPUS, CORPUS], **wrong})


def test_targeted_queries_may_go_elsewhere(vectors: Embeddings, tmp_path: Path) -> None:
    other = dense(vectors, DenseSettings(), tmp_path)
    engine = Engine(RoutedRetriever(CORPUS, other), OverlapGenerator())
    asked = [Search(QUERIES[0], 4), Search(QUERIES[0], 4, targeted=True), Search(QUERIES[1], 3, targeted=True)]
    first, second, third = (list(reply.response) for reply in engine.execute(asked))
    assert first == CORPUS.search(QUERIES[:1], 4)[0]
    assert [second, third] == [other.search(QUERIES[:1], 4)[0], other.search(QUERIES[1:2], 3)[0]]


def test_settings_choose_the_retriever() -> None:
    plain = choose_retriever(CORPUS, RetrievalSettings(), EncoderSettings())
    assert plain is CORPUS
    with pytest.raises(ConfigError, match=r"name one with --encoder\.model"):
        choose_retriever(CORPUS, RetrievalSettings(targeted="dense"), EncoderSettings())
    for wrong in ({"frontier": "same"}, {"targeted": "none"}, {"fusion": "max"}, {"dense_weight": 0.0}):
        with pytest.raises(ConfigError):
            RetrievalSettings(**wrong)
    settings = RetrievalSettings("hybrid", "dense", dense=DenseSettings("hnsw"))
    assert RetrievalSettings.of(settings.source()) == settings and RetrievalSettings.of(None) == RetrievalSettings()
    with pytest.raises(ConfigError, match="names no retriever"):
        RetrievalSettings.of({"nonsense": 1})


def test_without_faiss_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(BackendUnavailableError, match=r"evidencegym\[cpu\]"):
        vector_index.faiss()
