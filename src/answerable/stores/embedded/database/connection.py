"""Connections to the SQLite file of an embedded library, and translation of SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from answerable.datatypes import Document
from answerable.disk.free_space import is_full, no_room
from answerable.disk.private import close_to_others, make_file, make_folder
from answerable.disk.write_ahead_log import use_write_ahead_log
from answerable.errors import DiskFull, LibraryBusy, LibraryDamaged, LibraryError, LibraryReadOnly

# Seconds to wait for another process that writes.
WAIT = 60.0
# Kilobytes: the inner pages for a million chunks, which would otherwise be read again for each row.
CACHE = 32_768
# A search reads some messages of a long chat, for which its whole text must be read.
KEPT_CHARACTERS = 64_000_000

Found = TypeVar("Found")
Refusal: TypeAlias = "Callable[[Path], LibraryError]"
"""Why a file isn't written to, as the error of it."""


def connect(path: Path) -> tuple[sqlite3.Connection, Refusal | None]:
    """Connect to the file, created if missing; return the connection and, if it isn't writable, why.

    Raise LibraryReadOnly or DiskFull if the file can neither be created nor read, LibraryDamaged for an empty file
    beside an index, and SQLite's errors.
    """
    refusal: Refusal = read_only
    try:
        make_folder(path.parent)
        if os.path.exists(path) and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return _connect_read_only(path, refusal), refusal
        if (path.parent / "index").is_dir() and path.exists() and not path.stat().st_size:
            # SQLite would take it for a new file.
            raise damaged(path, "it is empty, but its index isn't")
        # SQLite's log and shared memory get the file's rights.
        make_file(path)
        close_to_others(path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
        connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            return _set_up(connection), None
        except BaseException:
            connection.close()
            raise
    except (sqlite3.OperationalError, OSError) as error:
        if is_full(error, path):
            refusal = no_room
            if not (os.path.exists(path) and path.stat().st_size):
                raise no_room(path) from error
        if not os.path.exists(path):
            raise LibraryReadOnly(
                f"A library can't be created in {path.parent} ({error}). "
                "Choose a folder you may write to with --library."
            ) from error
        if "locked" in str(error):
            raise
    return _connect_read_only(path, refusal), refusal


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    try:
        use_write_ahead_log(connection, WAIT)
    except UnicodeDecodeError as error:
        # SQLite's message quotes the damaged part of the schema.
        raise sqlite3.DatabaseError(f"database disk image is malformed: {error}") from error
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    return connection


def _connect_read_only(path: Path, refusal: Refusal) -> sqlite3.Connection:
    # If not even the log's files can be created, nobody writes: read the file as it is.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:
            connection.close()
    if refusal is no_room:
        raise no_room(path)
    raise LibraryReadOnly(
        f"The library {path.parent} can't be read. Check the permissions of the folder and of {path.name}."
    )


def translated(error: sqlite3.Error, path: Path) -> LibraryError:
    """Return the LibraryError to raise for an error from SQLite."""
    text = str(error)
    if is_full(error, path):
        return DiskFull(
            f"The disk is full: {path} can't grow. What was being added last was not stored; "
            "free some space and add it again."
        )
    if "readonly" in text:
        return read_only(path)
    if "locked" in text or "busy" in text:
        return LibraryBusy(
            f"Another process has been writing to {path.parent} for over a minute. Wait for it to finish and try again."
        )
    if isinstance(error, sqlite3.DatabaseError) and (
        "malformed" in text or "not a database" in text or "no such table" in text or "decode" in text
    ):
        return damaged(path, text)
    return LibraryError(f"The library's database {path} failed: {text}. Check the disk, then try again.")


def damaged(path: Path, reason: str) -> LibraryDamaged:
    """Return the error for a damaged file."""
    return LibraryDamaged(
        f"{path} is damaged ({reason}). Run answerable verify --repair: it keeps intact documents and reads the others "
        "from their sources again. Or restore it from a backup."
    )


def read_only(path: Path) -> LibraryReadOnly:
    """Return the error for an attempt to write to a read-only library."""
    return LibraryReadOnly(
        f"The library {path.parent} can't be written to. Check the folder's permissions, or use another with --library."
    )


@contextmanager
def one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Read from one snapshot inside the block, unaffected by other writers; a nested block uses the outer snapshot."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


class Kept:
    """Caches query results until this or another connection changes the database."""

    def __init__(self) -> None:
        self._moment: tuple[int, int] | None = None
        self._known: dict[str, Any] = {}
        self._documents: dict[int, Document] = {}
        self._characters = 0

    def get(self, connection: sqlite3.Connection, name: str, read: Callable[[sqlite3.Connection], Found]) -> Found:
        """Return what `read` finds, cached by name if possible."""
        self._follow(connection)
        if name not in self._known:
            self._known[name] = read(connection)
        found: Found = self._known[name]
        return found

    def document(self, connection: sqlite3.Connection, number: int, read: Callable[[], Document]) -> Document:
        """Return a document by number. Cache the documents used last, up to `KEPT_CHARACTERS` but at least one."""
        self._follow(connection)
        document = self._documents.pop(number, None)
        if document is None:
            document = read()
            self._characters += len(document.content)
        self._documents[number] = document
        while self._characters > KEPT_CHARACTERS and len(self._documents) > 1:
            self._characters -= len(self._documents.pop(next(iter(self._documents))).content)
        return document

    def forget(self) -> None:
        """Empty the cache at the end of a transaction, which may have been rolled back."""
        self._moment = None

    def _follow(self, connection: sqlite3.Connection) -> None:
        # The former counts commits of others, the latter changes of this connection.
        moment = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        if moment != self._moment:
            self._moment = moment
            self._known.clear()
            self._documents.clear()
            self._characters = 0
