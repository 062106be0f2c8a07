"""A collection and an evaluation that take their time, run as a process of their own so that a test can kill it.

Usage: python slow_runs.py collect|evaluate FOLDER
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.tasks import Answer, AnswerTask
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.parts import PartStore
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records


class SlowGenerator(OverlapGenerator):
    """Sleeps before it answers."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def answer(self, tasks: Sequence[AnswerTask]) -> list[Answer]:
        time.sleep(self.seconds)
        return super().answer(tasks)


def slow_collect(folder: Path, seconds: float = 0.0) -> bytes:
    """Collect from the small world, one question at a time; return the bytes of the compacted rows."""
    shared = engine(SlowGenerator(seconds))
    store = PartStore(folder, {"seed": 0})
    policies = [UniformController(0), UniformController(1)]
    collect(records(), Rules(), lambda _: shared, policies, store, CollectSettings(episodes=2, batch=1))
    store.compact(record.uid for record in records())
    return (folder / "rows.parquet").read_bytes()


def slow_evaluate(folder: Path, seconds: float = 0.0) -> bytes:
    """Evaluate uniform choice, one question at a time; return the bytes of the results."""
    method = Method("uniform", Rules(), UniformController(0))
    evaluate(method, records(), engine(SlowGenerator(seconds)), folder / "uniform.jsonl", batch=1)
    return (folder / "uniform.jsonl").read_bytes()


RUNS = {"collect": slow_collect, "evaluate": slow_evaluate}

if __name__ == "__main__":
    print("ready", flush=True)
    RUNS[sys.argv[1]](Path(sys.argv[2]), 0.02)
