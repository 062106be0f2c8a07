"""Workers change no result."""

import signal
from pathlib import Path

import pytest

from evidencegym.actions.workers import Workers
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import BackendUnavailableError, ConfigError
from evidencegym.envs.build import build_rules
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.collect import CollectSettings
from evidencegym.training.generators import Generators
from evidencegym.training.pipeline import collect_rows
from tests.small_world import engine, passages, records

CREWS = [Workers(2, "loky"), Workers(2, "threading")]


def shared(folder: Path) -> BM25Retriever:
    BM25Retriever.build(passages().values()).save(folder)
    return BM25Retriever.load(folder)


def rows_file(folder: Path, workers: Workers) -> bytes:
    generator = ExtractiveGenerator.default()
    collect_rows(
        TaskSettings(),
        records(),
        shared(folder / "index"),
        Generators(generator, lambda _: generator),
        folder / "collection",
        CollectSettings(batch=3),
        seed=0,
        workers=workers,
    )
    return (folder / "collection" / "rows.parquet").read_bytes()


@pytest.mark.parametrize("workers", CREWS, ids=lambda w: w.backend)
def test_collection_is_the_same_with_several_workers(workers: Workers, tmp_path: Path) -> None:
    assert rows_file(tmp_path / "several", workers) == rows_file(tmp_path / "one", Workers())


@pytest.mark.parametrize("workers", CREWS, ids=lambda w: w.backend)
def test_evaluation_is_the_same_with_several_workers(workers: Workers, tmp_path: Path) -> None:
    method = Method("uniform", build_rules(TaskSettings()), UniformController(0))
    files = tmp_path / "several.jsonl", tmp_path / "one.jsonl"
    for file, crew in zip(files, (workers, Workers())):
        evaluate(method, records(), engine(ExtractiveGenerator.default()), file, batch=3, workers=crew)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_worker_that_dies_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BackendUnavailableError, match="same call goes on"):
        list(Workers(2).map(signal.raise_signal, [(signal.SIGKILL,)] * 2))


def test_unknown_backends_and_no_workers_are_refused() -> None:
    with pytest.raises(ConfigError, match="jobs"):
        Workers(0)
    with pytest.raises(BackendUnavailableError, match="carrier-pigeon"):
        list(Workers(2, "carrier-pigeon").map(abs, [(1,), (2,)]))
