"""A calibration as it is stored with an evaluator, as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NEARLY_ALL = 0.98


def calibration_table(stored: Mapping[str, Any]) -> str:
    """Return thresholds, criterion and what was measured as Markdown.

    Args:
        stored: the entry ``thresholds`` of an evaluator's manifest.
    """
    lines = [f"upper {stored['upper']:+.3f}, lower {stored['lower']:+.3f}: {stored.get('criterion', 'given')}", ""]
    if stored.get("out_of_fold"):
        lines += ["Measured on evidence of the train questions, each scored by a model that had not seen it.", ""]
    lines += ["| type | verdict | cases | share | accuracy | support recall |", "|---|---|--:|---|---|--:|"]
    verdict = ""
    for row in stored.get("measured", ()):
        shares = [_interval(row[name]) for name in ("share", "accuracy")]
        recall = "-" if row["support_recall"] is None else f"{row['support_recall']:.3f}"
        if not row["type"] and row["share"][0] and row["share"][0] > _NEARLY_ALL:
            verdict = str(row["verdict"])
        lines.append(
            f"| {row['type'] or 'all'} | {row['verdict']} | {row['cases']} | {' | '.join(shares)} | {recall} |"
        )
    if verdict:
        lines += [
            "",
            f"Nearly every verdict is {verdict}, so a gate with these thresholds decides "
            "next to nothing; another meaning of correct (`correct_means: complete`) or other error rates may.",
        ]
    return "\n".join(lines) + "\n"


def _interval(values: list[float | None]) -> str:
    share, low, high = values
    return "-" if share is None or low is None or high is None else f"{share:.3f} [{low:.3f}, {high:.3f}]"
