"""What a fit on questions depends on."""

from __future__ import annotations

from collections.abc import Iterable

from ..data.records import Record, content_hash


def questions_hash(records: Iterable[Record]) -> str:
    """Return a hash of questions and their answers, in their order."""
    return content_hash(*(content_hash(r.uid, *(r.gold.answers if r.gold else ())) for r in records))
