"""The outcome of scoring predictions, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .type_accuracy import TypeAccuracy, format_types, types_object


@dataclass(frozen=True, slots=True)
class Scores:
    """Official metrics over a gold file.

    Attributes:
        dataset: the benchmark.
        questions: how many questions the gold file holds.
        metrics: means under the official names, as unrounded fractions, in the order of the official scripts.
        missing: for each part of a prediction, the ids of the gold questions that lack it; each scored 0.
        extra: ids that are predicted but are not in the gold file; they count for nothing.
        unpaired: ids of MuSiQue-Full questions without their twin; the group metrics leave them out.
        types: accuracy by type of question, for PopQA and ARC.
    """

    dataset: str
    questions: int
    metrics: Mapping[str, float]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    unpaired: tuple[str, ...] = ()
    types: tuple[TypeAccuracy, ...] = ()

    def warnings(self) -> list[str]:
        """Return what to tell beside the metrics: a line for each missing part, then the extra and the unpaired ids.

        Empty when every gold question, and no other, is predicted.
        """
        lines = [f"missing {part} {key}" for part, ids in self.missing.items() for key in ids]
        lacking = sum(len(ids) for ids in self.missing.values())
        if lacking:
            lines.append(f"{lacking} missing in all, over {self.questions} questions; what is missing scored 0")
        if self.extra:
            lines.append(f"not in the gold file, ignored ({len(self.extra)}): {_some(self.extra)}")
        if self.unpaired:
            lines.append(
                f"without a twin, left out of the group metrics ({len(self.unpaired)}): {_some(self.unpaired)}"
            )
        return lines


def mean_scores(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric, added in the order of the rows as the official scripts do; empty without rows."""
    return {name: _total(row[name] for row in rows) / len(rows) for name in (rows[0] if rows else ())}


def _total(values: Iterable[float]) -> float:
    """Add from left to right (``sum`` compensates for rounding from Python 3.12 on, the official scripts do not)."""
    total = 0.0
    for value in values:
        total += value
    return total


def format_scores(scores: Scores) -> str:
    """Return one line a metric, its name and its mean, as an unrounded fraction, and the table by type, if any."""
    width = max(map(len, scores.metrics))
    lines = "".join(f"{name:<{width}}  {value!r}\n" for name, value in scores.metrics.items())
    return f"{lines}\n{format_types(scores.types)}" if scores.types else lines


def _some(ids: Sequence[str], most: int = 5) -> str:
    return ", ".join(ids[:most]) + (", ..." if len(ids) > most else "")


def to_json(scores: Scores) -> str:
    """Return the metrics as one JSON object, ``{name: fraction}``, as the official scripts print them.

    For PopQA and ARC it has ``accuracy_by_type`` besides.
    """
    by_type = {"accuracy_by_type": types_object(scores.types)} if scores.types else {}
    return json.dumps(dict(scores.metrics) | by_type, indent=4) + "\n"
