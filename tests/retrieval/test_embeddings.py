"""The vectors of a corpus on disk."""

import json
from pathlib import Path

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError, DataError, ManifestMismatchError
from evidencegym.data.locks import locked
from evidencegym.data.records import Passage
from evidencegym.data.world import World
from evidencegym.retrieval import embeddings
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.embedded import EmbeddedRetriever
from evidencegym.retrieval.embeddings import embed, load_embeddings
from evidencegym.retrieval.encoder import passage_text
from tests.encoders import WordEncoder

CORPUS = BM25Retriever.build(World(300, 3).passages())
PASSAGES = list(CORPUS.passages)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_CHUNK", 64)


def test_each_passage_has_the_vector_of_its_text(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    made = embed(PASSAGES, WordEncoder(), tmp_path / "v", lambda _, done, whole: steps.append((done, whole)))
    chosen = PASSAGES[::-7]
    assert np.array_equal(made.of(chosen), [WordEncoder().query(passage_text(p)) for p in chosen])
    assert steps[0] == (64, len(PASSAGES)) and steps[-1] == (len(PASSAGES), len(PASSAGES))
    assert made.of([]).shape == (0, 16)


def test_they_are_made_once(tmp_path: Path) -> None:
    first = embed(PASSAGES, WordEncoder(), tmp_path / "v")
    encoder = WordEncoder()
    again = embed(PASSAGES, encoder, tmp_path / "v")
    assert encoder.embedded == 0 and again.fingerprint == first.fingerprint
    assert not again.matrix.flags.writeable and again.matrix.shape == (len(PASSAGES), 16)


def test_a_killed_call_is_taken_up_where_it_stood(tmp_path: Path) -> None:
    whole = embed(PASSAGES, WordEncoder(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        embed(PASSAGES, WordEncoder(fails_after=200), tmp_path / "v")
    assert not (tmp_path / "v").exists()
    encoder = WordEncoder()
    made = embed(PASSAGES, encoder, tmp_path / "v")
    assert encoder.embedded == len(PASSAGES) - 3 * 64
    assert np.array_equal(made.matrix, whole.matrix)
    assert (tmp_path / "v/vectors.npy").read_bytes() == (tmp_path / "whole/vectors.npy").read_bytes()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_what_another_encoder_had_begun_is_begun_anew(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        embed(PASSAGES, WordEncoder(seed=1, fails_after=200), tmp_path / "v")
    encoder = WordEncoder()
    made = embed(PASSAGES, encoder, tmp_path / "v")
    assert encoder.embedded == len(PASSAGES) and made.encoder == encoder.fingerprint


def test_two_processes_do_not_write_one_folder(tmp_path: Path) -> None:
    with locked(tmp_path / ".v.building"), pytest.raises(DataError, match="another process"):
        embed(PASSAGES, WordEncoder(), tmp_path / "v")


def test_vectors_of_something_else_are_refused(tmp_path: Path) -> None:
    embed(PASSAGES, WordEncoder(), tmp_path / "v")
    with pytest.raises(ManifestMismatchError, match="another encoder"):
        embed(PASSAGES, WordEncoder(seed=1), tmp_path / "v")
    with pytest.raises(ManifestMismatchError, match="another corpus, passages"):
        embed(PASSAGES[1:], WordEncoder(), tmp_path / "v")
    with pytest.raises(ManifestMismatchError, match="do not hold the passage 'Elsewhere'"):
        load_embeddings(tmp_path / "v").of([Passage.of("Elsewhere", ("Nothing.",))])


def test_damage_is_noticed(tmp_path: Path) -> None:
    embed(PASSAGES, WordEncoder(), tmp_path / "v")
    manifest = json.loads((tmp_path / "v/manifest.json").read_text())
    with (tmp_path / "v/vectors.npy").open("ab") as file:
        file.write(b"x")
    with pytest.raises(ManifestMismatchError, match=r"vectors\.npy is missing or damaged"):
        load_embeddings(tmp_path / "v")
    manifest["kind"] = "BM25 index"
    (tmp_path / "v/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ManifestMismatchError):
        load_embeddings(tmp_path / "v")
    with pytest.raises(DataError, match=r"manifest\.json"):
        load_embeddings(tmp_path / "nowhere")


def test_passages_must_be_there_and_in_order(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no passage"):
        embed([], WordEncoder(), tmp_path / "v")
    with pytest.raises(DataError, match="sorted by id"):
        embed(PASSAGES[::-1], WordEncoder(), tmp_path / "v")


def test_an_embedded_retriever_searches_as_its_base_does(tmp_path: Path) -> None:
    encoder = WordEncoder()
    retriever = EmbeddedRetriever(CORPUS, encoder, embed(PASSAGES, encoder, tmp_path / "v"))
    title = PASSAGES[5].title
    assert retriever.search([title], 5) == CORPUS.search([title], 5)
    assert retriever.titled(title) == CORPUS.titled(title) and retriever.about(title) == CORPUS.about(title)
    assert retriever.rarity("film") == CORPUS.rarity("film")
    assert (retriever.fingerprint, retriever.encoder) == (CORPUS.fingerprint, encoder.fingerprint)
    assert np.array_equal(retriever.vector(title), encoder.query(title))
    assert np.array_equal(retriever.vectors(PASSAGES[:2]), retriever.embeddings.of(PASSAGES[:2]))


def test_a_retriever_without_an_encoder_says_so() -> None:
    assert CORPUS.encoder == ""
    with pytest.raises(ConfigError, match="no encoder"):
        CORPUS.vectors(PASSAGES[:1])
    with pytest.raises(ConfigError, match="no encoder"):
        CORPUS.vector("film")
