"""A calibration as it is stored with an evaluator, as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def calibration_table(stored: Mapping[str, Any]) -> str:
    """Return thresholds, criterion and what was measured as Markdown.

    Args:
        stored: the entry ``thresholds`` of an evaluator's manifest.
    """
    lines = [f"upper {stored['upper']:+.3f}, lower {stored['lower']:+.3f}: {stored.get('criterion', 'given')}", ""]
    if stored.get("out_of_fold"):
        lines += ["Measured on evidence of the train questions, each scored by a model that had not seen it.", ""]
    lines += ["| type | verdict | cases | share | accuracy | support recall |", "|---|---|--:|---|---|--:|"]
    for row in stored.get("measured", ()):
        shares = [_interval(row[name]) for name in ("share", "accuracy")]
        recall = "-" if row["support_recall"] is None else f"{row['support_recall']:.3f}"
        lines.append(
            f"| {row['type'] or 'all'} | {row['verdict']} | {row['cases']} | {' | '.join(shares)} | {recall} |"
        )
    return "\n".join(lines) + "\n"


def _interval(values: list[float | None]) -> str:
    share, low, high = values
    return "-" if share is None or low is None or high is None else f"{share:.3f} [{low:.3f}, {high:.3f}]"
