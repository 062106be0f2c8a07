"""How much faster is ``collect`` on two processes than on one, and what does a further process cost in memory?

    python benchmarks/workers.py [--index FOLDER] [--memory 1000000] [--rounds 0]

The runs take turns; start-up of the processes is timed apart. Each round has its own questions, so that nobody finds
answers in caches. The rows must be the same bytes. Memory, a record of its own, is what a process has for itself (USS)
after it searched, less what it has after searching an index of 300 passages. USS counts pages of a mapped file as
private while one process alone has read them; this process therefore reads them first, as another worker would.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from synthetic import arguments, collected, kept, world_index, world_questions
from timing import record

from evidencegym.actions.workers import Sent, Workers
from evidencegym.data.records import Record
from evidencegym.retrieval.bm25 import BM25Retriever

SMALL = 300


def searched(retriever: Sent[BM25Retriever], queries: list[str]) -> tuple[int, int]:
    """Search in a worker; return its process id and its private bytes."""
    for query in queries:
        retriever.value.search([query], 10)
    time.sleep(0.5)  # so that no worker takes two tasks while another has none
    return os.getpid(), psutil.Process().memory_full_info().uss


def private(retriever: BM25Retriever, queries: list[str], jobs: int) -> dict[int, int]:
    """Return the private bytes of each worker after searching, by process id."""
    sent = Sent(retriever)
    return dict(Workers(jobs).map(searched, [(sent, queries)] * (4 * jobs)))


def memory(passages: int, folder: Path, jobs: int) -> dict[str, Any]:
    """Measure what each of ``jobs`` workers has for itself with an index of this size."""
    big = world_index(passages, folder)
    queries = [record.question.text for record in world_questions(passages, 200, "dev")]
    for query in queries:
        big.search([query], 10)
    before = private(world_index(SMALL, folder), queries, jobs)
    after = private(big, queries, jobs)
    size = sum(file.stat().st_size for file in (folder / str(passages)).iterdir())
    added = [after[pid] - before[pid] for pid in after if pid in before]
    if not added:
        raise SystemExit("the workers were replaced in between; run it again")
    return {
        "passages": passages,
        "workers": len(added),
        "index_bytes": size,
        "private_bytes": sorted(after.values()),
        "private_bytes_added_by_index": sorted(added),
        "share_of_index": round(max(added) / size, 4),
    }


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that ``work`` takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def speed(passages: int, questions: int, batch: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Collect with one process and with two in turn."""
    retriever = world_index(passages, folder)
    records: list[Record] = world_questions(passages, questions * rounds + 4, "train")
    seconds: dict[int, list[float]] = {1: [], 2: []}
    start_up = timed(lambda: private(retriever, ["a"], 2)) - 2.0  # four tasks a worker, each sleeps half a second
    with TemporaryDirectory() as runs:
        collected(records[-4:], retriever, Path(runs) / "warm")
        for number in range(rounds):
            asked, found = records[number * questions : (number + 1) * questions], set[bytes]()
            for jobs, taken in seconds.items():
                run = Path(runs) / f"{number}-{jobs}"
                crew = Workers(jobs)
                taken.append(
                    timed(lambda asked=asked, run=run, crew=crew: collected(asked, retriever, run, crew, batch))
                )
                found.add((run / "rows.parquet").read_bytes())
            if len(found) != 1:
                raise SystemExit("the rows differ")
    one, two = statistics.median(seconds[1]), statistics.median(seconds[2])
    return {
        "passages": passages,
        "questions": questions,
        "batch": batch,
        "rounds": rounds,
        "start_up_seconds": round(start_up, 2),
        "seconds_on_1": round(one, 2),
        "seconds_on_2": round(two, 2),
        "times_faster": round(one / two, 2),
        "rows": "the same bytes",
    }


def main() -> None:
    """Measure and write the records."""
    parser = arguments(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=192, help="questions a round")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3, help="0: no collection is timed")
    parser.add_argument("--memory", type=int, default=0, help="passages of the index whose memory is measured")
    given = parser.parse_args()
    with kept(given.index) as folder:
        if given.memory:
            record("workers_memory", memory(given.memory, folder, 2))
        if given.rounds:
            record("workers", {"collect": speed(given.passages, given.questions, given.batch, given.rounds, folder)})


if __name__ == "__main__":
    main()
