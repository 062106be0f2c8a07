"""The oracle planner beside the methods, on the questions that it ran on."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis import Analysis, Row, spread, spread_columns
from ..protocols import LEARNED
from ..statistics import bootstrap_columns
from .protocols import TITLES
from .scores import COLUMNS, Scores
from .slices import best_baseline

_SHOWN = ("support_recall", "answer_f1", "retrievals")


def bound_table(oracle: Mapping[str, Scores], methods: Mapping[str, Mapping[str, Scores]], seed: int = 0) -> Analysis:
    """Return oracle, learned controller and best baseline under each protocol, on the oracle's questions.

    Args:
        oracle: protocol -> its scores.
        methods: protocol -> method -> scores on these questions at least.
        seed: of the bootstrap.
    """
    rows: list[Row] = []
    for protocol, bound in oracle.items():
        same = {name: scores.on(bound.uids) for name, scores in methods.get(protocol, {}).items()}
        shown = {"oracle": bound, **{name: same[name] for name in (LEARNED, best_baseline(same)) if name in same}}
        rows += [_row(protocol, name, scores, seed) for name, scores in shown.items()]
    columns = [("protocol", "protocol"), ("method", "method"), ("questions", "questions")]
    columns += [part for name in _SHOWN for part in spread_columns(name, COLUMNS[name])]
    asks = (
        "How far is the bound? The oracle sees the gold support and searches with a beam of eight paths for the most "
        "of it at the least cost, with the run's ranker: no system. The baseline is that of the highest support recall "
        "on these questions."
    )
    return Analysis("oracle", "Oracle", asks, columns, rows)


def _row(protocol: str, name: str, scores: Scores, seed: int) -> Row:
    row: Row = {"protocol": TITLES.get(protocol, protocol), "method": name, "questions": len(scores.uids)}
    for column, interval in zip(_SHOWN, bootstrap_columns(scores.columns(_SHOWN), seed)):
        row |= spread(column, interval)
    return row
