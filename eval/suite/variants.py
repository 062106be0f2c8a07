"""Variants of the learned controller (ablations, transfer) against it, as one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..analysis import Analysis, Plot, Row, spread, spread_columns
from ..protocols import LEARNED
from .ablations import ABLATIONS
from .protocol_comparison import TESTED, PairedTest, paired_tests
from .protocols import TITLES
from .scores import COLUMNS, Scores

_MEANS = ("support_recall", "answer_f1", "retrievals", "tokens")


def ablation_table(protocol: str, learned: Scores, ablated: Mapping[str, Scores], seed: int = 0) -> Analysis:
    """Return what each ablation costs: learned minus ablated."""
    asks = (
        "What does each part carry? An ablation changes one thing and runs the same questions; Δ is learned minus "
        "ablated, so a positive number is what the part brings."
    )
    title = f"{TITLES[protocol].capitalize()}: ablations"
    table = _table(
        learned, ablated, seed, "ablation", lambda name: ABLATIONS.get(name, "another controller of the run")
    )
    return _analysis(f"ablations_{protocol}", title, asks, "ablation", "what is changed", table)


def transfer_table(
    protocol: str, dataset: str, learned: Scores, moved: Mapping[str, Scores], seed: int = 0
) -> Analysis:
    """Return how the controllers of other data sets do here: learned minus transferred."""
    asks = (
        f"Controller and ranker trained on another data set, run on {dataset} with its passages and its generator; Δ "
        "is the controller trained here minus the transferred one."
    )
    title = f"{TITLES[protocol].capitalize()}: transfer to {dataset}"
    table = _table(learned, moved, seed, "method", lambda name: f"trained on {name.removeprefix('from_')}")
    return _analysis(f"transfer_{protocol}", title, asks, "method", "controller and ranker", table)


def _analysis(name: str, title: str, asks: str, key: str, label: str, rows: list[Row]) -> Analysis:
    columns = [(key, key), ("what", label), *((mean, COLUMNS[mean]) for mean in _MEANS)]
    for tested in TESTED:
        columns += spread_columns(f"{tested}_difference", f"Δ {COLUMNS[tested]}")
        columns.append((f"{tested}_p_holm", "p (Holm)"))
    family = len(TESTED) * (len(rows) - 1)
    corrected = (
        f" 95 % paired bootstrap intervals; p of a sign-flip permutation test, corrected by Holm over the {family} "
        "tests of this table."
    )
    low, high = "support_recall_difference_low", "support_recall_difference_high"
    return Analysis(name, title, asks + corrected, columns, rows, Plot(key, "support_recall_difference", "", low, high))


def _table(
    learned: Scores, others: Mapping[str, Scores], seed: int, key: str, describe: Callable[[str], str]
) -> list[Row]:
    tests = paired_tests({LEARNED: learned, **others}, seed)
    found = {(test.baseline, test.column): test for test in tests}
    rows = [_row(key, LEARNED, "nothing" if key == "ablation" else "trained here", learned, {})]
    for name, scores in others.items():
        rows.append(_row(key, name, describe(name), scores, {column: found[name, column] for column in TESTED}))
    return rows


def _row(key: str, name: str, what: str, scores: Scores, tests: Mapping[str, PairedTest]) -> Row:
    row: Row = {key: name, "what": what, **{mean: scores.mean(mean) for mean in _MEANS}}
    for column in TESTED:
        test = tests.get(column)
        empty = {f"{column}_difference{end}": None for end in ("", "_low", "_high")}
        row |= spread(f"{column}_difference", test.difference) if test else empty
        row[f"{column}_p_holm"] = test.p_holm if test else None
    return row
