"""How much faster are 64 episodes in lockstep than one after another, where a generator server answers?

    python benchmarks/lockstep_server.py

The server is a process of its own behind a local socket. A call takes 20 ms and 0.1 ms for each task, calls of several
connections at a time. It gives the packaged generator's answers, which are made before the clock runs. Episodes choose
uniformly; whatever way they are run, their states, answers and costs are checked to be equal.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from timing import medians, record

from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.world import World
from evidencegym.envs.rollout import Episode, rollout
from evidencegym.generation.base import Generator
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever

EPISODES = 64
SECONDS_A_CALL, SECONDS_A_TASK = 0.020, 0.0001
ROUNDS = 5
Answers = dict[Any, Any]


def serve(address: str, answers_file: Path) -> None:
    """Answer on every connection until the process is ended."""
    answers: Answers = pickle.loads(answers_file.read_bytes())
    with Listener(address) as listener:
        while True:
            threading.Thread(target=_converse, args=(listener.accept(), answers), daemon=True).start()


def _converse(connection: Connection[Any, Any], answers: Answers) -> None:
    while True:
        try:
            tasks = connection.recv()
        except EOFError:
            return
        ready = time.perf_counter() + SECONDS_A_CALL + SECONDS_A_TASK * len(tasks)
        found = [answers[task] for task in tasks]
        time.sleep(max(0.0, ready - time.perf_counter()))
        connection.send(found)


class Asking(Generator):
    """Hands each batch on; what happens to it then is for the subclasses to say."""

    fingerprint = unit = "benchmark"

    def ask(self, method: str, tasks: Sequence[Any]) -> list[Any]:
        """Return a result for each task."""
        raise NotImplementedError

    def answer(self, tasks: Sequence[Any]) -> list[Any]:
        """Answer each question."""
        return self.ask("answer", tasks)

    def judge_sufficiency(self, tasks: Sequence[Any]) -> list[Any]:
        """Judge each body of evidence."""
        return self.ask("judge_sufficiency", tasks)

    def rewrite(self, tasks: Sequence[Any]) -> list[Any]:
        """Reformulate each query."""
        return self.ask("rewrite", tasks)

    def compress(self, tasks: Sequence[Any]) -> list[Any]:
        """Compress each body of evidence."""
        return self.ask("compress", tasks)


class Recording(Asking):
    """The packaged generator, noting every answer."""

    def __init__(self) -> None:
        self.answers: Answers = {}

    def ask(self, method: str, tasks: Sequence[Any]) -> list[Any]:
        """Return and note the packaged generator's results."""
        found: list[Any] = getattr(ExtractiveGenerator.default(), method)(tasks)
        self.answers |= zip(tasks, found)
        return found


class Remote(Asking):
    """A client of the server, with one connection a thread."""

    def __init__(self, address: str, concurrency: int) -> None:
        self.concurrency = concurrency
        self.calls = 0
        self._address = address
        self._local = threading.local()

    def ask(self, method: str, tasks: Sequence[Any]) -> list[Any]:
        """Send the tasks and wait for the results."""
        self.calls += 1
        if not hasattr(self._local, "connection"):
            self._local.connection = Client(self._address)
        self._local.connection.send(list(tasks))
        found: list[Any] = self._local.connection.recv()
        return found


def started(address: str, answers_file: Path) -> multiprocessing.Process:
    """Start the server and return when it listens."""
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(address, answers_file), daemon=True)
    server.start()
    for _ in range(600):
        try:
            Client(address).close()
            return server
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.05)
    raise SystemExit("the server did not start within 30 seconds")


def measured(address: str, expected: list[Episode], retriever: BM25Retriever) -> dict[str, Any]:
    """Return seconds, calls and ratios, one after another and in lockstep."""
    questions = [episode.question for episode in expected]
    calls: dict[str, int] = {}

    def contender(name: str, concurrency: int, batch: int) -> None:
        generator = Remote(address, concurrency)
        episodes = rollout(questions, Rules(), Engine(retriever, generator), UniformController(0), batch=batch)
        calls[name] = generator.calls
        if episodes != expected:
            raise SystemExit(f"{name}: the episodes differ")

    ways = {"one after another": (0, 1), "lockstep, 1 call of a kind": (1, 64), "lockstep, 4 calls of a kind": (4, 64)}
    found = medians({name: lambda way=way, name=name: contender(name, *way) for name, way in ways.items()}, ROUNDS)
    alone = found["one after another"]
    return {
        name: {"seconds": round(s, 4), "calls": calls[name], "times_faster": round(alone / s, 1)}
        for name, s in found.items()
    }


def main() -> None:
    """Start the server with the answers that the episodes will ask for, measure, and record."""
    world = World(2000, seed=0)
    retriever = BM25Retriever.build(world.passages())
    questions = [r.question for r in world.questions(EPISODES, "dev")]
    recording = Recording()
    expected = rollout(questions, Rules(), Engine(retriever, recording), UniformController(0))
    with TemporaryDirectory() as folder:
        answers_file, address = Path(folder) / "answers", str(Path(folder) / "socket")
        answers_file.write_bytes(pickle.dumps(recording.answers))
        server = started(address, answers_file)
        try:
            figures = measured(address, expected, retriever)
        finally:
            server.terminate()
            server.join()
    server_kind = {"process": "separate, local socket", "ms_a_call": 20, "ms_a_task": 0.1}
    record("lockstep_server", {"episodes": EPISODES, "same_episodes": True, "server": server_kind, **figures})


if __name__ == "__main__":
    main()
