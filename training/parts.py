"""Parts: one immutable Parquet file a question, so that a killed collection loses nothing that was complete."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..data.errors import DataError, ManifestMismatchError
from ..data.records import content_hash
from ..data.storage import MANIFEST, differing, read_manifest, to_json, write_bytes, write_text

KIND = "collection"
ROWS = "rows.parquet"


class PartStore:
    """A folder of parts with a manifest that says how they were made.

    Args:
        folder: where the parts are, or will be.
        manifest: settings and fingerprints that the rows depend on.

    Raises:
        ManifestMismatchError: if the folder holds parts that were made otherwise.
        DataError: if the folder cannot be written.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder.absolute()  # a worker may run in another folder
        self.manifest = {"kind": KIND, **manifest}
        if (folder / MANIFEST).exists():
            self._check(read_manifest(folder, KIND))
        else:
            if next(folder.glob("parts/*.parquet"), None):
                raise ManifestMismatchError(
                    f"{folder}: holds parts without {MANIFEST}; delete it or use another folder"
                )
            write_text(folder / MANIFEST, to_json(self.manifest))

    def _check(self, found: Mapping[str, Any]) -> None:
        if other := differing(found, self.manifest):
            raise ManifestMismatchError(
                f"{self.folder}: holds rows collected with another {', '.join(other)}; "
                "use another folder, the same settings, or delete this one"
            )

    def file_of(self, question_id: str) -> Path:
        """Return the file of a question's part."""
        return self.folder / "parts" / f"{content_hash(question_id)}.parquet"

    def write(self, question_id: str, table: pa.Table) -> None:
        """Write a part whole or not at all.

        Raises:
            DataError: if the disk is full or the folder cannot be written.
        """
        buffer = io.BytesIO()
        pq.write_table(table, buffer, compression="zstd")
        write_bytes(self.file_of(question_id), buffer.getvalue())

    def missing(self, question_ids: Iterable[str]) -> list[str]:
        """Return the ids without a whole part; a damaged part counts as missing."""
        return [name for name in question_ids if not _is_whole(self.file_of(name))]

    def compact(self, question_ids: Iterable[str]) -> pa.Table:
        """Merge the parts, sorted by question id, into ``rows.parquet`` and return the rows.

        Raises:
            DataError: if a part is missing or damaged; the message names it.
        """
        tables = [self._read(name) for name in sorted(set(question_ids))]
        merged = pa.concat_tables(tables).combine_chunks() if tables else pa.table({})
        buffer = io.BytesIO()
        pq.write_table(merged, buffer, compression="zstd")
        write_bytes(self.folder / ROWS, buffer.getvalue())
        return merged

    def _read(self, question_id: str) -> pa.Table:
        file = self.file_of(question_id)
        try:
            return pq.read_table(file)
        except FileNotFoundError:
            raise DataError(f"the part of question {question_id} is missing; collect again to make it", file) from None
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"damaged part of question {question_id} ({error}); delete the file and collect again to redo it", file
            ) from error


def read_rows(folder: Path) -> pa.Table:
    """Read the compacted rows of a collection.

    Raises:
        DataError: if there are none, or the file is damaged.
    """
    file = folder / ROWS
    try:
        return pq.read_table(file)
    except FileNotFoundError:
        raise DataError("no compacted rows; run `evidencegym collect` to the end first", file) from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"damaged rows ({error}); delete the file and collect again: the parts are kept", file
        ) from error


def _is_whole(file: Path) -> bool:
    try:
        return int(pq.read_metadata(file).num_rows) >= 0
    except (OSError, pa.ArrowException):
        return False
