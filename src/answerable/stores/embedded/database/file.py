"""The SQLite file of an embedded library: one connection, its transactions, its format, and its errors."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from answerable.errors import LibraryFormatError, LibraryNotFound
from answerable.protocols import Fingerprint
from answerable.stores.binding import Binding
from answerable.stores.embedded.database.audit import UNREADABLE
from answerable.stores.embedded.database.connection import Kept, connect, damaged, one_moment, read_only, translated
from answerable.stores.embedded.database.rows import MIGRATIONS, read_fingerprint, read_meta, write_erased

FORMAT = len(MIGRATIONS)


class DatabaseFile:
    """One connection, shared between threads by a lock. Raises only AnswerableErrors.

    `create` creates a missing file at `path`; otherwise raises LibraryNotFound.
    """

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self.binding = Binding()
        self._lock = threading.RLock()
        # Every search asks for them many times, and for the languages and the number of documents it reads all of them.
        self._kept = Kept()
        if not os.path.exists(path) and not create:
            raise LibraryNotFound(
                f"There is no library at {path.parent}. Make one by adding something: answerable add PATH"
            )
        with self._translated():
            self._connect()
            try:
                self._prepare()
            except BaseException:
                # `salvage` must be the only one that has the file open.
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the connection. Idempotent."""
        with self._lock:
            self._connection.close()

    @property
    def identity(self) -> str:
        """An id of the stored vectors, which changes when they are replaced."""
        with self._reading() as connection:
            return str(read_meta(connection, "identity"))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything or nothing; other writers wait. Raise LibraryReadOnly and DiskFull."""
        with self._locked() as connection:
            self._require_writable()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._kept.forget()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read everything from one snapshot."""
        with self._reading() as connection, one_moment(connection):
            yield connection

    @contextmanager
    def closed(self) -> Iterator[Path]:
        """Close the file, let the block replace it, then open the new one."""
        with self._lock, self._translated():
            self._connection.close()
            try:
                yield self.path
            finally:
                self._connect()
                self._kept.forget()

    def checkpoint(self) -> bool:
        """Merge the write-ahead log into the file and empty it, since it may hold deleted and overwritten data.

        Return False if another process read it for longer than `connection.WAIT`.
        """
        with self._reading() as connection:
            (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not is_busy

    def _connect(self) -> None:
        self._connection, self._refusal = connect(self.path)
        self.is_writable = self._refusal is None

    def _require_writable(self) -> None:
        if not self.is_writable:
            raise (self._refusal or read_only)(self.path)

    @contextmanager
    def _bound(self) -> Iterator[sqlite3.Connection]:
        """Read vectors from one snapshot. Raise EmbedderMismatch if another embedder's vectors replaced the old."""
        with self._reading() as connection, one_moment(connection):
            self.binding.check(self._made_by(connection))
            yield connection

    def _made_by(self, connection: sqlite3.Connection) -> Fingerprint | None:
        return self._kept.get(connection, "fingerprint", lambda found: read_fingerprint(found, "fingerprint"))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._locked() as connection, self._decoding():
            yield connection

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated():
            yield self._connection

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            # SQLite has no checksums: what it reads from a damaged page may be anything.
            raise damaged(self.path, str(error)) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def _prepare(self) -> None:
        """Create the tables, or migrate them to the current format. Raise LibraryFormatError if that isn't possible."""
        if self._format() < FORMAT and self.is_writable:
            with self.transaction() as connection:
                # Another process may have been first.
                found = self._format()
                for statement in ";".join(MIGRATIONS[found:]).split(";"):
                    connection.execute(statement)
                if not found:
                    connection.execute("INSERT INTO meta VALUES ('identity', ?)", (uuid.uuid4().hex,))
                    write_erased(connection, 0, time.time())
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(FORMAT),))
        found = self._format()
        if found != FORMAT:
            way_out = "Open it once with write access" if found < FORMAT else "Use the version that made it"
            raise LibraryFormatError(
                f"The library {self.path.parent} has format {found}; this version of answerable reads format {FORMAT}. "
                f"{way_out}, or add your documents to a new library with --library."
            )

    def _format(self) -> int:
        """Return the version of the file's format, 0 for a new file."""
        with self._decoding():
            has_schema = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
            return int(read_meta(self._connection, "format") or 0) if has_schema else 0
