"""Vectors of another embedder, collected in a table of their own in the SQLite file of an embedded library.

They replace the library's vectors in one transaction: every process sees either all old or all new vectors. The table
exists only while vectors are being collected.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Mapping

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores import records
from answerable.stores.binding import not_gathering, other_gathering
from answerable.stores.embedded.database.database import Database
from answerable.stores.embedded.database.rows import bind_embedder, read_fingerprint

_NEXT = "next_fingerprint"
_TABLE = """
CREATE TABLE IF NOT EXISTS next_vectors (
    number INTEGER PRIMARY KEY, vector BLOB NOT NULL, sentence_vectors BLOB NOT NULL
)
"""
_MISSING = "SELECT number FROM chunks WHERE number NOT IN (SELECT number FROM next_vectors)"
_SWITCH = """
UPDATE chunks SET (vector, sentence_vectors) =
    (SELECT vector, sentence_vectors FROM next_vectors WHERE next_vectors.number = chunks.number)
"""


class DatabaseNextVectors:
    """Collected vectors in a database; `switched` is called after a switch. Follows `protocols.NextVectors`."""

    def __init__(self, database: Database, switched: Callable[[], None]) -> None:
        self._database = database
        self._switched = switched
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being collected, None if there are none."""
        with self._database.snapshot() as connection:
            return read_fingerprint(connection, _NEXT)

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begin or resume collecting. Raise EmbedderMismatch if vectors of another embedder are being collected."""
        with self._database.transaction() as connection:
            connection.execute(_TABLE)
            bind_embedder(connection, _NEXT, fingerprint)
            there = read_fingerprint(connection, _NEXT)
            if there is not None and there != fingerprint:
                raise other_gathering(there, fingerprint)
        self._begun = fingerprint

    def missing(self) -> list[int]:
        """Return the numbers of the chunks without a collected vector, in order."""
        with self._database.snapshot() as connection:
            query = _MISSING if read_fingerprint(connection, _NEXT) else "SELECT number FROM chunks"
            return [row["number"] for row in connection.execute(f"{query} ORDER BY number")]

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors, given by chunk number; they are on disk when the call returns."""
        rows = (
            (number, records.vector_to_bytes(found.whole), records.quantize(found.spans))
            for number, found in vectors.items()
        )
        with self._database.transaction() as connection:
            self._still_gathering(connection)
            connection.executemany("INSERT OR REPLACE INTO next_vectors VALUES (?, ?, ?)", rows)

    def switch(self) -> bool:
        """Replace the library's vectors in one transaction; return False if some are missing."""
        with self._database.transaction() as connection:
            fingerprint = self._still_gathering(connection)
            if connection.execute(f"{_MISSING} LIMIT 1").fetchone():
                return False
            connection.execute(_SWITCH)
            connection.execute("DELETE FROM meta WHERE key = 'fingerprint'")
            bind_embedder(connection, "fingerprint", fingerprint)
            # With a new identity every index is rebuilt.
            connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (uuid.uuid4().hex,))
            _forget(connection)
        self._database.binding.move(fingerprint)
        self._database.checkpoint()
        self._switched()
        return True

    def drop(self) -> None:
        """Delete all collected vectors."""
        if self.fingerprint is not None:
            with self._database.transaction() as connection:
                _forget(connection)
            self._database.checkpoint()

    def _still_gathering(self, connection: sqlite3.Connection) -> Fingerprint:
        found = read_fingerprint(connection, _NEXT)
        if found is None or found != self._begun:
            raise not_gathering()
        return found


def _forget(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE IF EXISTS next_vectors")
    connection.execute("DELETE FROM meta WHERE key = ?", (_NEXT,))
