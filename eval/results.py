"""Per-question results: one JSON line a question, appended as they come, read back to resume."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.errors import DataError
from ..data.records import Record
from ..data.storage import write_text
from ..envs.metrics import episode_metrics
from ..envs.rollout import Episode


def result_of(record: Record, episode: Episode) -> dict[str, Any]:
    """Return what is kept of an episode: answer, gold, metrics, operations, trace, costs. It holds no time of day."""
    state, gold = episode.final, record.gold
    answer = state.answer
    titles = {p.id: p.title for p in state.passages}
    kept: dict[str, Any] = {
        "uid": record.uid,
        "id": record.id,
        "question": record.question.text,
        "answer": answer.text if answer else "",
        "support": [[titles.get(i, i), s] for i, s in answer.support] if answer else [],
        "end": state.end,
        "operations": [step.operation for step in episode.steps],
        "passages": [[p.id, p.title] for p in state.passages],
        "cost": state.cost.as_dict(),
        "ledger": {name: cost.as_dict() for name, cost in state.ledger},
        "steps": [step.as_dict() for step in episode.steps],
    }
    if sources := {item.passage.id: item.source for item in state.held if item.source}:
        kept["sources"] = sources
    if state.failures:
        kept["failures"] = [[failure.operation, failure.reason] for failure in state.failures]
    if gold is not None:
        kept["gold"] = {
            "answers": list(gold.answers),
            "type": gold.type,
            "hops": gold.hops,
            "answerable": gold.answerable,
            "support": list(gold.support_titles if gold.match_support_by == "title" else gold.support_ids),
        }
        kept["metrics"] = episode_metrics(gold, state)
    return kept


def failures_of(results: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return how often each operation failed, those of the conclusion, ``compress`` and ``answer``, included."""
    return Counter(str(operation) for result in results for operation, _ in result.get("failures", ()))


def append_results(file: Path, results: Iterable[dict[str, Any]]) -> None:
    """Append results and make sure that they are on disk.

    Raises:
        DataError: if they cannot be written; what was complete stays.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            for result in results:
                out.write(_line(result))
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise DataError(f"cannot write ({error.strerror}); results before this batch are kept", file) from error


def write_results(file: Path, results: Iterable[dict[str, Any]]) -> None:
    """Write results anew, whole or not at all.

    Raises:
        DataError: if they cannot be written; the file is then unchanged.
    """
    write_text(file, "".join(map(_line, results)))


def _line(result: dict[str, Any]) -> str:
    return json.dumps(result, ensure_ascii=False, sort_keys=True) + "\n"


def read_results(file: Path) -> list[dict[str, Any]]:
    """Read results; a torn last line, which a killed run leaves, is cut off the file.

    Raises:
        DataError: if the file cannot be read, or another line is damaged.
    """
    if not file.exists():
        return []
    try:
        content = file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with file.open("r+b") as out:
                out.truncate(len(whole))
    except OSError as error:
        raise DataError(f"cannot be read or mended ({error.strerror})", file) from error
    return [_result(line, file, number) for number, line in enumerate(whole.splitlines(), 1)]


def _result(line: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        result = json.loads(line)
        if not isinstance(result, dict) or "uid" not in result:
            raise ValueError("not the result of a question")
        lacking = [key for key in ("cost", "metrics") if "gold" in result and key not in result]
        if lacking:
            raise ValueError(f"it has no {' and no '.join(lacking)}")
    except ValueError as error:
        raise DataError(
            f"damaged line ({error}); delete it to have its question evaluated again", file, number
        ) from error
    return result
