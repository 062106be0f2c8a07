"""What a tracker is told of a run: read from the files of its folder, so that it depends on nothing but them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..actions.costs import COST_NAMES
from ..data.errors import ConfigError
from ..data.records import content_hash
from ..data.storage import MANIFEST
from ..data.versions import versions
from ..envs.settings import TaskSettings
from .local_tracker import Tracker
from .parts import ROWS
from .tracking import Kind, Mode, Trackers, tracked

EPISODES = 100
EPISODE_COLUMNS = (
    "question", "answer", "gold", "operations", "support recall", "F1", "retrievals", "tokens", "generator calls",
)  # fmt: skip
COST_COLUMNS = ("protocol", "method", "operation", "questions", *COST_NAMES)
_LONG = {"features", "feature_names", "expected_costs", "kind"}
_SCORES = ("out_of_bag", "validation", "scores")


class RunTracker:
    """Tells trackers of a run folder at the points where a command has finished something; it never fails.

    Args:
        trackers: who is told.
        run: the folder of the run.
        episodes: see :func:`track_evaluation`.
    """

    def __init__(self, trackers: Trackers, run: Path, episodes: int) -> None:
        self.trackers = trackers
        self._run = run
        self._episodes = episodes

    def training(self) -> None:
        """Note what was trained."""
        self.trackers.note(lambda trackers: track_training(trackers, self._run))

    def evaluation(self) -> None:
        """Note what was evaluated."""
        self.trackers.note(lambda trackers: track_evaluation(trackers, self._run / "evaluation", self._episodes))


@contextmanager
def tracked_run(
    run: Path,
    settings: TaskSettings,
    noted: Mapping[str, Any],
    kind: Kind = "none",
    mode: Mode | None = None,
    episodes: int = EPISODES,
) -> Iterator[RunTracker]:
    """Track a command that works on a run folder: its settings now, the rest when it is told.

    Args:
        run: the folder of the run.
        settings: the task.
        noted: further settings by name, dataclasses or plain values.
        kind: "none" for local files alone, or "wandb".
        mode: see :class:`.tracking.WandbTracker`.
        episodes: see :func:`track_evaluation`.

    Raises:
        BackendUnavailableError: if W&B is wanted and the extra is not installed.
        ConfigError: if ``episodes`` is negative.
    """
    if episodes < 0:
        raise ConfigError(f"tracking_episodes must be at least 0, found {episodes}")
    with tracked(run, kind, mode) as trackers:
        trackers.note(lambda trackers: track_settings(trackers, **_plain(settings), **noted))
        yield RunTracker(trackers, run, episodes)


def track_settings(tracker: Tracker, **settings: Any) -> None:
    """Note settings (dataclasses or plain values) and versions; of a path only the name, since folders differ."""
    tracker.config({**_plain(settings), "versions": versions()})


def track_training(tracker: Trackers, run: Path) -> None:
    """Note what ``train`` left: fingerprints, metrics of the rows, scores of the fit, controller and ranker."""
    controller = _read(run / "controller" / MANIFEST)
    collection = _read(run / "collection" / MANIFEST)
    tracker.config({"collection": _short(collection), "controller": _short(controller)})
    tracker.log({**_row_metrics(run / "collection" / ROWS), **_fit_scores(controller)})
    for name in ("controller", "ranker"):
        if (run / name / MANIFEST).exists():
            tracker.artifact(f"{name}-{controller.get('dataset', 'own')}", run / name, "model")


def track_evaluation(tracker: Trackers, folder: Path, episodes: int = EPISODES) -> None:
    """Note what ``evaluate`` left in its folder.

    Metrics are ``evaluation/PROTOCOL/METHOD/COLUMN``, with ``_low`` and ``_high`` for the ends of the 95 % interval.

    Args:
        tracker: who is told.
        folder: the folder of the evaluation.
        episodes: rows at most in the table of the compared controller's episodes, at free stopping. The sample is that
            of the smallest hashes of the question's id, so it is the same for every controller.
    """
    comparison = _read(folder / "comparison.json")
    protocols = {name: part for name, part in comparison.items() if "means" in part}
    tracker.config({"evaluation": _short(_read(folder / MANIFEST))})
    metrics = dict(_comparison_metrics(comparison, protocols))
    spent: list[list[Any]] = []
    for protocol, part in protocols.items():
        for method in part["means"]:
            costs = list(_operation_costs(_lines(folder / protocol / f"{method}.jsonl")))
            spent += [[protocol, method, *row] for row in costs]
            if method == part["reference"]:
                metrics.update(_cost_metrics(f"evaluation/{protocol}/{method}/operations", costs))
    tracker.log(_finite(metrics))
    tracker.table("operation_costs", COST_COLUMNS, spent)
    if "free" in protocols and episodes:
        results = _lines(folder / "free" / f"{protocols['free']['reference']}.jsonl")
        tracker.table("episodes", EPISODE_COLUMNS, [_episode(result) for result in sample(results, episodes)])


def sample(results: Sequence[Mapping[str, Any]], size: int) -> list[Mapping[str, Any]]:
    """Return at most ``size`` results, those of the smallest hashes of the question's id, in their order."""
    chosen = set(sorted((result["uid"] for result in results), key=lambda uid: (content_hash(uid), uid))[:size])
    return [result for result in results if result["uid"] in chosen]


