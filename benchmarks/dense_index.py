"""Dense indices of 100,000 passages: built, killed and resumed, shared by processes; their recall, size and speed.

    python benchmarks/dense_index.py        # needs: pip install 'evidencegym[cpu]' psutil

The vectors are those of ``topics``: the point is the index, not the model. Recall is the share of the ten best of the
exact search that an index finds. Times are this thread's CPU time, on one thread. Stock FAISS is ``faiss.knn`` with its
default threshold for matrix products; it and ours take turns, and must find the same passages. Memory is what each of
two processes has for itself (USS) after it searched, less what it has before it opens the index; this process reads
the files first. Disk and time of BM25, over as many articles of the synthetic world, stand beside them.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from timing import medians, record
from topics import TopicEncoder, topic_passages, topic_questions

from evidencegym.data.world import World
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.dense_settings import KINDS, DenseSettings
from evidencegym.retrieval.embeddings import Embeddings, embed, load_embeddings
from evidencegym.retrieval.vector_index import VectorIndex, faiss, open_index

PASSAGES, QUESTIONS, K, BATCH, KILLED_AFTER = 100_000, 512, 10, 64, 40_000
EXACT_BATCHES = (1, 16, 64, 128, 256, 330, 512)

Queries = NDArray[np.float32]


def killed(folder: Path) -> int:
    """Embed in a child, kill it after 40,000 passages, and return how many it left done."""
    note = folder.parent / f".{folder.name}.building" / "done.json"
    child = subprocess.Popen([sys.executable, __file__, str(folder)])
    while child.poll() is None and not (note.exists() and _done(note) >= KILLED_AFTER):
        time.sleep(0.01)
    child.kill()
    child.wait()
    return _done(note)


def _done(note: Path) -> int:
    return int(json.loads(note.read_text())["done"])


def built(folder: Path) -> tuple[Embeddings, dict[str, Any]]:
    """Embed in a child that is killed, then resume; say how much was done twice."""
    done = killed(folder)
    encoder = TopicEncoder()
    begun = time.process_time()
    embeddings = embed(topic_passages(PASSAGES), encoder, folder)
    return embeddings, {
        "killed_after": done,
        "embedded_again": encoder.embedded - (PASSAGES - done),
        "resume_seconds": round(time.process_time() - begun, 1),
    }


def opened(embeddings: Embeddings, kind: str) -> tuple[VectorIndex, float]:
    """Build or open an index with the default settings; return it and the CPU seconds that it took."""
    begun = time.process_time()
    index = open_index(embeddings, DenseSettings(kind), embeddings.folder.parent / kind)
    return index, time.process_time() - begun


def recall(index: VectorIndex, queries: Queries, exact: Sequence[NDArray[np.int64]]) -> float:
    """Return the share of the exact search's best that the index finds."""
    found = [rows for rows, _ in index.nearest(queries, K)]
    return float(np.mean([len(np.intersect1d(own, best)) / K for own, best in zip(found, exact, strict=True)]))


def milliseconds(index: VectorIndex, queries: Queries, size: int, calls: int) -> float:
    """Return the median milliseconds a query, ``size`` at a time."""
    parts = cycle([queries[i : i + size] for i in range(0, len(queries) - size + 1, size)])
    found = medians({"": lambda: index.nearest(next(parts), K)}, calls, clock=time.thread_time)
    return round(found[""] / size * 1e3, 3)


def disk(embeddings: Embeddings, kind: str) -> int:
    """Return the bytes of the index on disk, beside the vectors."""
    folder = embeddings.folder.parent / kind
    return sum(file.stat().st_size for file in folder.iterdir()) if folder.exists() else 0


def stock(matrix: Any, threshold: int, queries: Queries) -> NDArray[np.int64]:
    """Search with FAISS as it comes, and leave our threshold as it was."""
    library = faiss()
    ours = library.cvar.distance_compute_blas_threshold
    library.cvar.distance_compute_blas_threshold = threshold
    found: NDArray[np.int64] = library.knn(queries, matrix, K, metric=library.METRIC_INNER_PRODUCT)[1]
    library.cvar.distance_compute_blas_threshold = ours
    return found


