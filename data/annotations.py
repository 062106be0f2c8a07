"""Whether questions are annotated well enough to learn from or to be measured on."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import ConfigError
from .records import Record
from .support_scores import supports_total


def is_annotated(record: Record) -> bool:
    """Say whether a question has an answer and support, or is known to be unanswerable; hidden tests have neither."""
    gold = record.gold
    return gold is not None and (not gold.answerable or (bool(gold.answers) and supports_total(gold) > 0))


def require_annotated(records: Iterable[Record], task: str) -> None:
    """Check that all questions are annotated.

    Args:
        records: the questions.
        task: what cannot be done without, such as "collect from".

    Raises:
        ConfigError: if some are not; the message names the first five.
    """
    if lacking := [record.id for record in records if not is_annotated(record)]:
        raise ConfigError(
            f"cannot {task} questions without gold (an answer and supporting facts), "
            f"found {len(lacking)}: {', '.join(lacking[:5])}"
        )
