"""How does the time per question of ``evaluate`` grow with the corpus, and what takes it?

    python benchmarks/growth.py [--index FOLDER] [--sizes 10000 100000 1000000]

One process, the learned controller, the packaged generator. The parts are timed where they are called. Needs matplotlib
for the plot, ``records/growth.svg``.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from synthetic import arguments, kept, quickstart_controller, settings, world_index, world_questions
from timing import RECORDS, record

from evidencegym.actions.engine import Engine
from evidencegym.controllers.forest import ForestController
from evidencegym.envs.build import build_rules
from evidencegym.envs.features import FeatureMap
from evidencegym.eval.runner import Method, evaluate
from evidencegym.generation.base import Generator
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.bm25 import BM25Retriever

ROUNDS = 3
"""Each has its own questions, so that nothing is found in caches; the middle one counts."""

PARTS = ("search", "generator", "features", "decision", "rest")
TIMED = (
    (BM25Retriever, "search", ("search", "titled")),
    (ExtractiveGenerator, "generator", ("answer", "judge_sufficiency", "rewrite", "compress")),
    (FeatureMap, "features", ("matrix",)),
    (ForestController, "decision", ("decide",)),
)


class Clock:
    """Adds up the seconds of the parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timing(self, method: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Return ``method``, timed."""

        def call(*given: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return method(*given, **named)
            finally:
                self.seconds[part] += time.perf_counter() - begun

        return call


def run(controller: ForestController, retriever: BM25Retriever, generator: Generator, questions: list[Any]) -> float:
    """Evaluate and return the seconds."""
    method = Method("learned", build_rules(settings(len(retriever.passages))), controller)
    with TemporaryDirectory() as folder:
        begun = time.perf_counter()
        evaluate(method, questions, Engine(retriever, generator), Path(folder) / "learned.jsonl")
        return time.perf_counter() - begun


def measured(size: int, controller: ForestController, folder: Path, count: int) -> dict[str, Any]:
    """Return the milliseconds a question of each part at one size; some further questions only warm up."""
    generator, clock = ExtractiveGenerator.default(), Clock()
    retriever = world_index(size, folder)
    questions = world_questions(size, count * ROUNDS + count // 10, "dev")
    run(controller, retriever, generator, questions[count * ROUNDS :])
    found: list[tuple[float, dict[str, float]]] = []
    with ExitStack() as patches:
        for kind, part, names in TIMED:
            for name in names:
                patches.enter_context(patch.object(kind, name, clock.timing(getattr(kind, name), part)))
        for first in range(0, count * ROUNDS, count):
            clock.seconds.clear()
            whole = run(controller, retriever, generator, questions[first : first + count])
            found.append((whole, {**clock.seconds, "rest": whole - sum(clock.seconds.values())}))
    whole, taken = sorted(found, key=lambda each: each[0])[ROUNDS // 2]
    return {
        "milliseconds_a_question": round(1000 * whole / count, 2),
        "shares": {part: round(taken.get(part, 0.0) / whole, 3) for part in PARTS},
        "dominates": max(taken, key=lambda part: taken[part]),
    }


def plot(found: dict[int, dict[str, Any]], file: Path) -> None:
    """Draw the parts of each size, stacked."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    names, bottom = [f"{size:,}" for size in found], [0.0] * len(found)
    for part in PARTS:
        heights = [sizes["milliseconds_a_question"] * sizes["shares"][part] for sizes in found.values()]
        axes.bar(names, heights, bottom=bottom, label=part, width=0.6)
        bottom = [low + height for low, height in zip(bottom, heights)]
    axes.set(xlabel="passages", ylabel="milliseconds a question", title="evaluate, one process")
    axes.legend()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Measure, plot and write the record."""
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--train", type=int, default=80, help="questions that the controller is fitted to")
    given = parser.parse_args()
    with kept(given.index) as folder:
        first = min(given.sizes)
        controller = quickstart_controller(first, world_index(first, folder), given.train)
        found = {size: measured(size, controller, folder, given.questions) for size in given.sizes}
    plot(found, RECORDS / "growth.svg")
    record("growth", {"questions": given.questions, "sizes": {str(size): each for size, each in found.items()}})


if __name__ == "__main__":
    main()
