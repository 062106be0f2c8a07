"""How much faster is a rollout step (retrieve, features, decision) in lockstep than one by one with the libraries?

    python benchmarks/rollout_step.py [--index FOLDER]

Lockstep: 64 episodes at once. One by one: the same loop over single episodes, with scikit-learn's ``predict``
(n_jobs=1) and bm25s's default (numpy) backend. No operation calls a generator. Every round has questions of its own,
and lockstep meets them first, so that it pays for what the others find in caches. Chosen operations and passages must
be equal for every batch size and number of workers, and with scikit-learn's ``predict``; with bm25s's only up to ties.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import cycle
from typing import Any
from unittest.mock import patch

import bm25s
import numpy as np
from synthetic import arguments, kept, quickstart_controller, world_index, world_questions
from timing import medians, record

from evidencegym.actions.engine import Engine
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.actions.workers import Sent, Workers
from evidencegym.controllers.forest import ForestController
from evidencegym.data.records import Passage, Question
from evidencegym.data.trees import TreeArrays
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import decide
from evidencegym.generation.extractive import ExtractiveGenerator
from evidencegym.retrieval.base import Hit, Retriever
from evidencegym.retrieval.bm25 import BM25Retriever

EPISODES = 64
ASKS_A_GENERATOR = ["sufficiency_check", "rewrite_query"]

Trail = tuple[tuple[int, ...], tuple[str, ...]]


class SklearnTrees:
    """A forest that predicts as scikit-learn does."""

    def __init__(self, forest: Any) -> None:
        self.forest = forest.set_params(n_jobs=1)
        self.n_features = forest.n_features_in_

    def predict(self, rows: Any) -> Any:
        """Return the forest's predictions."""
        return self.forest.predict(rows) if len(rows) else np.zeros(0)


class NumpyBM25(Retriever):
    """The same index searched by bm25s's default backend, query by query."""

    def __init__(self, index: BM25Retriever) -> None:
        self.index = index
        self.model = bm25s.BM25(method="lucene", backend="numpy")
        postings = index._postings
        self.model.nonoccurrence_array = None  # as for every index in Lucene's variant
        self.model.scores = {
            "data": postings.impacts,
            "indices": postings.numbers,
            "indptr": postings.starts,
            "num_docs": postings.passages,
        }

    @property
    def fingerprint(self) -> str:
        """That of the index."""
        return self.index.fingerprint

    def search(self, queries: Sequence[str], k: int, pools: Sequence[str] | None = None) -> list[list[Hit]]:
        """Score every passage and take the best, as ``bm25s.BM25.retrieve`` does."""
        return [self._search(query, k) for query in queries]

    def _search(self, query: str, k: int) -> list[Hit]:
        words = np.array(self.index._vocabulary.ids(query), np.int32)
        if not len(words):
            return []
        scores = self.model.get_scores_from_ids(words)
        values, numbers = bm25s.selection.topk(scores, k, backend="numpy", sorted=True)
        found = [(int(n), float(v)) for n, v in zip(numbers, values) if v > 0]
        return [Hit(self.index.passages[n], v, rank) for rank, (n, v) in enumerate(found)]

    def titled(self, title: str, pool: str = "") -> tuple[Passage, ...]:
        """Look the title up as the index does."""
        return self.index.titled(title)


def controllers(passages: int, index: BM25Retriever, questions: int) -> tuple[ForestController, ForestController]:
    """Fit the controller; return it, and the same forests as scikit-learn's."""
    forests: list[Any] = []
    flatten = TreeArrays.from_forest

    def keep(forest: Any) -> TreeArrays:
        forests.append(forest)
        return flatten(forest)

    with patch.object(TreeArrays, "from_forest", keep):
        fast = quickstart_controller(passages, index, questions)
    continuation = fast.continuation
    parts = (SklearnTrees(forests[0]), fast.feature_names, fast.operations, fast.expected_costs)
    slow = ForestController(*parts, continuation)  # type: ignore[arg-type]
    if continuation is not None:
        slow.continuation = type(continuation)(SklearnTrees(forests[1]), continuation.threshold)  # type: ignore[arg-type]
    return fast, slow


