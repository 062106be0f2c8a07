"""The passages that are searched: those of a benchmark's questions pooled, or a user's own files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import fields
from .documents import passages_of
from .errors import DataError
from .fields import Raw
from .files import read_items, read_text
from .records import Passage, Record, content_hash
from .text import split_sentences

JSON_LINES = (".jsonl", ".jsonl.gz")
DOCUMENTS = (".txt", ".md")
SOURCE_TYPE = "source_type"
SUFFIXES = JSON_LINES + DOCUMENTS
"""The endings of the files that a corpus is read from, upper or lower case."""


def pooled(records: Iterable[Record]) -> list[Passage]:
    """Return the union of the records' contexts, de-duplicated and sorted by passage id.

    The order of the records does not matter: of passages with one id and other sentence borders, the finer one is kept.
    """
    return _distinct(passage for record in records for passage in record.context)


def read_corpus(path: Path) -> list[Passage]:
    """Read a user's corpus: passages, de-duplicated and sorted by id.

    Args:
        path: a file, or a folder that is searched with its subfolders (names that start with a dot are left out). A
            ``.jsonl`` or ``.jsonl.gz`` file holds a passage a line: ``title``, ``text`` and, where wanted,
            ``sentences``, a list that cuts the same text; other fields are ignored. A ``.txt`` or ``.md`` file is cut
            into passages of at most 120 words (see ``documents.passages_of``).

    Raises:
        DataError: if the path is missing, nothing in it can be read as a corpus, a file cannot be read or is not UTF-8,
            a line is not such an object (the message gives file and line), or there is no passage in all of it.
    """
    files = _files(path)
    passages = _distinct(passage for file in files for passage in _passages(file))
    if not passages:
        raise DataError(f"the corpus is empty: {len(files)} file(s) read, no passage found", path)
    return passages


def read_source_types(path: Path) -> dict[str, str]:
    """Return the types of source that a user's corpus states, by passage id, sorted.

    Args:
        path: what :func:`read_corpus` reads. A line of a ``.jsonl`` or ``.jsonl.gz`` file may name its type of source
            as ``source_type``, such as "blog"; lines without it, and other files, state none.

    Raises:
        DataError: as :func:`read_corpus`, and if a ``source_type`` is no text or blank, or one passage is given
            another type than before (the message gives file, line and key).
    """
    found: dict[str, str] = {}
    for file in _files(path):
        if file.name.lower().endswith(JSON_LINES):
            for number, raw in read_items(file):
                try:
                    _note_type(raw, found)
                except DataError as error:
                    raise DataError(str(error), file, number) from error
    return dict(sorted(found.items()))


def _note_type(raw: Raw, found: dict[str, str]) -> None:
    if raw.get(SOURCE_TYPE) is None:
        return
    stated = fields.required(raw, SOURCE_TYPE, str).strip()
    if not stated:
        raise DataError(f"{SOURCE_TYPE!r} is blank: name a type of source, or leave the field out")
    known = found.setdefault(_passage(raw).id, stated)
    if known != stated:
        raise DataError(f"{SOURCE_TYPE!r} is {stated!r}, but the same passage was {known!r} before: give it one type")


def corpus_fingerprint(passages: Iterable[Passage]) -> str:
    """Return 16 hexadecimal digits that depend on nothing but the set of passage ids."""
    return content_hash("corpus", *sorted({passage.id for passage in passages}))


def _distinct(passages: Iterable[Passage]) -> list[Passage]:
    kept: dict[str, Passage] = {}
    for passage in passages:
        other = kept.setdefault(passage.id, passage)
        if other is not passage and _fineness(passage) > _fineness(other):
            kept[passage.id] = passage
    return [kept[key] for key in sorted(kept)]


def _fineness(passage: Passage) -> tuple[int, tuple[str, ...], str]:
    return len(passage.sentences), passage.sentences, passage.title


def _files(path: Path) -> list[Path]:
    """Return the files to read, in an order that does not depend on the machine."""
    if path.is_file():
        if not _is_read(path):
            raise DataError(f"expected a file ending in {', '.join(SUFFIXES)} or a folder of such files", path)
        return [path]
    if not path.is_dir():
        raise DataError("there is no such file or folder; check the path", path)
    files = sorted(_walk(path), key=lambda file: file.relative_to(path).parts)
    if not files:
        raise DataError(f"the folder holds no file ending in {', '.join(SUFFIXES)}", path)
    return files


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and _is_read(Path(name)):
                yield Path(place) / name


def _refuse(error: OSError) -> None:
    raise DataError(f"cannot be read ({error.strerror or error})", error.filename) from error


def _is_read(file: Path) -> bool:
    return file.name.lower().endswith(SUFFIXES)


def _passages(file: Path) -> Iterator[Passage]:
    if not file.name.lower().endswith(JSON_LINES):
        yield from passages_of(read_text(file), file.stem)
        return
    for number, raw in read_items(file):
        try:
            yield _passage(raw)
        except DataError as error:
            raise DataError(str(error), file, number) from error


def _passage(raw: Raw) -> Passage:
    title = fields.required(raw, "title", str)
    text = fields.required(raw, "text", str)
    if not title.strip() and not text.strip():
        raise DataError("'title' and 'text' are both empty")
    if raw.get("sentences") is None:
        return Passage.of(title, split_sentences(text))
    sentences = fields.texts(raw["sentences"], "'sentences'")
    if "".join("".join(sentences).split()) != "".join(text.split()):
        raise DataError("'sentences' must hold the words of 'text', found other words")
    return Passage.of(title, sentences)
