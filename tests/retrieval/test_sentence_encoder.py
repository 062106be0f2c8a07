"""Encoders of sentence-transformers, on a tiny model with random weights."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.storage import read_manifest
from evidencegym.envs.build import build_retriever
from evidencegym.envs.settings import TaskSettings
from evidencegym.retrieval.choose import RetrievalSettings
from evidencegym.retrieval.embeddings import KIND
from evidencegym.retrieval.encoder_settings import EncoderSettings
from evidencegym.retrieval.qdrant_settings import IN_PROCESS, QdrantSettings
from evidencegym.retrieval.sentence_encoder import SentenceEncoder

pytest.importorskip("sentence_transformers", reason="needs the extra dense")
pytestmark = pytest.mark.filterwarnings("ignore")

WORDS = "the a of river town film born in who directed oslo north query passage : . ?".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model"))


def tiny_model(folder: Path, **noted: Any) -> Path:
    """Save a BERT of two layers with random weights, with mean pooling."""
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    bert = models.Transformer(str(folder / "bert"))
    made = SentenceTransformer(modules=[bert, models.Pooling(32)], **noted)
    made.save(str(folder / "model"))
    return folder / "model"


def test_vectors_have_length_one_and_depend_on_the_text(folder: Path) -> None:
    encoder = SentenceEncoder(str(folder))
    vectors = encoder.passages(["the river of oslo", "a film", ""])
    assert vectors.shape == (3, encoder.dimension) == (3, 32) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(encoder.query("a film"), vectors[1], atol=1e-5)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)


def test_the_fingerprint_tells_weights_prompts_and_length(folder: Path, tmp_path: Path) -> None:
    other = tiny_model(tmp_path, prompts={"query": "query : ", "document": "passage : "})
    made = [
        SentenceEncoder(str(folder)),
        SentenceEncoder(str(folder), query_prompt="query: "),
        SentenceEncoder(str(folder), passage_prompt="passage: "),
        SentenceEncoder(str(folder), max_tokens=8),
        SentenceEncoder(str(other)),
    ]
    assert len({encoder.fingerprint for encoder in made}) == len(made)
    assert SentenceEncoder(str(folder), batch=1).fingerprint == made[0].fingerprint
    assert made[4].prompts == ("query : ", "passage : ")
    assert np.allclose(made[4].query("oslo"), made[0].query("query : oslo"), atol=1e-5)
    assert SentenceEncoder(str(other), query_prompt="").prompts == ("", "passage : ")


def test_a_family_is_known_by_its_name(folder: Path, tmp_path: Path) -> None:
    named = tmp_path / "e5-tiny"
    named.symlink_to(folder, target_is_directory=True)
    assert SentenceEncoder(str(named)).prompts == ("query: ", "passage: ")


def test_a_missing_model_and_numbers_out_of_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot load the encoder"):
        SentenceEncoder(str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="at least 1"):
        EncoderSettings(batch=0)
    with pytest.raises(ConfigError, match="names no encoder"):
        EncoderSettings.of({"nonsense": 1})


def test_settings_build_a_retriever_with_vectors(folder: Path, tmp_path: Path) -> None:
    encoder = EncoderSettings(str(folder), vectors=tmp_path / "vectors")
    retriever = build_retriever(TaskSettings(passages=300, encoder=encoder))
    assert retriever.encoder == SentenceEncoder(str(folder)).fingerprint
    assert read_manifest(tmp_path / "vectors", KIND)["passages"] >= 300
    assert EncoderSettings.of(encoder.source()).model == encoder.model
    with pytest.raises(ConfigError, match="need one corpus"):
        build_retriever(TaskSettings(corpus="own", encoder=encoder))


def test_settings_build_a_retriever_that_asks_a_server(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    encoder = EncoderSettings(str(folder), vectors=tmp_path / "vectors")
    settings = RetrievalSettings("bm25", "qdrant", qdrant=QdrantSettings(IN_PROCESS))
    retriever = build_retriever(TaskSettings(passages=300, encoder=encoder, retrieval=settings))
    [hits] = retriever.serving(True).search(["the river of oslo"], 5)
    best = [retriever.vectors([hit.passage])[0] @ retriever.vector("the river of oslo") for hit in hits]
    assert len(hits) == 5 and np.allclose([hit.score for hit in hits], best, atol=1e-6)


def test_several_threads_may_ask(folder: Path) -> None:
    encoder = SentenceEncoder(str(folder), max_tokens=8)
    texts = [f"{first} {second} film" for first in WORDS[:8] for second in WORDS[:8]]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(encoder.query, texts))
    alone = SentenceEncoder(str(folder), max_tokens=8)
    assert np.array_equal(found, [alone.query(text) for text in texts])


def test_vectors_go_to_the_folder_of_the_variable(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVIDENCEGYM_CACHE", str(tmp_path))
    build_retriever(TaskSettings(passages=300, encoder=EncoderSettings(str(folder))))
    assert len(list((tmp_path / "vectors").glob("*/manifest.json"))) == 1
