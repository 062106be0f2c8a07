"""What the benchmarks of the whole share: saved indices of synthetic worlds, and the controller of the quickstart."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evidencegym.actions.workers import Workers
from evidencegym.controllers.forest import ForestController
from evidencegym.data.records import Record
from evidencegym.data.world import World
from evidencegym.envs.settings import TaskSettings
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.collect import CollectSettings
from evidencegym.training.fit import FitSettings
from evidencegym.training.generators import Generators
from evidencegym.training.pipeline import collect_rows, fit_rows

SEED = 1


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows ``--index``; linear algebra is held to one thread, in workers too."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--index", type=Path, help="folder that keeps the indices for the next run")
    return parser


@contextmanager
def kept(folder: Path | None) -> Iterator[Path]:
    """Give the folder of the indices, a temporary one if there is none."""
    if folder is not None:
        yield folder
        return
    with TemporaryDirectory() as temporary:
        yield Path(temporary)


def world_index(passages: int, folder: Path) -> BM25Retriever:
    """Map the index of the world of this size, built and saved in ``folder`` if it is not there."""
    saved = folder / str(passages)
    if not saved.exists():
        BM25Retriever.build(World(passages, SEED).passages()).save(saved)
    return BM25Retriever.load(saved)


def world_questions(passages: int, count: int, split: str) -> list[Record]:
    """Return the first questions of the world's split."""
    return list(World(passages, SEED).questions(count, split))


def settings(passages: int) -> TaskSettings:
    """Return the task's settings."""
    return TaskSettings(passages=passages, world_seed=SEED)


def collected(
    records: list[Record], retriever: BM25Retriever, folder: Path, workers: Workers | None = None, batch: int = 32
) -> Any:
    """Collect two behaviour episodes a question with the packaged generator and return the compacted rows."""
    generator = ExtractiveGenerator.default()
    collecting = CollectSettings(batch=batch)
    task = settings(len(retriever.passages))
    generators = Generators(generator, lambda _: generator)
    return collect_rows(task, records, retriever, generators, folder, collecting, 0, None, workers)


def quickstart_controller(passages: int, retriever: BM25Retriever, questions: int) -> ForestController:
    """Fit the controller (300 trees, 8 rows a leaf) to rows of this many train questions."""
    with TemporaryDirectory() as folder:
        rows = collected(world_questions(passages, questions, "train"), retriever, Path(folder) / "rows")
        generator = ExtractiveGenerator.default()
        return fit_rows(settings(passages), rows, Path(folder) / "fit", FitSettings(jobs=1), generator, 0)
