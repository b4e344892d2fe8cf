"""Conversations, kept in SQLite so that they survive a restart."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from answerable.datatypes import Exchange
from answerable.errors import SettingsError

MOST_EXCHANGES = 20
MOST_SESSIONS = 10_000
DAYS = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, used REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_used ON sessions (used);
CREATE TABLE IF NOT EXISTS exchanges (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    question TEXT NOT NULL, searched TEXT NOT NULL, answer TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS exchanges_of ON exchanges (session, number);
"""


class History:
    """The latest exchanges of each session; one that nothing was said in for `days` is forgotten. Thread-safe.

    Beyond `most_sessions` those go that were used longest ago. Raises SettingsError when the file can't be opened.
    """

    def __init__(
        self,
        path: Path,
        days: float = DAYS,
        most_sessions: int = MOST_SESSIONS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._seconds = days * 86_400
        self._most_sessions = most_sessions
        self._now = now
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA foreign_keys = ON")
            self._database.execute("PRAGMA secure_delete = ON")
            self._database.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise SettingsError(
                f"{path} can't hold the conversations ({error}). Set CHAT_SESSIONS_PATH to another file."
            ) from error

    def exchanges(self, session: str) -> list[Exchange]:
        """Those of a session, oldest first; none where it isn't known, or forgotten."""
        with self._lock:
            rows = self._database.execute(
                "SELECT question, searched, answer FROM exchanges JOIN sessions ON session = id "
                "WHERE session = ? AND used >= ? ORDER BY number DESC LIMIT ?",
                (session, self._now() - self._seconds, MOST_EXCHANGES),
            ).fetchall()
        return [Exchange(*row) for row in reversed(rows)]

    def add(self, session: str, exchange: Exchange) -> None:
        """Adds an exchange to a session, and forgets what is too old or too much."""
        now = self._now()
        with self._transaction() as database:
            database.execute("DELETE FROM sessions WHERE used < ?", (now - self._seconds,))
            database.execute(
                "INSERT INTO sessions VALUES (?, ?) ON CONFLICT DO UPDATE SET used = ?", (session, now, now)
            )
            database.execute(
                "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self._most_sessions,),
            )
            database.execute(
                "INSERT INTO exchanges (session, question, searched, answer) VALUES (?, ?, ?, ?)",
                (session, exchange.question, exchange.searched, exchange.answer),
            )
            database.execute(
                "DELETE FROM exchanges WHERE number IN "
                "(SELECT number FROM exchanges WHERE session = ? ORDER BY number DESC LIMIT -1 OFFSET ?)",
                (session, MOST_EXCHANGES),
            )

    def close(self) -> None:
        """Closes the file. Closing twice is fine."""
        with self._lock:
            self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
