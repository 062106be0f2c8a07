"""First-stop analysis: does the learned controller stop too early, or too late?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis import Analysis, Row
from .protocols import TITLES
from .regret import Regrets

EARLY = "too early"
ON_TIME = "on time"
LATE = "too late"
HOPELESS = "nothing within reach"
_NEAR = 1e-9


def stop_of(line: dict[str, Any]) -> str:
    """Return how an episode ended, from what :func:`.regret.measure_regret` noted.

    An episode is complete from the first state on that holds as much as the oracle can still reach from it. It ended
    too early if it stopped before, on time if it ended there, too late if it went on for at least one step. Where
    nothing was within reach from the beginning, no end is better than another.
    """
    if line["bound"][0] <= _NEAR:
        return HOPELESS
    if line["end"] == "stop" and line["bound"][-2] - line["recall"][-2] > _NEAR:
        return EARLY
    return LATE if steps_after(line) else ON_TIME


def complete_at(line: dict[str, Any]) -> int:
    """Return the number of the first state that holds as much as can still be reached from it."""
    return next(t for t, (bound, recall) in enumerate(zip(line["bound"], line["recall"])) if bound - recall <= _NEAR)


def steps_after(line: dict[str, Any]) -> int:
    """Return how many operations other than ``stop_answer`` ran after the episode was complete."""
    return sum(operation != "stop_answer" for operation in line["operations"][complete_at(line) :])


def stop_table(protocol: str, regrets: Regrets) -> Analysis:
    """Return how many episodes stopped too early, on time, too late, and what that cost."""
    ends = [stop_of(line) for line in regrets]
    rows = [
        _row(name, [line for line, end in zip(regrets, ends) if end == name], len(regrets))
        for name in (EARLY, ON_TIME, LATE, HOPELESS)
    ]
    columns = [("end", "episodes that ended"), ("questions", "questions"), ("share", "share"), ("capped", "by a cap")]
    columns += [("recall", "support recall"), ("lost", "support recall lost by stopping")]
    columns += [("retrievals", "retrievals"), ("spared", "retrievals after completion")]
    asks = (
        f"When does the learned controller end its {len(regrets)} episodes? An episode is complete from the first "
        "state on that holds as much support as the oracle can still reach from it. Too early: it stopped before. On "
        "time: it ended there. Too late: it went on. Hindsight: no controller knows what is within reach."
    )
    title = f"{TITLES[protocol].capitalize()}: first stop"
    return Analysis(f"stops_{protocol}", title, asks, columns, rows)


def _row(name: str, lines: Regrets, questions: int) -> Row:
    row: Row = {"end": name, "questions": len(lines), "share": len(lines) / questions if questions else None}
    if not lines:
        return row | dict.fromkeys(["capped", "recall", "lost", "retrievals", "spared"])
    means = {
        "capped": [line["end"] == "cap" for line in lines],
        "recall": [line["recall"][-1] for line in lines],
        "lost": [line["bound"][-2] - line["recall"][-2] if line["end"] == "stop" else 0.0 for line in lines],
        "retrievals": [line["retrievals"][-1] for line in lines],
        "spared": [line["retrievals"][-1] - line["retrievals"][complete_at(line)] for line in lines],
    }
    return row | {key: float(np.mean(values)) for key, values in means.items()}
