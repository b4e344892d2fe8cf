"""Conversations in an SQLite file; each belongs to one library and one caller."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.datatypes import Exchange
from answerable.disk.private import make_file, make_folder
from answerable.disk.write_ahead_log import is_full, use_write_ahead_log
from answerable.errors import DiskFull, LibraryError, SettingsError

# Exchanges read for a model; `history_tokens` bounds what it gets.
LONGEST_HISTORY = 50

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, library TEXT NOT NULL, caller TEXT NOT NULL, made REAL NOT NULL, used REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (library, caller, used);
CREATE INDEX IF NOT EXISTS sessions_used ON sessions (used);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked REAL NOT NULL, question TEXT NOT NULL, searched TEXT NOT NULL, text TEXT NOT NULL, answer TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS turns_of ON turns (session, number);
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a session. Nobody else sees the session, or learns that it exists."""

    library: str
    caller: str


class Sessions:
    """The conversations of a server, deleted after `days` without a question. Thread-safe.

    Raise SettingsError if the file can't be opened, LibraryError or DiskFull if a later access fails.
    """

    def __init__(self, path: Path, days: float = 30.0, now: Callable[[], float] = time.time) -> None:
        self._seconds = days * 86_400
        self._now = now
        self._lock = threading.Lock()
        self._path = path
        try:
            make_folder(path.parent)
            make_file(path)
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            use_write_ahead_log(self._database, 30)
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.execute("PRAGMA secure_delete = ON")
            self._database.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise SettingsError(
                f"Can't open {path} for sessions ({error}). Name another folder with --data, or move the file away."
            ) from error

    def start(self, owner: Owner) -> str:
        """Start a session and return its id, 128 random bits in hexadecimal."""
        found = secrets.token_hex(16)
        now = self._now()
        with self._transaction() as database:
            database.execute("DELETE FROM sessions WHERE used < ?", (now - self._seconds,))
            database.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", (found, owner.library, owner.caller, now, now)
            )
        return found

    def history(self, session: str, owner: Owner) -> list[Exchange] | None:
        """Return the latest exchanges, oldest first; None for an unknown session."""
        with self._locked():
            if not self._exists(session, owner):
                return None
            rows = self._database.execute(
                "SELECT question, searched, text FROM turns WHERE session = ? ORDER BY number DESC LIMIT ?",
                (session, LONGEST_HISTORY),
            ).fetchall()
        return [Exchange(*row) for row in reversed(rows)]

    def add(self, session: str, owner: Owner, exchange: Exchange, answer: dict[str, Any]) -> bool:
        """Add a turn to a session. Return False if the session was deleted meanwhile."""
        now = self._now()
        with self._transaction() as database:
            if not self._exists(session, owner):
                return False
            database.execute("UPDATE sessions SET used = ? WHERE id = ?", (now, session))
            database.execute(
                "INSERT INTO turns (session, asked, question, searched, text, answer) VALUES (?, ?, ?, ?, ?, ?)",
                (session, now, exchange.question, exchange.searched, exchange.answer, json.dumps(answer)),
            )
        return True

    def turns(self, session: str, owner: Owner) -> list[dict[str, Any]] | None:
        """Return all turns as JSON, oldest first; None for an unknown session."""
        with self._locked():
            if not self._exists(session, owner):
                return None
            rows = self._database.execute(
                "SELECT asked, question, answer FROM turns WHERE session = ? ORDER BY number", (session,)
            ).fetchall()
        return [{"asked": row[0], "question": row[1], "answer": json.loads(row[2])} for row in rows]

    def list(self, owner: Owner, limit: int = 100) -> list[dict[str, Any]]:
        """Return the owner's sessions as JSON, the last used first; `title` is a session's first question."""
        with self._locked():
            rows = self._database.execute(
                "SELECT id, made, used, (SELECT count(*) FROM turns WHERE session = id), coalesce("
                "(SELECT question FROM turns WHERE session = id ORDER BY number LIMIT 1), '') "
                "FROM sessions WHERE library = ? AND caller = ? AND used >= ? ORDER BY used DESC LIMIT ?",
                (owner.library, owner.caller, self._now() - self._seconds, limit),
            ).fetchall()
        return [dict(zip(("session", "made", "used", "turns", "title"), row, strict=True)) for row in rows]

    def delete(self, session: str, owner: Owner) -> bool:
        """Delete a session with its turns. Return False if the session doesn't exist."""
        with self._transaction() as database:
            if not self._exists(session, owner):
                return False
            database.execute("DELETE FROM sessions WHERE id = ?", (session,))
        return True

    def delete_library(self, library: str) -> None:
        """Delete all conversations with a library."""
        with self._transaction() as database:
            database.execute("DELETE FROM sessions WHERE library = ?", (library,))

    def close(self) -> None:
        """Close the SQLite file. Idempotent."""
        with self._lock:
            self._database.close()

    def _exists(self, session: str, owner: Owner) -> bool:
        found = self._database.execute(
            "SELECT 1 FROM sessions WHERE id = ? AND library = ? AND caller = ? AND used >= ?",
            (session, owner.library, owner.caller, self._now() - self._seconds),
        )
        return found.fetchone() is not None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                if isinstance(error, sqlite3.ProgrammingError):
                    raise
                if is_full(error, self._path):
                    raise DiskFull(f"The disk is full: can't write to {self._path}. Free some space.") from error
                raise LibraryError(f"{self._path} can't be used ({error}). Check the disk, then try again.") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._locked():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