def against_stock(index: VectorIndex, queries: Queries, threshold: int) -> dict[str, Any]:
    """Return how many times faster exact batches are, after a check that they find the same."""
    matrix = np.asarray(index.embeddings.matrix)
    theirs = stock(matrix, threshold, queries)
    same = [set(rows.tolist()) == set(own.tolist()) for (rows, _), own in zip(index.nearest(queries, K), theirs)]
    if not all(same):
        raise SystemExit(f"{same.count(False)} queries find other passages than stock FAISS")
    times = {}
    for size in EXACT_BATCHES:
        parts = [queries[i : i + size] for i in range(0, len(queries) - size + 1, size)]
        turns = {"stock": cycle(parts), "ours": cycle(parts)}
        calls: dict[str, Callable[[], object]] = {
            "stock": partial(lambda turn: stock(matrix, threshold, next(turn)), turns["stock"]),
            "ours": partial(lambda turn: index.nearest(next(turn), K), turns["ours"]),
        }
        found = medians(calls, 15 if size > 1 else 40, clock=time.thread_time)
        times[f"times_faster_in_batches_of_{size}"] = round(found["stock"] / found["ours"], 2)
    return {"queries_with_other_passages": 0, "default_threshold": threshold, **times}


def searched(folder: Path, kind: str, queries: Queries, together: Any) -> tuple[int, list[list[int]]]:
    """In a process of its own: open, search; return the private bytes that this added and the rows found."""
    with threadpool_limits(1):
        faiss().knn(queries[:9], queries, 3)
        before = psutil.Process().memory_full_info().uss
        index, _ = opened(load_embeddings(folder), kind)
        rows = [found.tolist() for found, _ in index.nearest(queries, K)]
        together.wait()
        added = psutil.Process().memory_full_info().uss - before
        together.wait()
    return added, rows


def shared(index: VectorIndex, kind: str, queries: Queries) -> dict[str, Any]:
    """Return what two processes that search the same files add to memory each."""
    known = [rows.tolist() for rows, _ in index.nearest(queries, K)]
    spawning = multiprocessing.get_context("spawn")
    with spawning.Manager() as manager, spawning.Pool(2) as pool:
        together = manager.Barrier(2)
        given = [(index.embeddings.folder, kind, queries, together)] * 2
        found = pool.starmap(searched, given, chunksize=1)
    if any(rows != known for _, rows in found):
        raise SystemExit(f"{kind}: another process finds other passages")
    return {"private_bytes_added": sorted(added for added, _ in found)}


def lexical(folder: Path) -> dict[str, Any]:
    """Return the size and the speed of BM25, mapped into memory."""
    world = World(PASSAGES, 1)
    begun = time.process_time()
    BM25Retriever.build(world.passages()).save(folder)
    seconds = time.process_time() - begun
    index = BM25Retriever.load(folder)
    questions = [question.question.text for question in world.questions(QUESTIONS, "dev")]
    parts = cycle([questions[i : i + BATCH] for i in range(0, QUESTIONS, BATCH)])
    asked = cycle(questions)
    contenders: dict[str, Callable[[], object]] = {
        "one": lambda: index.search([next(asked)], K),
        "batch": lambda: index.search(next(parts), K),
    }
    found = medians(contenders, 30, clock=time.thread_time)
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    return {
        "build_seconds": round(seconds, 1),
        "disk_bytes": sum(files.values()),
        "disk_bytes_of_texts": files["passages.jsonl"],
        "milliseconds_a_query": round(found["one"] * 1e3, 3),
        f"milliseconds_a_query_in_batches_of_{BATCH}": round(found["batch"] / BATCH * 1e3, 3),
    }


def main() -> None:
    """Measure every kind of index."""
    threshold = int(faiss().cvar.distance_compute_blas_threshold)
    passages = topic_passages(PASSAGES)
    encoder = TopicEncoder()
    queries = np.array([encoder.query(question) for question in topic_questions(passages, QUESTIONS)])
    numbers: dict[str, Any] = {"passages": PASSAGES, "dimension": encoder.dimension, "queries": QUESTIONS, "k": K}
    with TemporaryDirectory() as folder, threadpool_limits(1):
        embeddings, numbers["embedding"] = built(Path(folder) / "vectors")
        numbers["vectors_bytes"] = (embeddings.folder / "vectors.npy").stat().st_size
        flat, _ = opened(embeddings, "flat")
        exact = [rows for rows, _ in flat.nearest(queries, K)]
        for kind in KINDS:
            index, seconds = opened(embeddings, kind)
            numbers[kind] = {
                "build_seconds": round(seconds, 1),
                "disk_bytes": disk(embeddings, kind),
                "recall_at_10": round(recall(index, queries, exact), 4),
                "milliseconds_a_query": milliseconds(index, queries, 1, 100),
                f"milliseconds_a_query_in_batches_of_{BATCH}": milliseconds(index, queries, BATCH, 9),
                **shared(index, kind, queries),
            }
        numbers["bm25"] = lexical(Path(folder) / "bm25")
        numbers["exact_against_stock_faiss"] = against_stock(flat, queries, threshold)
    record("dense_index", numbers)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        embed(topic_passages(PASSAGES), TopicEncoder(), Path(sys.argv[1]))
    else:
        main()
