"""Slices of the comparison by type and by hops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..analysis import Analysis, Plot, Row, spread, spread_columns
from ..protocols import LEARNED
from ..statistics import bootstrap_columns
from .protocols import TITLES
from .scores import COLUMNS, Scores

_SHOWN = ("support_recall", "answer_f1")


def best_baseline(methods: Mapping[str, Scores], column: str = "support_recall") -> str:
    """Return the method other than the learned controller with the highest mean; of equals the first. "" if none."""
    others = [name for name in methods if name != LEARNED]
    return max(others, key=lambda name: methods[name].mean(column), default="")


def slices(protocol: str, methods: Mapping[str, Scores], seed: int = 0) -> Analysis | None:
    """Return the learned controller against the best baseline in each slice; None where either is missing."""
    baseline = best_baseline(methods)
    if LEARNED not in methods or not baseline:
        return None
    learned, other = methods[LEARNED], methods[baseline]
    rows = [_row(label, places, learned, other, seed) for label, places in _slices(learned)]
    columns = [("slice", "slice"), ("questions", "questions")]
    for name in _SHOWN:
        columns += [*spread_columns(name, COLUMNS[name]), (f"{name}_baseline", f"{COLUMNS[name]}, {baseline}")]
        columns += spread_columns(f"{name}_difference", f"Δ {COLUMNS[name]}")
    asks = (
        f"Where does {LEARNED} gain over {baseline}, the baseline with the highest support recall here? Means of "
        f"{LEARNED} and its paired differences, with 95 % bootstrap intervals over the questions of the slice, "
        "uncorrected."
    )
    plot = Plot(
        "slice", "support_recall_difference", "", "support_recall_difference_low", "support_recall_difference_high"
    )
    title = f"{TITLES[protocol].capitalize()}: by type and hops"
    return Analysis(f"slices_{protocol}", title, asks, columns, rows, plot, {"baseline": baseline})


def _slices(scores: Scores) -> Iterator[tuple[str, list[int]]]:
    """Yield name and places of each slice: everything, each type, each number of hops."""
    yield "all", list(range(len(scores.uids)))
    types, hops = sorted(set(scores.types) - {""}), sorted(set(scores.hops) - {0})
    for kind in types:
        yield f"type {kind}", [place for place, own in enumerate(scores.types) if own == kind]
    for number in hops:
        yield f"{number} hops", [place for place, own in enumerate(scores.hops) if own == number]


def _row(label: str, places: list[int], learned: Scores, other: Scores, seed: int) -> Row:
    own, base = learned.columns(_SHOWN)[places], other.columns(_SHOWN)[places]
    found = bootstrap_columns(np.concatenate([own, own - base], axis=1), seed)
    row: Row = {"slice": label, "questions": len(places)}
    for place, name in enumerate(_SHOWN):
        row |= spread(name, found[place])
        row[f"{name}_baseline"] = float(base[:, place].mean())
        row |= spread(f"{name}_difference", found[len(_SHOWN) + place])
    return row
