"""What the analyses need of a method's results: one row of numbers a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...data.errors import ConfigError
from ..comparison import value_of
from ..protocols import LEARNED
from ..report_folder import stream_results

COLUMNS: dict[str, str] = {
    "support_recall": "support recall",
    "full_support": "all support",
    "answer_f1": "F1",
    "answer_em": "EM",
    "retrievals": "retrievals",
    "documents": "documents",
    "tokens": "tokens",
    "generator_calls": "calls",
    "recall_at_2": "R@2",
    "recall_at_5": "R@5",
    "external_searches": "of them elsewhere",
}
"""Name -> label of every column; ``retrievals`` counts the searches of a corrective gate elsewhere as well."""
_SEED = re.compile(r"-seed-?\d+(?=$|-)")
Columns = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The numbers of one method.

    Attributes:
        method: its name; that of a method that draws is without its seed.
        uids: the questions, in order.
        values: (questions, columns) float64, in the order of ``COLUMNS``; of several seeds the mean.
        types: type of each question; empty where it has none.
        hops: hops of each question, 0 where unknown.
        seeds: how many seeds there are.
    """

    method: str
    uids: tuple[str, ...]
    values: Columns
    types: tuple[str, ...]
    hops: tuple[int, ...]
    seeds: int = 1

    def column(self, name: str) -> Columns:
        """Return (questions,) float64."""
        found: Columns = self.values[:, list(COLUMNS).index(name)]
        return found

    def columns(self, names: Sequence[str]) -> Columns:
        """Return (questions, names) float64."""
        return np.stack([self.column(name) for name in names], axis=1)

    def on(self, uids: Sequence[str]) -> Scores:
        """Return the scores on some of the questions.

        Raises:
            ConfigError: if it does not hold one of them.
        """
        places = {uid: place for place, uid in enumerate(self.uids)}
        if lacking := [uid for uid in uids if uid not in places]:
            raise ConfigError(f"{self.method} does not hold {len(lacking)} of {len(uids)} questions; run it on more")
        chosen = [places[uid] for uid in uids]
        types, hops = tuple(self.types[i] for i in chosen), tuple(self.hops[i] for i in chosen)
        return Scores(self.method, tuple(uids), self.values[chosen], types, hops, self.seeds)

    def mean(self, name: str) -> float:
        """Return the mean of a column."""
        return float(self.column(name).mean())


def read_scores(file: Path) -> Scores:
    """Read the scores of a method from its results.

    Raises:
        DataError: if the file is damaged.
    """
    uids, values, types, hops = [], [], [], []
    for result in stream_results(file):
        gold = result.get("gold") or {}
        uids.append(str(result["uid"]))
        values.append([value_of(result, name) for name in COLUMNS])
        types.append(str(gold.get("type") or ""))
        hops.append(int(gold.get("hops") or 0))
    matrix = np.array(values, np.float64).reshape(len(uids), len(COLUMNS))
    return Scores(_SEED.sub("", file.stem), tuple(uids), matrix, tuple(types), tuple(hops))


def read_protocol(folder: Path, protocol: str, methods: Mapping[str, Mapping[str, int]]) -> dict[str, Scores]:
    """Read the scores of every method of a protocol that is complete, the learned controller first, then by name.

    Args:
        folder: of the data set.
        protocol: its name.
        methods: protocol/name -> what its results were made from, ``n_questions`` among it.

    Raises:
        ConfigError: if two methods hold other questions.
        DataError: if a file is damaged.
    """
    names = sorted(key.split("/", 1)[1] for key in methods if key.split("/", 1)[0] == protocol)
    groups: dict[str, list[Scores]] = {}
    for name in names:
        file = folder / protocol / f"{name}.jsonl"
        if file.exists():
            scores = read_scores(file)
            if len(scores.uids) == methods[f"{protocol}/{name}"]["n_questions"]:
                groups.setdefault(scores.method, []).append(scores)
    merged = {
        name: _merged(own) for name, own in sorted(groups.items(), key=lambda item: (item[0] != LEARNED, item[0]))
    }
    check_paired(list(merged.values()))
    return merged


def check_paired(methods: Sequence[Scores]) -> None:
    """Check that methods hold the same questions in the same order.

    Raises:
        ConfigError: if not.
    """
    if other := [own.method for own in methods if own.uids != methods[0].uids]:
        raise ConfigError(f"cannot pair {', '.join(other)} with {methods[0].method}: they hold other questions")


def _merged(seeds: Sequence[Scores]) -> Scores:
    """Return the mean over seeds, question by question."""
    check_paired(seeds)
    first = seeds[0]
    values = np.mean([own.values for own in seeds], axis=0)
    return Scores(first.method, first.uids, values, first.types, first.hops, len(seeds))
