"""Runs methods on questions, resumable per question."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..actions.workers import Sent, Workers
from ..data.errors import ManifestMismatchError
from ..data.records import Record
from ..data.storage import MANIFEST, differing, read_manifest, to_json, write_text
from ..envs.rollout import Policy, rollout
from .oracle import plan
from .results import append_results, read_results, result_of, write_results

KIND = "evaluation"
ORACLE = "oracle"


@dataclass(frozen=True, slots=True)
class Method:
    """A method under comparison.

    Attributes:
        name: what the table calls it.
        rules: operations and caps.
        policy: chooses operations; None for the oracle planner.
    """

    name: str
    rules: Rules
    policy: Policy | None = None


def open_evaluation(folder: Path, manifest: dict[str, Any]) -> None:
    """Begin or resume an evaluation in ``folder``.

    Raises:
        ManifestMismatchError: if it holds an evaluation made otherwise.
        DataError: if it cannot be written.
    """
    wanted = {"kind": KIND, **manifest}
    if not (folder / MANIFEST).exists():
        if next(folder.rglob("*.jsonl"), None):
            raise ManifestMismatchError(f"{folder}: holds results without {MANIFEST}; delete it or use another folder")
        write_text(folder / MANIFEST, to_json(wanted))
        return
    if other := differing(read_manifest(folder, KIND), wanted):
        raise ManifestMismatchError(
            f"{folder}: holds an evaluation with another {', '.join(other)}; use another folder or delete this one"
        )


def evaluate(
    method: Method,
    records: Sequence[Record],
    engine: Engine,
    file: Path,
    batch: int = 64,
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
) -> list[dict[str, Any]]:
    """Run a method on every question that ``file`` does not hold yet.

    Seconds go to a neighbouring ``.timings.jsonl``, so that the results of one seed are the same bytes.

    Returns:
        The results of all questions, in the order of ``records``.

    Raises:
        DataError: if the file is damaged or cannot be written; what was complete stays, the same call resumes.
        BackendUnavailableError: if the workers cannot be had or are lost; likewise.
    """
    done = {result["uid"] for result in read_results(file)}
    todo = [record for record in records if record.uid not in done]
    finished = len(records) - len(todo)
    for size in run_on(method, todo, engine, file, batch, workers):
        finished += size
        if progress:
            progress(finished, len(records))
    found = read_results(file)
    by_id = {result["uid"]: result for result in found}
    ordered = [by_id[record.uid] for record in records]
    if [result["uid"] for result in found] != [record.uid for record in records]:
        write_results(file, ordered)
    return ordered


def run_on(
    method: Method,
    records: Sequence[Record],
    engine: Engine,
    file: Path,
    batch: int = 64,
    workers: Workers | None = None,
) -> Iterator[int]:
    """Run a method on questions that ``file`` does not hold, append the results, and yield the size of each batch.

    Raises:
        DataError: if the file cannot be written.
        BackendUnavailableError: if the workers cannot be had or are lost.
    """
    groups = [records[first : first + batch] for first in range(0, len(records), batch)]
    crew = workers or Workers()
    run = Sent((method, engine))
    tasks = ((run, group, crew.here) for group in groups)
    for group, (results, seconds) in zip(groups, crew.map(_timed, tasks)):
        append_results(file, results)
        _note_time(file, group, seconds)
        yield len(group)


def run_method(method: Method, records: Sequence[Record], engine: Engine) -> list[dict[str, Any]]:
    """Return the results of a method on some questions, in their order."""
    if method.policy is None:
        episodes = plan(records, method.rules, engine)
    else:
        questions = [record.question for record in records]
        episodes = rollout(questions, method.rules, engine, method.policy)
    return [result_of(record, episode) for record, episode in zip(records, episodes)]


def _timed(
    run: Sent[tuple[Method, Engine]], records: Sequence[Record], here: bool
) -> tuple[list[dict[str, Any]], float]:
    begun = time.perf_counter()
    method, engine = run.value
    return run_method(method, records, engine if here else engine.fresh()), time.perf_counter() - begun


def _note_time(file: Path, group: Sequence[Record], seconds: float) -> None:
    note = {"first": group[0].id, "questions": len(group), "seconds": round(seconds, 6)}
    append_results(file.with_suffix(".timings.jsonl"), [note])
