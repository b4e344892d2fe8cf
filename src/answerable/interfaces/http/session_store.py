"""Conversations in an SQLite file; each belongs to one library and one caller."""

from __future__ import annotations

import json
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.datatypes import Exchange
from answerable.disk.files import is_full, make_file, make_folder, no_room, use_write_ahead_log
from answerable.errors import LibraryError, SettingsError
from answerable.text.terms import fold

# Exchanges to read for a model: more than fit into the default of `history_tokens`, 1,000, which limits what it gets.
LONGEST_HISTORY = 50

# Characters of the excerpt that a search of conversations shows: two lines of the page's column.
_LONGEST = 160
_BEFORE = 40  # of these, before the first word found: a quarter, a guess, not measured

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, library TEXT NOT NULL, caller TEXT NOT NULL, made REAL NOT NULL, used REAL NOT NULL,
    title TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (library, caller, used);
CREATE INDEX IF NOT EXISTS sessions_used ON sessions (used);
CREATE TABLE IF NOT EXISTS turns (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked REAL NOT NULL, question TEXT NOT NULL, searched TEXT NOT NULL, text TEXT NOT NULL, answer TEXT NOT NULL,
    id TEXT NOT NULL DEFAULT '', vote TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS turns_of ON turns (session, number);
"""
_TITLE = (
    "coalesce(nullif(title, ''), (SELECT question FROM turns WHERE session = sessions.id ORDER BY number LIMIT 1), '')"
)
_SAID = "(SELECT group_concat(question || char(10) || text, char(10)) FROM turns WHERE session = sessions.id)"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a session. Nobody else sees the session, or learns that it exists."""

    library: str
    caller: str


class Sessions:
    """The conversations of a server, deleted after `days` without a question. Thread-safe.

    Raise SettingsError or DiskFull if the file can't be opened, LibraryError or DiskFull if a later access fails.
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
            # Fails, with a name for the file, if its tables are of before the first release.
            self._database.execute("SELECT title, turns.id, vote FROM sessions, turns LIMIT 0")
            self._database.create_function("folded", 1, folded, deterministic=True)
        except (OSError, sqlite3.Error) as error:
            if is_full(error, path):
                raise no_room(path) from error
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
                "INSERT INTO sessions (id, library, caller, made, used) VALUES (?, ?, ?, ?, ?)",
                (found, owner.library, owner.caller, now, now),
            )
        return found

    def history(self, session: str, owner: Owner, before: str | None = None) -> list[Exchange] | None:
        """Return the latest exchanges, oldest first, or those before a turn; None for an unknown session or turn."""
        with self._locked():
            if not self._exists(session, owner):
                return None
            number = self._number(session, before) if before is not None else sys.maxsize
            if number is None:
                return None
            rows = self._database.execute(
                "SELECT question, searched, text FROM turns WHERE session = ? AND number < ? "
                "ORDER BY number DESC LIMIT ?",
                (session, number, LONGEST_HISTORY),
            ).fetchall()
        return [Exchange(*row) for row in reversed(rows)]

    def add(
        self, session: str, owner: Owner, exchange: Exchange, answer: dict[str, Any], instead_of: str | None = None
    ) -> str | None:
        """Add a turn and return its id, which is also the answer's `turn`; None if the session was deleted meanwhile.

        The new turn replaces the turn `instead_of`. If it asks another question, the turns after it are deleted.
        """
        turn, now = secrets.token_hex(8), self._now()
        row = (now, exchange.question, exchange.searched, exchange.answer, json.dumps({**answer, "turn": turn}), turn)
        with self._transaction() as database:
            if not self._exists(session, owner):
                return None
            database.execute("UPDATE sessions SET used = ? WHERE id = ?", (now, session))
            number = self._number(session, instead_of) if instead_of else None
            if number is None:
                database.execute(
                    "INSERT INTO turns (asked, question, searched, text, answer, id, session) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (*row, session),
                )
                return turn
            database.execute(
                "DELETE FROM turns WHERE session = ? AND number > ? "
                "AND (SELECT question FROM turns WHERE number = ?) <> ?",
                (session, number, number, exchange.question),
            )
            database.execute(
                "UPDATE turns SET asked = ?, question = ?, searched = ?, text = ?, answer = ?, id = ?, vote = '' "
                "WHERE number = ?",
                (*row, number),
            )
        return turn

    def turns(self, session: str, owner: Owner) -> list[dict[str, Any]] | None:
        """Return all turns as JSON, oldest first; None for an unknown session."""
        with self._locked():
            if not self._exists(session, owner):
                return None
            rows = self._database.execute(
                "SELECT id, asked, question, answer, vote FROM turns WHERE session = ? ORDER BY number", (session,)
            ).fetchall()
        names = ("turn", "asked", "question", "answer", "vote")
        return [
            {**dict(zip(names, row, strict=True)), "answer": json.loads(row[3]), "vote": row[4] or None} for row in rows
        ]

    def turn(self, session: str, owner: Owner, turn: str) -> dict[str, Any] | None:
        """Return a turn as JSON; None if there is none."""
        return next((each for each in self.turns(session, owner) or () if each["turn"] == turn), None)

    def vote(self, session: str, owner: Owner, turn: str, vote: str) -> bool:
        """Set the vote on an answer: "up", "down" or "". Return False if there is no such turn."""
        statement = "UPDATE turns SET vote = ? WHERE session = ? AND id = ?"
        return self._change(session, owner, statement, vote, session, turn)

    def title(self, session: str, owner: Owner) -> str | None:
        """Return a session's title, by default its first question; None for an unknown session."""
        with self._locked():
            if not self._exists(session, owner):
                return None
            found: str = self._database.execute(f"SELECT {_TITLE} FROM sessions WHERE id = ?", (session,)).fetchone()[0]
        return found

    def rename(self, session: str, owner: Owner, title: str) -> bool:
        """Set a session's title; "" resets it to the first question. Return False for an unknown session."""
        return self._change(session, owner, "UPDATE sessions SET title = ? WHERE id = ?", title, session)

    def list(self, owner: Owner, limit: int = 100, words: str = "") -> list[dict[str, Any]]:
        """Return the owner's sessions as JSON, the last used first: all, or those that contain all of the words.

        Case and accents don't matter. `found` is the line of a question or an answer that contains the first word.
        """
        wanted = folded(words).split()
        having = "".join(f" AND instr(folded({_TITLE} || char(10) || coalesce({_SAID}, '')), ?)" for _ in wanted)
        said = f"coalesce({_SAID}, '')" if wanted else "''"
        with self._locked():
            rows = self._database.execute(
                f"SELECT id, made, used, (SELECT count(*) FROM turns WHERE session = sessions.id), {_TITLE}, {said} "
                f"FROM sessions WHERE library = ? AND caller = ? AND used >= ?{having} ORDER BY used DESC LIMIT ?",
                (owner.library, owner.caller, self._now() - self._seconds, *wanted, limit),
            ).fetchall()
        names = ("session", "made", "used", "turns", "title")
        return [{**dict(zip(names, row, strict=False)), "found": excerpt_of(row[-1], wanted)} for row in rows]

    def delete(self, session: str, owner: Owner) -> bool:
        """Delete a session with its turns. Return False if the session doesn't exist."""
        return self._change(session, owner, "DELETE FROM sessions WHERE id = ?", session)

    def delete_library(self, library: str) -> None:
        """Delete all conversations with a library."""
        with self._transaction() as database:
            database.execute("DELETE FROM sessions WHERE library = ?", (library,))

    def close(self) -> None:
        """Close the SQLite file. Idempotent."""
        with self._lock:
            self._database.close()

    def _change(self, session: str, owner: Owner, statement: str, *values: str) -> bool:
        """Run a statement on a session of this owner. Return False if it changes nothing."""
        with self._transaction() as database:
            return self._exists(session, owner) and database.execute(statement, values).rowcount > 0

    def _number(self, session: str, turn: str) -> int | None:
        found = self._database.execute("SELECT number FROM turns WHERE session = ? AND id = ?", (session, turn))
        row = found.fetchone()
        return row[0] if row else None

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
                    raise no_room(self._path) from error
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


def folded(text: str) -> str:
    """Return the text without case and accents."""
    return fold(text.casefold())


def excerpt_of(said: str, wanted: Sequence[str]) -> str:
    """Return the line with the most of the folded words, cut around the first; "" if no line has any of them."""
    lines = [line.strip() for line in said.splitlines()] if wanted else []
    best, line = max(
        ((sum(word in plain for word in wanted), line) for line in lines for plain in (folded(line),)),
        key=lambda pair: pair[0],
        default=(0, ""),
    )
    if not best or len(line) <= _LONGEST:
        return line if best else ""
    plain = folded(line)
    # The position in the folded line is nearly that in the line: folding changes few lengths.
    first = max(min(plain.index(word) for word in wanted if word in plain) - _BEFORE, 0)
    cut = line[first : first + _LONGEST].strip()
    return f"{'…' if first else ''}{cut}{'…' if first + _LONGEST < len(line) else ''}"
