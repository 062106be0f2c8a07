"""Splits by a hash of the record id: stable, seeded, and not moved by other records coming or going."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .errors import ConfigError
from .records import Record, content_hash

_RANGE = 1 << 64


def fold_of(record_id: str, n_folds: int, seed: int) -> int:
    """Return the fold of a record, in [0, n_folds); records that share an id share a fold.

    Raises:
        ConfigError: if ``n_folds`` is below 1.
    """
    if n_folds < 1:
        raise ConfigError(f"the number of folds must be at least 1, found {n_folds}")
    return _number("fold", record_id, seed) * n_folds // _RANGE


def split(records: Iterable[Record], fractions: Mapping[str, float], seed: int) -> dict[str, list[Record]]:
    """Divide records into named parts by a hash of their ids; each part keeps the order of ``records``.

    Args:
        records: the records; those that share an id go to the same part.
        fractions: expected share of each part, in [0, 1], together 1; the order of the names matters.
        seed: another seed gives another division.

    Raises:
        ConfigError: if there is no part, a share is out of range, or the shares do not add up to 1.
    """
    _check(fractions)
    parts: dict[str, list[Record]] = {name: [] for name in fractions}
    for record in records:
        parts[_part(_number("split", record.id, seed) / _RANGE, fractions)].append(record)
    return parts


def _number(purpose: str, record_id: str, seed: int) -> int:
    """Return a whole number in [0, 2**64), independent between purposes."""
    return int(content_hash(purpose, str(seed), record_id), 16)


def _part(position: float, fractions: Mapping[str, float]) -> str:
    bound = 0.0
    chosen = ""
    for name, fraction in fractions.items():
        bound += fraction
        if fraction > 0:
            chosen = name  # the last part with a share takes what rounding leaves
            if position < bound:
                break
    return chosen


def _check(fractions: Mapping[str, float]) -> None:
    if not fractions:
        raise ConfigError("a split needs at least one part, for example {'train': 0.9, 'validation': 0.1}")
    for name, fraction in fractions.items():
        if not 0 <= fraction <= 1:  # also refuses not-a-number
            raise ConfigError(f"the share of {name!r} must be between 0 and 1, found {fraction}")
    total = sum(fractions.values())
    if abs(total - 1) > 1e-9:
        raise ConfigError(f"the shares must add up to 1, found {total} from {dict(fractions)}")
