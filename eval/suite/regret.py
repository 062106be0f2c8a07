"""What each decision of the learned controller costs against the oracle planner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import ConfigError
from ...data.records import Gold, Record
from ...data.support_scores import support_recall
from ...envs.rollout import Episode, rollout
from ..analysis import Analysis, Plot, Row, spread, spread_columns
from ..oracle import attainable
from ..results import append_results, read_results
from ..statistics import bootstrap_columns
from .contender import Contender
from .protocols import TITLES

BATCH = 8
Regrets = Sequence[dict[str, Any]]


def measure_regret(
    contender: Contender, file: Path, progress: Callable[[int], None] | None = None, batch: int = BATCH
) -> Regrets:
    """Return one line a question, in their order: operations, ``recall`` and ``bound`` of each state, first to last.

    The bound of a state is the highest support recall that the oracle's search reaches from there, or from any later
    state of the episode if that is more. What ``file`` holds already is not measured again.

    Raises:
        ConfigError: if the contender has no policy.
        DataError: if the file is damaged or cannot be written; the same call goes on from there.
    """
    if contender.policy is None:
        raise ConfigError("regret is that of a policy; the oracle has none")
    done = {line["uid"] for line in read_results(file)}
    todo = [record for record in contender.records if record.uid not in done]
    if progress:
        progress(len(done))
    for first in range(0, len(todo), batch):
        lines = _measured(contender, todo[first : first + batch])
        append_results(file, lines)
        if progress:
            progress(len(lines))
    found = {line["uid"]: line for line in read_results(file)}
    return [found[record.uid] for record in contender.records]


def _measured(contender: Contender, records: Sequence[Record]) -> list[dict[str, Any]]:
    rules, engine, policy = contender.method.rules, contender.engine, contender.policy
    if policy is None:
        return []
    episodes = rollout([record.question for record in records], rules, engine, policy)
    golds = [record.gold for record in records if record.gold is not None]
    pairs = [(gold, state) for gold, episode in zip(golds, episodes) for state in episode.states]
    bounds = iter(attainable([state for _, state in pairs], [gold for gold, _ in pairs], rules, engine))
    return [_line(record, gold, episode, bounds) for record, gold, episode in zip(records, golds, episodes)]


def _line(record: Record, gold: Gold, episode: Episode, bounds: Iterator[float]) -> dict[str, Any]:
    """Return the line of one episode; ``bounds`` gives those of its states next."""
    found = [next(bounds) for _ in episode.states]
    lifted = np.maximum.accumulate(found[::-1])[::-1].tolist()
    return {
        "uid": record.uid,
        "id": record.id,
        "end": episode.final.end,
        "operations": [step.operation for step in episode.steps],
        "recall": [support_recall(gold, state.passages) for state in episode.states],
        "bound": lifted,
        "retrievals": [state.retrievals for state in episode.states],
    }


def regret_table(protocol: str, regrets: Regrets, seed: int = 0) -> Analysis:
    """Return the mean regret in all, by step and by operation."""
    total = np.array([line["bound"][0] - line["recall"][-1] for line in regrets])
    rows = [_row("whole episodes", total, seed)]
    by_step: dict[int, list[float]] = {}
    by_operation: dict[str, list[float]] = {}
    for line in regrets:
        for step, (operation, lost) in enumerate(zip(line["operations"], _losses(line)), 1):
            by_step.setdefault(step, []).append(lost)
            by_operation.setdefault(operation, []).append(lost)
    rows += [_row(f"step {step}", np.array(lost), seed) for step, lost in sorted(by_step.items())]
    rows += [_row(operation, np.array(lost), seed) for operation, lost in sorted(by_operation.items())]
    columns = [("decision", "decision"), ("decisions", "number"), *spread_columns("regret", "regret")]
    columns += [("wrong", "share with regret")]
    asks = (
        f"Which decisions lose support that was within reach? On {len(regrets)} questions: the bound of a state is the "
        "support recall that the oracle planner (beam of 8, sees the gold support) still reaches from it in the steps "
        "left; the regret of a decision is the bound before it less the bound after it, so the regrets of an episode "
        "add up to the oracle's support recall less its own. 95 % bootstrap intervals over decisions. A beam is no "
        "exhaustive search: the true bound may be higher."
    )
    mean = float(np.mean([line["bound"][0] for line in regrets])) if regrets else None
    plot = Plot("decision", "regret", "", "regret_low", "regret_high")
    title = f"{TITLES[protocol].capitalize()}: regret against the oracle"
    return Analysis(f"regret_{protocol}", title, asks, columns, rows, plot, {"oracle's support recall": mean})


def _losses(line: dict[str, Any]) -> list[float]:
    """Return the regret of each decision of an episode."""
    bounds = line["bound"]
    return [before - after for before, after in pairwise(bounds)]


def _row(decision: str, lost: Any, seed: int) -> Row:
    [interval] = bootstrap_columns(lost[:, None].astype(np.float64), seed)
    wrong = float((lost > 1e-9).mean()) if len(lost) else None
    return {"decision": decision, "decisions": len(lost), **spread("regret", interval), "wrong": wrong}
