"""The file of a recording: requests and responses by backend, in SQLite, written by several processes at once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

from ..data.errors import DataError
from .recording_values import Entry, response_of
from .tasks import Failed

FORMAT = 1
WAIT = 60.0
"""Seconds to wait for another process that is writing."""

_APPLICATION = 0x45764779  # "EvGy": tells SQLite files apart
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS backends (fingerprint TEXT PRIMARY KEY, unit TEXT NOT NULL, name TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS responses (backend TEXT NOT NULL, key BLOB NOT NULL, kind TEXT NOT NULL, "
    "request TEXT NOT NULL, response TEXT NOT NULL, failed INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, "
    "completion_tokens INTEGER NOT NULL, calls INTEGER NOT NULL, UNIQUE (backend, key))",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class Backend(NamedTuple):
    """Who gave responses.

    Attributes:
        fingerprint: the generator's.
        unit: what a token is.
        name: what people call it, such as the name of a model.
    """

    fingerprint: str
    unit: str
    name: str


class Count(NamedTuple):
    """How much of one kind a backend has in a recording."""

    backend: str
    kind: str
    responses: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    calls: int


class Recording:
    """Responses by backend and request; the first one that is written stays.

    It serves several threads, and several processes each with their own object. A process that is killed leaves whole
    responses. The file must lie on a local disk: SQLite's write-ahead log needs shared memory.

    Args:
        file: the file; made where it is missing, unless ``read_only``.
        read_only: whether nothing will be written.

    Raises:
        DataError: if it is missing, cannot be opened, or is something else than a recording of this format.
    """

    def __init__(self, file: str | Path, read_only: bool = False) -> None:
        self.file = Path(file)
        self.read_only = read_only
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._connection = self._opened()

    def __reduce__(self) -> Any:
        """Send the name of the file to another process."""
        return Recording, (self.file, self.read_only)

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def backends(self) -> list[Backend]:
        """Return the backends, by fingerprint."""
        return [
            Backend(*row) for row in self._rows("SELECT fingerprint, unit, name FROM backends ORDER BY fingerprint")
        ]

    def get(self, backend: str, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the responses that are there, as JSON, by the keys of their requests."""
        question = "SELECT response FROM responses WHERE backend = ? AND key = ?"
        with self._connected() as connection:
            found = ((key, connection.execute(question, (backend, key)).fetchone()) for key in keys)
            return {key: row[0] for key, row in found if row is not None}

    def put(self, backend: Backend, entries: Sequence[Entry]) -> int:
        """Write entries, all or none; those whose request is there already are left out.

        Returns:
            How many were new.

        Raises:
            ValueError: if a response is not one.
            DataError: if the file cannot be written.
        """
        rows = [_row(backend.fingerprint, entry) for entry in entries]
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO backends VALUES (?, ?, ?)", backend)
            before = connection.total_changes
            connection.executemany("INSERT OR IGNORE INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            return connection.total_changes - before

    def entries(self, backend: str) -> Iterator[Entry]:
        """Yield the entries of a backend, by key."""
        # Page by page, so that neither the lock nor all of them are held for long.
        page = (
            "SELECT key, kind, request, response FROM responses WHERE backend = ? AND key > ? ORDER BY key LIMIT 1000"
        )
        last = b""
        while rows := self._rows(page, (backend, last)):
            yield from (Entry(*row[1:]) for row in rows)
            last = rows[-1][0]

    def counts(self) -> list[Count]:
        """Return how much there is, by backend and kind."""
        sums = "COUNT(*), SUM(failed), SUM(prompt_tokens), SUM(completion_tokens), SUM(calls)"
        rows = self._rows(f"SELECT backend, kind, {sums} FROM responses GROUP BY backend, kind ORDER BY backend, kind")
        return [Count(*row) for row in rows]

    def remove_backend(self, fingerprint: str) -> int:
        """Remove all that a backend gave; returns how many responses that were."""
        return self._removed("backend = ?", fingerprint)

    def remove_failures(self) -> int:
        """Remove recorded failures, so that they are asked again; returns how many they were."""
        return self._removed("failed")

    def keep_only(self, used: Recording) -> int:
        """Remove what another recording lacks; returns how many responses that were."""
        same = "SELECT 1 FROM used.responses o WHERE o.backend = responses.backend AND o.key = responses.key"
        with self._connected() as connection:
            connection.execute("ATTACH ? AS used", (str(used.file),))
        try:
            return self._removed(f"NOT EXISTS ({same})")
        finally:
            with self._connected() as connection:
                connection.execute("DETACH used")

    def vacuum(self) -> None:
        """Give the room of what was removed back to the disk."""
        with self._connected() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _removed(self, which: str, *values: str) -> int:
        with self._writing() as connection:
            count = connection.execute(f"DELETE FROM main.responses WHERE {which}", values).rowcount
            connection.execute(
                "DELETE FROM main.backends WHERE fingerprint NOT IN (SELECT backend FROM main.responses)"
            )
            return count

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if self._owner != os.getpid():  # a forked process must not use its parent's connection
            self._lock, self._owner = threading.Lock(), os.getpid()
            self._connection = self._opened()
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise DataError(f"the recording cannot be used ({error})", self.file) from error

    def _opened(self) -> sqlite3.Connection:
        if self.read_only and not self.file.is_file():
            raise DataError("no such recording; make one with --recording.mode record", self.file)
        try:
            return _read_only(self.file) if self.read_only else _writable(self.file)
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"cannot be opened as a recording ({error})", self.file) from error


def _writable(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, timeout=WAIT, isolation_level=None, check_same_thread=False)
    _check(connection, file, new=True)
    _log_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")  # safe against kills; a power cut may take the last responses
    connection.execute("BEGIN IMMEDIATE")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("COMMIT")
    return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once."""
    end = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:  # SQLite does not wait here for another that does the same
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _read_only(file: Path) -> sqlite3.Connection:
    uri = file.resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", WAIT, isolation_level=None, check_same_thread=False, uri=True)
    try:
        _check(connection, file)
    except sqlite3.OperationalError:  # a folder that cannot be written has no room for the log
        connection.close()
        log = file.with_name(f"{file.name}-wal")
        if log.exists() and log.stat().st_size:
            raise
        connection = sqlite3.connect(f"{uri}?immutable=1", isolation_level=None, check_same_thread=False, uri=True)
        _check(connection, file)
    return connection


def _check(connection: sqlite3.Connection, file: Path, new: bool = False) -> None:
    """Check that the file is a recording, or, for a new one, that it is empty."""
    connection.execute("BEGIN")  # all of it is read at one moment: another process may be making the file
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    empty = not connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if found != [_APPLICATION, FORMAT] and not (new and empty and found == [0, 0]):
        connection.close()
        raise DataError(f"expected a recording of format {FORMAT}, found something else; use another file", file)


def _row(backend: str, entry: Entry) -> tuple[Any, ...]:
    response = response_of(entry.kind, entry.response)
    usage = response.usage
    failed = isinstance(response, Failed)
    return backend, entry.key, *entry, failed, *astuple(usage)
