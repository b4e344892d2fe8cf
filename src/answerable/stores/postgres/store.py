"""A library on a PostgreSQL server with pgvector: documents, vectors and terms in one schema.

A document is written in one transaction with all rows that searches read. A process caches nothing, so any number of
processes and machines may read and write at once; writers of a library take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import (
    CountingStore,
    ErasingStore,
    Fingerprint,
    IndexedChunk,
    Issue,
    NextVectors,
    PassageVectors,
    Store,
    StoredDocument,
    SyncRecord,
    Unerased,
)
from answerable.stores import records
from answerable.stores.addresses import parse_postgres
from answerable.stores.exact import Scored
from answerable.stores.postgres import rows as postgres_rows
from answerable.stores.postgres import search as postgres_search
from answerable.stores.postgres import upkeep
from answerable.stores.postgres.connection import Connection, Connections
from answerable.stores.postgres.values import decode, encode, key, vector_to_text
from answerable.stores.records import Binding, other_reindex, reindex_ended

Made = TypeVar("Made")

# Skip from each language to the next in the index: this takes the same time for any number of documents.
_LANGUAGES = """
    WITH RECURSIVE found AS (
        SELECT min(language) AS language FROM documents
        UNION ALL
        SELECT (SELECT min(language) FROM documents WHERE language > found.language) FROM found
        WHERE found.language IS NOT NULL
    )
    SELECT language FROM found WHERE language IS NOT NULL ORDER BY language
