"""Collection on a dask cluster and on processes: the same rows, also when a worker is killed in the middle."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from evidencegym.actions.workers import Workers
from evidencegym.cli import main
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import BackendUnavailableError
from evidencegym.data.records import Record
from evidencegym.data.world import World
from evidencegym.envs.build import build_rules
from evidencegym.envs.settings import TaskSettings
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.collect import CollectSettings
from evidencegym.training.generators import Generators
from evidencegym.training.pipeline import collect_rows

SETTINGS = TaskSettings(passages=300, train_questions=24)
Progress = Callable[[int, int], None]


@lru_cache(maxsize=1)
def questions() -> list[Record]:
    return list(World(SETTINGS.passages, SETTINGS.world_seed).questions(24, "train"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> BM25Retriever:
    folder = tmp_path_factory.mktemp("index")
    BM25Retriever.build(World(SETTINGS.passages, SETTINGS.world_seed).passages()).save(folder / "index")
    return BM25Retriever.load(folder / "index")


def rows_file(folder: Path, index: BM25Retriever, workers: Workers, progress: Progress | None = None) -> bytes:
    """Collect, one question a batch, and return the bytes of the compacted rows."""
    generator = ExtractiveGenerator.default()
    collect_rows(
        SETTINGS,
        questions(),
        index,
        Generators(generator, lambda _: generator),
        folder,
        CollectSettings(batch=1),
        seed=0,
        progress=progress,
        workers=workers,
    )
    return (folder / "rows.parquet").read_bytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, index: BM25Retriever) -> bytes:
    return rows_file(tmp_path_factory.mktemp("one"), index, Workers())


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="needs the extra distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


class Killer:
    """Progress that kills a process with SIGKILL when the first batch is done."""

    def __init__(self, process: Callable[[], int]) -> None:
        self.process = process
        self.at = -1

    def __call__(self, done: int, total: int) -> None:
        if self.at < 0:
            self.at = done
            os.kill(self.process(), signal.SIGKILL)


def of_loky() -> int:
    from joblib.externals.loky import get_reusable_executor

    return min(get_reusable_executor(reuse=True)._processes)


def parts(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (folder / "parts").glob("*.parquet")}


def test_collection_on_a_dask_cluster_is_the_same(
    cluster: Any, index: BM25Retriever, expected: bytes, tmp_path: Path
) -> None:
    workers = Workers(backend="dask", address=cluster.scheduler_address)
    assert rows_file(tmp_path, index, workers) == expected


def test_the_client_that_the_caller_made_serves(
    cluster: Any, index: BM25Retriever, expected: bytes, tmp_path: Path
) -> None:
    from distributed import Client

    with Client(cluster):
        assert rows_file(tmp_path, index, Workers(backend="dask")) == expected


def test_evaluation_on_a_dask_cluster_is_the_same(cluster: Any, index: BM25Retriever, tmp_path: Path) -> None:
    from evidencegym.actions.engine import Engine

    method = Method("uniform", build_rules(SETTINGS), UniformController(0))
    files = tmp_path / "several.jsonl", tmp_path / "one.jsonl"
    for file, crew in zip(files, (Workers(backend="dask", address=cluster.scheduler_address), Workers())):
        evaluate(method, questions(), Engine(index, ExtractiveGenerator.default()), file, batch=5, workers=crew)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_dask_replaces_a_worker_that_is_killed_and_the_rows_are_the_same(
    cluster: Any, index: BM25Retriever, expected: bytes, tmp_path: Path
) -> None:
    killer = Killer(lambda: int(cluster.workers[0].pid))
    before = cluster.workers[0].pid
    workers = Workers(backend="dask", address=cluster.scheduler_address)
    assert rows_file(tmp_path, index, workers, killer) == expected
    assert 0 < killer.at < len(questions())
    assert cluster.workers[0].pid != before


def test_processes_lose_nothing_that_was_finished_when_one_is_killed(
    index: BM25Retriever, expected: bytes, tmp_path: Path
) -> None:
    killer = Killer(of_loky)
    with pytest.raises(BackendUnavailableError, match="what was finished is kept"):
        rows_file(tmp_path, index, Workers(2), killer)
    kept = parts(tmp_path)
    assert 0 < len(kept) < len(questions())
    assert rows_file(tmp_path, index, Workers(2)) == expected
    assert kept.items() <= parts(tmp_path).items()


def test_relative_folders_are_those_of_the_caller(
    cluster: Any, index: BM25Retriever, expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workers = Workers(backend="dask", address=cluster.scheduler_address)
    assert rows_file(Path("run"), index, workers) == expected


def test_the_command_line_names_a_scheduler(cluster: Any, tmp_path: Path) -> None:
    arguments = ["collect", "--passages", "300", "--train_questions", "4"]
    there = ["--workers.backend", "dask", "--workers.address", cluster.scheduler_address]
    assert main([*arguments, "--out", str(tmp_path / "there"), *there]) == 0
    assert main([*arguments, "--out", str(tmp_path / "here")]) == 0
    files = [tmp_path / run / "collection" / "rows.parquet" for run in ("there", "here")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_an_address_where_nothing_answers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra distributed")
    monkeypatch.setattr("evidencegym.actions.workers.ANSWERS_WITHIN", 0.5)
    with socket.socket() as mute:  # accepts connections and never says a word
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        begun = time.monotonic()
        with pytest.raises(BackendUnavailableError, match=address):
            list(Workers(backend="dask", address=address).map(abs, [(1,)]))
    assert time.monotonic() - begun < 10


def test_a_name_that_is_no_address_is_told() -> None:
    pytest.importorskip("distributed", reason="needs the extra distributed")
    with pytest.raises(BackendUnavailableError, match="carrier://pigeon"):
        list(Workers(backend="dask", address="carrier://pigeon").map(abs, [(1,)]))


def test_dask_without_a_scheduler_says_how_to_name_one() -> None:
    pytest.importorskip("distributed", reason="needs the extra distributed")
    with pytest.raises(BackendUnavailableError, match=r"workers\.address"):
        list(Workers(backend="dask").map(abs, [(1,)]))


def test_without_dask_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['distributed'] = None; from evidencegym.actions.workers import Workers\n"
        "for crew in (Workers(backend='dask', address='tcp://127.0.0.1:1'), Workers(backend='dask')):\n"
        "    try: list(crew.map(abs, [(1,)]))\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["BackendUnavailableError"] * 2
    assert all("extra 'distributed'" in line for line in lines)
