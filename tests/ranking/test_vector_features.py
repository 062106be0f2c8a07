"""What an encoder adds to the rows of passages."""

from pathlib import Path

import numpy as np
import pytest

from evidencegym.actions.engine import Engine
from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.ranking.fitted import FittedRanker, RankerModel
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.passage_features import PASSAGE_FEATURES
from evidencegym.ranking.rows import Reader
from evidencegym.ranking.tasks import RankTask
from evidencegym.ranking.vector_features import TRUSTED, VECTOR_FEATURES, vector_rows
from evidencegym.retrieval.embedded import EmbeddedRetriever
from evidencegym.retrieval.embeddings import embed
from evidencegym.training.fit_ranker import Curriculum, cross_fit_ranker
from evidencegym.training.ranker_rows import RecordingRanker, explore
from tests.encoders import WordEncoder
from tests.fakes import OverlapGenerator
from tests.ranking.small_rankers import FITTING, RANKED, model, world_records, world_retriever


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> EmbeddedRetriever:
    return embedded(tmp_path_factory.mktemp("vectors"))


def embedded(folder: Path, seed: int = 0) -> EmbeddedRetriever:
    base, encoder = world_retriever(), WordEncoder(64, seed)
    return EmbeddedRetriever(base, encoder, embed(base.passages, encoder, folder / "v"))


def tasks(corpus: EmbeddedRetriever) -> list[RankTask]:
    recording = RecordingRanker(LexicalRanker(corpus), 0.3, 1)
    explore(world_records()[:4], RANKED, Engine(corpus, OverlapGenerator(), 0, recording), 0)
    return [task for task, _ in recording.asked]


def test_rows_are_what_the_features_mean(corpus: EmbeddedRetriever) -> None:
    seen = 0
    for task in tasks(corpus):
        rows = vector_rows(task, corpus).astype(float)
        question = corpus.vector(task.question).astype(float)
        found = {item.passage.id: corpus.vectors([item.passage])[0].astype(float) for item in task.found}
        cosines = {key: float(vector @ question) for key, vector in found.items()}
        held = [(p.id, corpus.vectors([p])[0].astype(float), t) for p, t in zip(task.held, task.trust)]
        trusted = [v for _, v, t in held if t >= TRUSTED] or [v for _, v, _ in sorted(held, key=lambda x: -x[2])[:1]]
        rest = question.copy()
        if trusted:
            weights = np.linalg.lstsq(np.array(trusted).T, question, rcond=None)[0]
            rest = question - np.array(trusted).T @ weights
        for item, row in zip(task.found, rows):
            own = found[item.passage.id]
            others = [(v, t) for key, v, t in held if key != item.passage.id]
            expected = {
                "cosine": cosines[item.passage.id],
                "cosine_rank": sum(c > cosines[item.passage.id] for c in cosines.values()),
                "cosine_gap": cosines[item.passage.id] - max(cosines.values()),
                "rest_cosine": own @ rest / np.linalg.norm(rest) if held else 0.0,
                "bridged_cosine": max(
                    (t * (own @ (question + v)) / np.linalg.norm(question + v) for v, t in others), default=None
                ),
                "held_cosine": max((t * (own @ v) for v, t in others), default=None),
            }
            for name, value in expected.items():
                if value is not None and not (len(others) < len(held) and name in ("bridged_cosine", "held_cosine")):
                    assert row[VECTOR_FEATURES.index(name)] == pytest.approx(value, abs=2e-3), name
            seen += 1
    assert seen > 200


def test_rows_without_held_or_found_passages(corpus: EmbeddedRetriever) -> None:
    [first, *_] = tasks(corpus)
    nothing = RankTask(first.question, first.pool, (), (), (), ())
    assert vector_rows(nothing, corpus).shape == (0, len(VECTOR_FEATURES))
    assert not vector_rows(RankTask(first.question, first.pool, (), (), first.found, ()), corpus)[:, 3:].any()


def test_a_reader_appends_them_where_there_is_an_encoder(corpus: EmbeddedRetriever) -> None:
    task = tasks(corpus)[-1]
    plain, rich = Reader(world_retriever()).read(task), Reader(corpus).read(task)
    assert Reader(corpus).passage_features == (*PASSAGE_FEATURES, *VECTOR_FEATURES)
    assert np.array_equal(rich.passages[:, : len(PASSAGE_FEATURES)], plain.passages)
    assert np.array_equal(rich.passages[:, len(PASSAGE_FEATURES) :], vector_rows(task, corpus))
    assert np.array_equal(Reader(corpus, vectors=False).read(task).passages, plain.passages)


def test_a_ranker_fitted_with_an_encoder_wants_that_encoder(corpus: EmbeddedRetriever, tmp_path: Path) -> None:
    course = Curriculum(world_records(), RANKED, corpus, OverlapGenerator())
    made = cross_fit_ranker([course], FITTING, seed=0).full
    made.save(tmp_path / "ranker")
    read = RankerModel.load(tmp_path / "ranker")
    assert read.encoder == corpus.encoder and read.fingerprint == made.fingerprint
    task = tasks(corpus)[-1]
    assert FittedRanker(read, corpus).rank([task]) == FittedRanker(made, corpus).rank([task])
    with pytest.raises(ManifestMismatchError, match="the retriever has none; name it with --encoder"):
        FittedRanker(read, world_retriever())
    with pytest.raises(ManifestMismatchError, match="has another one"):
        FittedRanker(read, embedded(tmp_path, seed=1))


def test_a_ranker_fitted_without_one_ignores_it(corpus: EmbeddedRetriever) -> None:
    task = tasks(corpus)[-1]
    assert FittedRanker(model(), corpus).rank([task]) == FittedRanker(model(), world_retriever()).rank([task])


def test_courses_with_different_encoders_are_refused(corpus: EmbeddedRetriever) -> None:
    courses = [Curriculum(world_records(), RANKED, own, OverlapGenerator()) for own in (corpus, world_retriever())]
    with pytest.raises(ConfigError, match="one encoder or none"):
        cross_fit_ranker(courses, FITTING, seed=0)