def rules() -> Rules:
    """Return the paper's rules without the operations that ask a generator."""
    return Rules(operation_set("paper", disabled=ASKS_A_GENERATOR))


def walk(questions: Sequence[Question], retriever: Retriever, policy: ForestController, batch: int) -> list[Trail]:
    """Run the episodes, ``batch`` at once, up to the answer; return what was chosen and found."""
    chosen_rules, features = rules(), FeatureMap(policy.operations)
    engine = Engine(retriever, ExtractiveGenerator.default(), cache_size=0)
    trails: list[Trail] = []
    for first in range(0, len(questions), batch):
        states = [chosen_rules.start(question) for question in questions[first : first + batch]]
        chosen: list[list[int]] = [[] for _ in states]
        while running := [i for i, state in enumerate(states) if not state.end]:
            turn = decide(chosen_rules, features, policy, [states[i] for i in running])
            operations = [int(operation) for operation in turn.choice.operations]
            for i, operation, after in zip(running, operations, chosen_rules.step(turn.states, operations, engine)):
                chosen[i].append(operation)
                states[i] = after
        trails += [(tuple(ops), tuple(p.id for p in state.passages)) for ops, state in zip(chosen, states)]
    return trails


def walk_sent(
    sent: Sent[tuple[BM25Retriever, ForestController]], questions: Sequence[Question], batch: int
) -> list[Trail]:
    """Walk in a worker."""
    return walk(questions, *sent.value, batch)


def checksum(trails: Sequence[Trail]) -> str:
    """Return a hash of what was chosen and found."""
    return hashlib.blake2b(repr(trails).encode(), digest_size=8).hexdigest()


def main() -> None:
    """Measure and write the record."""
    parser = arguments(__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--train", type=int, default=80, help="questions that the controller is fitted to")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with kept(given.index) as folder:
        index = world_index(given.passages, folder)
        fast, slow = controllers(given.passages, index, given.train)
        asked = [r.question for r in world_questions(given.passages, EPISODES * (given.rounds + 1), "dev")]
        sets = [asked[first : first + EPISODES] for first in range(0, len(asked), EPISODES)]
        turns = {name: cycle(sets) for name in ("lockstep", "one_by_one", "libraries")}
        numpy_index = NumpyBM25(index)
        found = medians(
            {
                "lockstep": lambda: walk(next(turns["lockstep"]), index, fast, EPISODES),
                "one_by_one": lambda: walk(next(turns["one_by_one"]), index, fast, 1),
                "libraries": lambda: walk(next(turns["libraries"]), numpy_index, slow, 1),
            },
            given.rounds,
        )
        questions = sets[0]
        sums = {f"batch {batch}": walk(questions, index, fast, batch) for batch in (1, 8, EPISODES)}
        sums["scikit-learn's predict"] = walk(questions, index, slow, 1)
        sent, halves = Sent((index, fast)), (questions[: EPISODES // 2], questions[EPISODES // 2 :])
        for jobs in (1, 2):
            parts = Workers(jobs).map(walk_sent, [(sent, half, EPISODES) for half in halves])
            sums[f"{jobs} workers"] = [trail for part in parts for trail in part]
        libraries = walk(questions, numpy_index, slow, 1)
    checksums = {name: checksum(trails) for name, trails in sums.items()}
    if len(set(checksums.values())) != 1:
        raise SystemExit(f"results differ: {checksums}")
    reference = sums[f"batch {EPISODES}"]
    steps = sum(len(operations) for operations, _ in reference)  # of one set; the others have about as many
    record(
        "rollout_step",
        {
            "passages": given.passages,
            "episodes": EPISODES,
            "steps": steps,
            "nodes": len(fast.trees.feature),
            "milliseconds_a_step": {name: round(1000 * taken / steps, 3) for name, taken in found.items()},
            "times_faster": round(found["libraries"] / found["lockstep"], 1),
            "times_faster_than_one_by_one": round(found["one_by_one"] / found["lockstep"], 2),
            "checksums": checksums,
            "episodes_equal_to_the_libraries": sum(a == b for a, b in zip(reference, libraries)),
        },
    )


if __name__ == "__main__":
    main()
