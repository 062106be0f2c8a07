"""Opening data files: plain or gzip, a JSON list or JSON lines; faults are ``DataError`` with file and record."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar, cast

from .errors import DataError

T = TypeVar("T")

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"[ \t\r\n]*")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder()


class Item(NamedTuple):
    """A JSON object and its record number in the file, from 1 (the line number in a file of JSON lines)."""

    number: int
    value: dict[str, Any]


class _Line(NamedTuple):
    number: int
    offset: int
    data: bytes


def read_text(file: Path) -> str:
    """Return the text of a UTF-8 file, plain or gzip, without a byte-order mark.

    Raises:
        DataError: if the file cannot be read or is not UTF-8 (the message gives the byte position).
    """
    with _opened(file) as stream:
        return _decoded(stream.read(), file).removeprefix("\ufeff")


def read_items(file: Path) -> Iterator[Item]:
    """Yield the objects of a JSON list or of JSON lines; list or lines, plain or gzip are told from the content.

    Blank lines are skipped, and an empty file yields nothing. Lines are read one at a time; a list is held as one text.

    Raises:
        DataError: if the file cannot be read, is cut off, is not UTF-8, is not JSON, or holds anything but objects; the
            message gives the file and the record number.
    """
    with _opened(file) as stream:
        lines = _lines(stream)
        first = next(lines, None)
        if first is None:
            return
        if not first.data.lstrip().startswith(b"["):
            yield from (_line_item(line, file) for line in chain([first], lines))
            return
        text = _decoded(first.data + stream.read(), file, first.offset)
        del first  # the bytes of a list of half a gigabyte
        yield from _list_items(text, file)


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked where it is gzip, and turn the errors of reading it into DataError."""
    try:
        with file.open("rb") as raw:
            if raw.peek(2)[:2] == _GZIP_MAGIC:
                with gzip.open(raw) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield raw
    except FileNotFoundError as error:
        raise DataError("there is no such file; check the path", file) from error
    except IsADirectoryError as error:
        raise DataError("expected a file, found a folder", file) from error
    except EOFError as error:
        raise DataError("the gzip file is cut off; download or copy it again", file) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"the gzip file is damaged ({error}); download or copy it again", file) from error
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", file) from error


def _lines(stream: IO[bytes]) -> Iterator[_Line]:
    """Yield the lines that are not blank; only ``\\n`` ends a line, since JSON strings may hold other separators."""
    offset = 0
    for number, data in enumerate(stream, 1):
        kept = data.removeprefix(_BOM) if number == 1 else data
        if kept.strip():
            yield _Line(number, offset + len(data) - len(kept), kept)
        offset += len(data)


def _line_item(line: _Line, file: Path) -> Item:
    text = _decoded(line.data, file, line.offset, line.number)
    value, end = _value(text, _skip(text, 0), file, line.number)
    if _skip(text, end) != len(text):
        raise DataError(f"expected one JSON object a line, found more after character {end}", file, line.number)
    return Item(line.number, value)


def _list_items(text: str, file: Path) -> Iterator[Item]:
    """Decode one element after the other, so that a fault has a record number."""
    at = _skip(text, text.index("[") + 1)
    number = 0
    closed = text.startswith("]", at)
    while not closed:
        number += 1
        value, at = _value(text, at, file, number)
        yield Item(number, value)
        at = _skip(text, at)
        closed = text.startswith("]", at)
        if not closed:
            if not text.startswith(",", at):
                raise DataError(_cut_off(f"expected ',' or ']' after the record, at character {at}"), file, number)
            at = _skip(text, at + 1)
    if _skip(text, at + 1) != len(text):
        raise DataError(f"expected nothing after the end of the JSON list, at character {at}", file)


def _value(text: str, at: int, file: Path, number: int) -> tuple[dict[str, Any], int]:
    """Decode the JSON object that starts at ``at``; return it and the position after it."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise DataError(_cut_off(f"not valid JSON: {error.msg} at character {error.pos}"), file, number) from error
    except (RecursionError, ValueError) as error:
        raise DataError(f"JSON that cannot be decoded: {error}", file, number) from error
    if not isinstance(value, dict):
        raise DataError(f"expected a JSON object, found {text[at : min(end, at + 60)]!r}", file, number)
    if _SURROGATE_ESCAPE.search(text, at, end):
        _refuse_half_pairs(value, file, number)
    return value, end


def _refuse_half_pairs(value: dict[str, Any], file: Path, number: int) -> None:
    """Refuse text that no output file could hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"half of a surrogate pair, which is no character: {error}", file, number) from error


def _decoded(data: bytes, file: Path, offset: int = 0, number: int | None = None) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = offset + error.start
        raise DataError(
            f"not UTF-8: byte {at} is 0x{data[error.start]:02x} ({error.reason}); save the file as UTF-8", file, number
        ) from error


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return at if match is None else match.end()


def _cut_off(message: str) -> str:
    return f"{message} (is the file complete?)"


def parse_items(file: Path, parse: Callable[[dict[str, Any]], T], what: str = "records") -> list[T]:
    """Return what ``parse`` makes of each object of a JSON list or of JSON lines, plain or gzip.

    Args:
        file: the file.
        parse: turns an object into a value, or raises a ``DataError`` that knows neither file nor record.
        what: what an empty file lacks, for the message.

    Raises:
        DataError: if the file cannot be read or holds no object, or if ``parse`` refuses one; the message gives the
            file and the record.
    """
    return parse_each(read_items(file), file, parse, what)


def parse_each(items: Iterable[Item], file: Path, parse: Callable[[dict[str, Any]], T], what: str) -> list[T]:
    """Return what ``parse`` makes of each of a file's items, see :func:`parse_items`."""
    parsed = []
    for number, raw in items:
        try:
            parsed.append(parse(raw))
        except DataError as error:
            raise DataError(str(error), file, number) from error
    if not parsed:
        raise DataError(f"expected {what}, found none", file)
    return parsed