"""


class PostgresStore(Store, CountingStore, ErasingStore):
    """A library at an address (see `stores.addresses`). `create` creates a missing one.

    Safe to share between threads. Raises LibraryNotFound, LibraryFormatError, LibraryError and SettingsError.
    """

    def __init__(self, address: str, create: bool = True) -> None:
        self._connections = Connections(parse_postgres(address), create)
        self._binding = Binding()
        # Earlier versions, or a process that added documents, may have left the codes unmade.
        self.refresh()

    @property
    def is_writable(self) -> bool:
        return self._connections.is_writable

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._binding.pin(self._connections.run(postgres_rows.read_fingerprint))

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        value = postgres_rows.fingerprint_to_json(fingerprint)
        statement = "UPDATE library SET fingerprint = %s WHERE fingerprint IS NULL"
        if self._connections.run(postgres_rows.read_fingerprint) is None:
            self._connections.write(lambda connection: connection.execute(statement, (value,)))

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Store a document and remove those it replaces, in one step; everything is on disk when the call returns."""

        def write(connection: Connection) -> None:
            self._check_binding(connection)
            postgres_rows.remove(connection, {document.id, *replaces})
            postgres_rows.insert(connection, document, chunks)
            postgres_rows.write_records(connection, [record] if record else [])

        self._connections.write(write)

    def waiting(self) -> list[int]:
        return self._connections.read(postgres_rows.waiting)

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        def fill(connection: Connection) -> None:
            self._check_binding(connection)
            postgres_rows.fill(connection, vectors)

        self._connections.write(fill)

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists. `erase` rewrites the files."""
        found: list[int] = []
        # If the connection was lost, the first attempt may have removed the documents: any result counts.
        self._connections.write(lambda connection: found.append(postgres_rows.remove(connection, document_ids)))
        return any(found)

    def unerased(self) -> Unerased:
        return self._connections.run(upkeep.unerased)

    def erase(self) -> None:
        """Rewrite all tables (see `upkeep`). Raise LibraryReadOnly and LibraryBusy."""
        upkeep.erase(self._connections)

    def records(self, origin: str = "") -> list[SyncRecord]:
        rows = self._rows("SELECT * FROM records WHERE %s IN ('', origin) ORDER BY origin, source", encode(origin))
        return [records.sync_record_from_row(row, decode) for row in rows]

    def remember(self, kept: Sequence[SyncRecord]) -> None:
        self._connections.write(lambda connection: postgres_rows.write_records(connection, kept))

    def forget(self, origin: str, sources: Collection[str]) -> None:
        statement = "DELETE FROM records WHERE origin = %s AND source = ANY (%s)"
        values = encode(origin), [encode(source) for source in sources]
        self._connections.write(lambda connection: connection.execute(statement, values))

    def next_vectors(self) -> PostgresNextVectors:
        return PostgresNextVectors(self._connections, self._binding)

    def refresh(self) -> None:
        """Make binary codes once there are many vectors; from then on, codes are written together with the vectors."""
        if self.is_writable:
            postgres_rows.make_codes_if_due(self._connections)

    def document(self, document_id: str) -> Document | None:
        query = f"SELECT {postgres_rows.DOCUMENT}, parts FROM documents WHERE id = %s"
        rows = self._rows(query, encode(document_id))
        return postgres_rows.document(rows[0]) if rows else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        query = f"SELECT {postgres_rows.STORED} FROM documents WHERE %s IN ('', type) ORDER BY source, id"
        return (records.stored_document(row, decode) for row in self._rows(query, encode(type)))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        where = "id = %s OR (source = %s AND source != '')"
        query = f"SELECT {postgres_rows.STORED} FROM documents WHERE {where} ORDER BY source, id"
        return [records.stored_document(row, decode) for row in self._rows(query, encode(document_id), encode(source))]

    def chunks(self, document_id: str) -> list[Chunk]:
        query = f"SELECT {postgres_rows.CHUNK} FROM chunks WHERE document = %s ORDER BY sequence"
        return self._chunks_of(document_id, query, lambda row, owner: records.chunk_from_row(row, owner, decode))

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        joined = "chunks JOIN entries USING (number)"
        query = f"SELECT {postgres_rows.INDEXED} FROM {joined} WHERE document = %s ORDER BY sequence"
        return self._chunks_of(document_id, query, postgres_rows.indexed_chunk, self._check_binding)

    def languages(self) -> list[str]:
        return [row["language"] for row in self._rows(_LANGUAGES)]

    def count(self) -> tuple[int, int]:
        (row,) = self._rows("SELECT documents, chunks FROM library")
        return row["documents"], row["chunks"]

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        return self._bound(lambda connection: postgres_search.search_vectors(connection, vector, k, where))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        return self._bound(lambda connection: postgres_search.cosines(connection, vector, numbers))

    def _bound(self, search: Callable[[Connection], postgres_search.Bound]) -> Scored:
        """Search vectors. Raise EmbedderMismatch if another embedder's vectors have replaced the old ones."""

        def checked(connection: Connection) -> Scored:
            try:
                made_by, found = search(connection)
            except Exception:
                # The search fails if another embedder's vectors of another length have replaced the old ones.
                self._check_binding(connection)
                raise
            self._binding.check(made_by)
            return found

        return self._connections.run(checked)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        return self._connections.run(
            lambda connection: postgres_search.search_terms(connection, terms, k, where, rarities)
        )

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        return self._connections.run(lambda connection: postgres_search.count_places(connection, hashes, where))

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        wanted = list(dict.fromkeys(numbers))

        made_by, found = self._connections.run(lambda connection: postgres_rows.fetch(connection, wanted))
        self._binding.check(made_by)
        return {number: found[number] for number in wanted if number in found}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        keys = {term: key(term) for term in terms}
        rows = self._rows("SELECT term, chunks FROM terms WHERE term = ANY (%s)", list(keys.values()))
        found = {row["term"]: row["chunks"] for row in rows}
        return {term: found.get(stored, 0) for term, stored in keys.items()}

    def audit(self) -> list[Issue]:
        """Return the faults of the tables (see `upkeep`), all from one snapshot."""
        return self._connections.read(upkeep.issues)

    def repair(self, rebuild: bool = True) -> None:
        """Remove unreadable and orphaned rows, and derive the search data again, in one transaction."""
        self._connections.write(lambda connection: upkeep.repair(connection, rebuild))

    def close(self) -> None:
        self._connections.close()

    def _chunks_of(
        self,
        document_id: str,
        query: str,
        made: Callable[[Mapping[str, Any], Document], Made],
        check: Callable[[Connection], None] = lambda connection: None,
    ) -> list[Made]:
        def read(connection: Connection) -> list[Made]:
            check(connection)
            documents = f"SELECT {postgres_rows.DOCUMENT} FROM documents WHERE id = %s"
            found = connection.execute(documents, (encode(document_id),)).fetchone()
            if found is None:
                return []
            owner = postgres_rows.document(found)
            return [made(row, owner) for row in connection.execute(query, (found["number"],), binary=True)]

        return self._connections.read(read)

    def _check_binding(self, connection: Connection) -> None:
        self._binding.check(postgres_rows.read_fingerprint(connection))

    def _rows(self, query: str, *parameters: Any) -> list[dict[str, Any]]:
        return self._connections.run(lambda connection: connection.execute(query, parameters).fetchall())


