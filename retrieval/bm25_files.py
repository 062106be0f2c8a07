"""The files of a saved BM25 index.

bm25s's own format is not used: it reads the whole vocabulary into memory, holds no passages by which to break ties, and
checks nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..data.errors import ConfigError, ManifestMismatchError
from ..data.folders import writing
from ..data.records import Passage
from .blobs import open_blob
from .bm25_settings import BM25Settings
from .index_files import open_array, save_array, seal, unseal
from .passages import StoredPassages, to_line
from .postings import Postings
from .titles import Titles
from .tokens import rules_fingerprint
from .vocabulary import Vocabulary

KIND = "BM25 index"
FORMAT = 3
LINES = "passages.jsonl"
"""One passage a line; each line has its own checksum, so that opening the index need not read the texts."""


class SavedIndex(NamedTuple):
    """What a folder holds."""

    passages: Sequence[Passage]
    titles: Titles
    vocabulary: Vocabulary
    postings: Postings
    settings: BM25Settings
    fingerprint: str


def write_index(folder: Path, index: SavedIndex) -> None:
    """Write an index folder, whole or not at all; the same index gives the same bytes."""
    with writing(folder, KIND) as new:
        _write_passages(new, index.passages)
        (new / "terms.txt").write_bytes(index.vocabulary.terms[:])
        save_array(new / "term_ends.npy", index.vocabulary.ends)
        save_array(new / "impacts.npy", index.postings.impacts)
        save_array(new / "numbers.npy", index.postings.numbers)
        save_array(new / "starts.npy", index.postings.starts)
        save_array(new / "title_hashes.npy", index.titles.hashes)
        save_array(new / "title_numbers.npy", index.titles.numbers)
        seal(new, _manifest(index))


def _manifest(index: SavedIndex) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": FORMAT,
        "rules": rules_fingerprint(),
        "fingerprint": index.fingerprint,
        "parameters": asdict(index.settings),
        "passages": len(index.passages),
        "terms": len(index.vocabulary),
        "postings": len(index.postings.numbers),
        "versions": {"evidencegym": __version__, "bm25s": version("bm25s"), "numpy": np.__version__},
    }


def _write_passages(folder: Path, passages: Sequence[Passage]) -> None:
    lengths, checks = np.empty(len(passages), np.int64), np.empty(len(passages), np.uint32)
    with (folder / LINES).open("wb") as out:
        for number, line in enumerate(map(to_line, passages)):
            out.write(line)
            lengths[number], checks[number] = len(line), zlib.crc32(line)
    save_array(folder / "passage_ends.npy", np.cumsum(lengths))
    save_array(folder / "passage_checks.npy", checks)


def read_index(folder: Path, mapped: bool) -> SavedIndex:
    """Open an index folder; ``mapped`` maps its files instead of reading them.

    Raises:
        DataError: if there is no index.
        ManifestMismatchError: if it is damaged, of another format, or its terms were cut by other rules.
    """
    manifest = unseal(folder, KIND, sizes_only=frozenset({LINES}))
    _check_fit(folder, manifest)
    try:
        passages = _read_passages(folder, mapped)
        titles = Titles(
            open_array(folder / "title_hashes.npy", np.uint64, mapped),
            open_array(folder / "title_numbers.npy", np.int32, mapped),
        )
        ends = open_array(folder / "term_ends.npy", np.int64, mapped)
        vocabulary = Vocabulary(open_blob(folder / "terms.txt", mapped), ends)
        postings = _read_postings(folder, mapped, len(passages))
        settings = BM25Settings(**manifest["parameters"])
        saved = SavedIndex(passages, titles, vocabulary, postings, settings, str(manifest["fingerprint"]))
    except (OSError, KeyError, TypeError, ConfigError) as error:
        raise ManifestMismatchError(f"{folder}: the index is incomplete ({error}); build it again") from error
    _check_lengths(folder, saved)
    return saved


def _check_fit(folder: Path, manifest: Mapping[str, Any]) -> None:
    expected = {"format": FORMAT, "rules": rules_fingerprint()}
    for name, value in expected.items():
        found = manifest.get(name)
        if found != value:
            raise ManifestMismatchError(
                f"{folder}: the index was saved by another version ({name} {found}, expected {value}); build it again"
            )


def _read_passages(folder: Path, mapped: bool) -> StoredPassages:
    ends = open_array(folder / "passage_ends.npy", np.int64, mapped)
    checks = open_array(folder / "passage_checks.npy", np.uint32, mapped)
    return StoredPassages(open_blob(folder / LINES, mapped), ends, checks)


def _read_postings(folder: Path, mapped: bool, passages: int) -> Postings:
    impacts = open_array(folder / "impacts.npy", np.float32, mapped)
    numbers = open_array(folder / "numbers.npy", np.int32, mapped)
    return Postings(impacts, numbers, open_array(folder / "starts.npy", np.int64, mapped), passages)


def _check_lengths(folder: Path, saved: SavedIndex) -> None:
    terms, passages = len(saved.vocabulary), len(saved.passages)
    if len(saved.postings.starts) != terms + 1 or len(saved.titles.hashes) != passages or not passages:
        raise ManifestMismatchError(f"{folder}: files of different indices are mixed; build the index again")