def _row_metrics(file: Path) -> dict[str, float]:
    """Return counts, mean gains in support recall and mean costs of each operation that was tried."""
    means = ("gain", "new_documents", *COST_NAMES)
    wanted = ["question_id", "operation", "chosen", "support_recall", "support_recall_after", *means[1:]]
    rows = pq.read_table(file, columns=wanted)
    names = np.asarray(rows.column("operation").to_pylist(), dtype=object)
    columns = {name: np.asarray(rows.column(name).to_numpy(), np.float64) for name in wanted[2:]}
    columns["gain"] = columns["support_recall_after"] - columns["support_recall"]
    found = {"train/rows": float(rows.num_rows), "train/questions": float(len(_distinct(rows)))}
    for name in sorted(set(names.tolist())):
        own, key = names == name, f"train/operations/{name}"
        found[f"{key}/rows"] = float(own.sum())
        found[f"{key}/chosen"] = float(columns["chosen"][own].sum())
        found.update({f"{key}/mean_{kind}": float(columns[kind][own].mean()) for kind in means})
    return found


def _distinct(rows: pa.Table) -> set[str]:
    return set(rows.column("question_id").to_pylist())


def _fit_scores(manifest: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores that the fit noted in the controller's manifest; none where it noted none."""
    noted = {name: manifest[name] for name in _SCORES if name in manifest}
    return _finite(dict(_leaves("train/fit", noted)))


def _leaves(key: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{key}/{name}", inner)
    elif isinstance(value, int | float):
        yield key, float(value)


def _comparison_metrics(comparison: Mapping[str, Any], protocols: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for protocol, part in protocols.items():
        for method, columns in part["means"].items():
            yield from _intervals(f"evaluation/{protocol}/{method}", columns)
        for method, columns in part["differences"].items():
            yield from _intervals(f"evaluation/{protocol}/{part['reference']}_minus_{method}", columns)
    matched = comparison.get("matched", {}).get("support_recall", {})
    yield from _intervals("evaluation/matched/support_recall_minus", matched)


def _intervals(key: str, columns: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    for name, interval in columns.items():
        yield f"{key}/{name}", interval["mean"]
        yield f"{key}/{name}_low", interval["low"]
        yield f"{key}/{name}_high", interval["high"]


def _operation_costs(results: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """Yield operation, number of questions that paid for it, and its mean costs over all questions."""
    for name in sorted({name for result in results for name in result["ledger"]}):
        paid = [result["ledger"][name] for result in results if name in result["ledger"]]
        yield [name, len(paid), *(sum(cost[kind] for cost in paid) / len(results) for kind in COST_NAMES)]


def _cost_metrics(key: str, costs: Sequence[Sequence[Any]]) -> dict[str, float]:
    return {
        f"{key}/{name}/{kind}": float(value)
        for name, questions, *means in costs
        for kind, value in zip(("questions", *COST_NAMES), (questions, *means))
    }


def _episode(result: Mapping[str, Any]) -> list[Any]:
    cost, metrics, gold = result["cost"], result.get("metrics", {}), result.get("gold", {})
    return [
        result["question"],
        result["answer"],
        " | ".join(gold.get("answers", [])),
        " > ".join(result["operations"]),
        metrics.get("support_recall"),
        metrics.get("answer_f1"),
        cost["retrievals"],
        cost["prompt_tokens"] + cost["completion_tokens"],
        cost["generator_calls"],
    ]


def _finite(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items() if math.isfinite(value)}


def _short(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name not in _LONG}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.name if isinstance(value, Path) else value


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]