_IS_THERE = "SELECT to_regclass(quote_ident(current_schema()) || '.next_library') IS NOT NULL AS there"
_TABLES = """
    CREATE TABLE IF NOT EXISTS next_library (fingerprint jsonb NOT NULL);
    CREATE TABLE IF NOT EXISTS next_vectors (
        number bigint PRIMARY KEY, vector vector NOT NULL, sentence_vectors bytea NOT NULL
    );
"""
_NEXT = "INSERT INTO next_library SELECT %s WHERE NOT EXISTS (SELECT FROM next_library)"
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


class PostgresNextVectors(NextVectors):
    """Vectors of another embedder, collected in tables of their own in the schema of a library.

    They replace the library's vectors in one transaction: every reader sees either all old or all new vectors, and no
    reader waits. The old vectors' binary codes are deleted; searches score every chunk until new codes are made.
    """

    def __init__(self, connections: Connections, binding: Binding) -> None:
        self._connections = connections
        self._binding = binding
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._connections.read(_fingerprint)

    def begin(self, fingerprint: Fingerprint) -> None:
        def begin(connection: Connection) -> None:
            there = _fingerprint(connection)
            if there is None:
                connection.execute(_TABLES)
                connection.execute(_NEXT, (postgres_rows.fingerprint_to_json(fingerprint),))
            elif there != fingerprint:
                raise other_reindex(there, fingerprint)

        self._connections.write(begin)
        self._begun = fingerprint

    def missing(self) -> list[int]:
        def missing(connection: Connection) -> list[int]:
            query = _MISSING if _fingerprint(connection) else "SELECT number FROM chunks"
            return [row["number"] for row in connection.execute(f"{query} ORDER BY number")]

        return self._connections.read(missing)

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        rows = [
            (number, vector_to_text(found.whole), records.quantize(found.spans)) for number, found in vectors.items()
        ]

        def keep(connection: Connection) -> None:
            self._collecting(connection)
            with connection.cursor() as cursor:
                cursor.executemany(_KEEP, rows)

        self._connections.write(keep)

    def switch(self) -> bool:
        if not self._connections.read(self._is_whole):
            return False
        switched: list[Fingerprint] = []

        with self._connections.one() as connection:
            connection.execute("SELECT set_config('statement_timeout', '0', false)")
            with connection.transaction():
                connection.execute("SELECT FROM library FOR UPDATE")
                if self._is_whole(connection):
                    switched.append(self._collecting(connection))
                    for statement in (*_SWITCH, _FORGET):
                        connection.execute(statement)
                    postgres_rows.forget_codes(connection)
            connection.execute("VACUUM (ANALYZE) entries, chunks, sketches")
        if switched:
            self._binding.move(switched[0])
        return bool(switched)

    def drop(self) -> None:
        if self.fingerprint is not None:
            self._connections.write(lambda connection: connection.execute(_FORGET))

    def _is_whole(self, connection: Connection) -> bool:
        self._collecting(connection)
        return connection.execute(f"{_MISSING} LIMIT 1").fetchone() is None

    def _collecting(self, connection: Connection) -> Fingerprint:
        found = _fingerprint(connection)
        if found is None or found != self._begun:
            raise reindex_ended()
        return found


def _fingerprint(connection: Connection) -> Fingerprint | None:
    row = connection.execute(_IS_THERE).fetchone()
    return postgres_rows.read_fingerprint(connection, "next_library") if row and row["there"] else None
