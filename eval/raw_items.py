"""Raw records of official files, parsed one by one, so that every fault names the file and the record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ..data.errors import DataError
from ..data.fields import Raw
from ..data.files import read_items

T = TypeVar("T")


def parse_items(file: Path, parse: Callable[[Raw], T]) -> list[T]:
    """Return what ``parse`` makes of each record of a JSON list or of JSON lines, plain or gzip.

    Raises:
        DataError: if the file cannot be read or holds no record, or if ``parse`` refuses one; the message gives the
            file and the record.
    """
    parsed = []
    for number, raw in read_items(file):
        try:
            parsed.append(parse(raw))
        except DataError as error:
            raise DataError(str(error), file, number) from error
    if not parsed:
        raise DataError("expected records, found none", file)
    return parsed
