"""Tables of text with a head line: tab-separated or comma-separated values, plain or gzip."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from .errors import DataError
from .files import Item, parse_each, read_text

T = TypeVar("T")


def read_rows(file: Path) -> Iterator[Item]:
    """Yield each row as an object of strings under the names of the head line, with the number of its last line.

    Tabs separate where the head line has one, else commas. Cells may be quoted as spreadsheets do; blank lines are
    skipped, and an empty file yields nothing.

    Raises:
        DataError: if the file cannot be read, a name stands twice in the head line, or a row is not as long as it; the
            message gives the file and the line.
    """
    text = read_text(file)
    head, _, _ = text.partition("\n")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",", strict=True)
    try:
        yield from _rows(rows, file)
    except csv.Error as error:
        raise DataError(f"not a table: {error}", file, rows.line_num) from error


def _rows(rows: Any, file: Path) -> Iterator[Item]:
    names = [name.strip() for name in next(rows, [])]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"the head line must name each column once, found {', '.join(map(repr, twice))} twice", file, 1)
    for cells in rows:
        if cells and len(cells) != len(names):
            raise DataError(f"expected {len(names)} cells as in the head line, found {len(cells)}", file, rows.line_num)
        if cells:
            yield Item(rows.line_num, dict(zip(names, cells)))


def parse_rows(file: Path, parse: Callable[[dict[str, Any]], T], what: str = "rows") -> list[T]:
    """Return what ``parse`` makes of each row, as :func:`.files.parse_items` does for JSON.

    Args:
        file: the file.
        parse: turns a row into a value, or raises a ``DataError`` that knows neither file nor line.
        what: what an empty file lacks, for the message.

    Raises:
        DataError: if the file is not such a table, holds no row, or ``parse`` refuses one; the message gives the file
            and the line.
    """
    return parse_each(read_rows(file), file, parse, what)
