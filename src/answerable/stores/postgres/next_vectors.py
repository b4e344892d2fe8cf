"""Vectors of another embedder, collected in tables of their own in the schema of a library on PostgreSQL.

They replace the library's vectors in one transaction: every reader sees either all old or all new vectors, and none
waits. The sketches of the old vectors go with them; searches score every chunk until new ones are made.
"""

from __future__ import annotations

from collections.abc import Mapping

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores import records
from answerable.stores.binding import Binding, not_gathering, other_gathering
from answerable.stores.postgres import sketches
from answerable.stores.postgres.connection import Connection, Connections
from answerable.stores.postgres.rows import fingerprint_to_json, read_fingerprint
from answerable.stores.postgres.values import vector_to_text

_IS_THERE = "SELECT to_regclass(quote_ident(current_schema()) || '.next_library') IS NOT NULL AS there"
_TABLES = """
    CREATE TABLE IF NOT EXISTS next_library (fingerprint jsonb NOT NULL);
    CREATE TABLE IF NOT EXISTS next_vectors (
        number bigint PRIMARY KEY, vector vector NOT NULL, sentence_vectors bytea NOT NULL
    );
    INSERT INTO next_library SELECT %s WHERE NOT EXISTS (SELECT FROM next_library);
"""
_KEEP = """
    INSERT INTO next_vectors VALUES (%s, %s, %s) ON CONFLICT (number)
    DO UPDATE SET vector = excluded.vector, sentence_vectors = excluded.sentence_vectors
"""
_MISSING = (
    "SELECT number FROM chunks WHERE NOT EXISTS (SELECT FROM next_vectors AS next WHERE next.number = chunks.number)"
)
_SWITCH = (
    "UPDATE entries SET vector = next.vector FROM next_vectors AS next WHERE next.number = entries.number",
    "UPDATE chunks SET sentence_vectors = next.sentence_vectors FROM next_vectors AS next "
    "WHERE next.number = chunks.number",
    "UPDATE library SET fingerprint = next_library.fingerprint FROM next_library",
)
_FORGET = "DROP TABLE IF EXISTS next_library, next_vectors"


class PostgresNextVectors:
    """Collected vectors in a library's schema. Follows `protocols.NextVectors`."""

    def __init__(self, connections: Connections, binding: Binding) -> None:
        self._connections = connections
        self._binding = binding
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being collected, None if there are none."""
        return self._connections.read(_fingerprint)

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begin or resume collecting. Raise EmbedderMismatch if vectors of another embedder are being collected."""

        def begin(connection: Connection) -> None:
            there = _fingerprint(connection)
            if there is None:
                for statement in _TABLES.split(";")[:-1]:
                    connection.execute(statement, (fingerprint_to_json(fingerprint),) if "%s" in statement else None)
            elif there != fingerprint:
                raise other_gathering(there, fingerprint)

        self._connections.write(begin)
        self._begun = fingerprint

    def missing(self) -> list[int]:
        """Return the numbers of the chunks without a collected vector, in order."""

        def missing(connection: Connection) -> list[int]:
            query = _MISSING if _fingerprint(connection) else "SELECT number FROM chunks"
            return [row["number"] for row in connection.execute(f"{query} ORDER BY number")]

        return self._connections.read(missing)

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors, given by chunk number; they are on disk when the call returns."""
        rows = [
            (number, vector_to_text(found.whole), records.quantize(found.spans)) for number, found in vectors.items()
        ]

        def keep(connection: Connection) -> None:
            self._still_gathering(connection)
            with connection.cursor() as cursor:
                cursor.executemany(_KEEP, rows)

        self._connections.write(keep)

    def switch(self) -> bool:
        """Replace the library's vectors in one transaction; return False if some are missing."""
        if not self._connections.read(self._is_whole):
            return False
        switched: list[Fingerprint] = []

        with self._connections.one() as connection:
            connection.execute("SELECT set_config('statement_timeout', '0', false)")
            with connection.transaction():
                connection.execute("SELECT FROM library FOR UPDATE")
                if self._is_whole(connection):
                    switched.append(self._still_gathering(connection))
                    for statement in (*_SWITCH, _FORGET):
                        connection.execute(statement)
                    sketches.forget(connection)
            connection.execute("VACUUM (ANALYZE) entries, chunks, sketches")
        if switched:
            self._binding.move(switched[0])
        return bool(switched)

    def drop(self) -> None:
        """Delete all collected vectors."""
        if self.fingerprint is not None:
            self._connections.write(lambda connection: connection.execute(_FORGET))

    def _is_whole(self, connection: Connection) -> bool:
        self._still_gathering(connection)
        return connection.execute(f"{_MISSING} LIMIT 1").fetchone() is None

    def _still_gathering(self, connection: Connection) -> Fingerprint:
        found = _fingerprint(connection)
        if found is None or found != self._begun:
            raise not_gathering()
        return found


def _fingerprint(connection: Connection) -> Fingerprint | None:
    row = connection.execute(_IS_THERE).fetchone()
    return read_fingerprint(connection, "next_library") if row and row["there"] else None
