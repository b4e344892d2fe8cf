"""A library on a PostgreSQL server with pgvector, for people who run one: documents, vectors and terms in one schema.

A document is written in one transaction with all rows that searches read. A process caches nothing, so any number of
processes and machines may read and write at once; writers of a library take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint, IndexedChunk, Issue, StoredDocument, SyncRecord, Unerased
from answerable.stores import records
from answerable.stores.binding import Binding
from answerable.stores.memory.keywords import Scored
from answerable.stores.postgres import audit as postgres_audit
from answerable.stores.postgres import erasing as postgres_erasing
from answerable.stores.postgres import rows as postgres_rows
from answerable.stores.postgres import search as postgres_search
from answerable.stores.postgres import sketches as postgres_sketches
from answerable.stores.postgres.address import parse_address
from answerable.stores.postgres.connection import Connection, Connections
from answerable.stores.postgres.next_vectors import PostgresNextVectors
from answerable.stores.postgres.values import decode, encode, key

Made = TypeVar("Made")

# From one language to the next by index, however many documents there are.
_LANGUAGES = """
    WITH RECURSIVE found AS (
        SELECT min(language) AS language FROM documents
        UNION ALL
        SELECT (SELECT min(language) FROM documents WHERE language > found.language) FROM found
        WHERE found.language IS NOT NULL
    )
    SELECT language FROM found WHERE language IS NOT NULL ORDER BY language
"""


class PostgresStore:
    """A library at an address (see `postgres.address`). `create` creates a missing one.

    Safe to share between threads. Raises LibraryNotFound, LibraryFormatError, LibraryError and SettingsError.
    """

    def __init__(self, address: str, create: bool = True) -> None:
        self._connections = Connections(parse_address(address), create)
        self._binding = Binding()
        # One who added, or an earlier version, may have left none.
        self.refresh()

    @property
    def is_writable(self) -> bool:
        """Whether this process may change the library."""
        return self._connections.is_writable

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        return self._binding.tell(self._connections.run(postgres_rows.read_fingerprint))

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
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
        """Store a document and remove those it replaces, in one step; all is on disk when the call returns."""

        def write(connection: Connection) -> None:
            self._check_binding(connection)
            postgres_rows.remove(connection, {document.id, *replaces})
            postgres_rows.insert(connection, document, chunks)
            postgres_rows.write_records(connection, [record] if record else [])

        self._connections.write(write)

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists. `erase` rewrites the files."""
        found: list[int] = []
        # If the connection was lost, the first attempt may have removed them: either result counts.
        self._connections.write(lambda connection: found.append(postgres_rows.remove(connection, document_ids)))
        return any(found)

    def unerased(self) -> Unerased:
        """Return how many removed chunks may have left data in the server's files."""
        return self._connections.run(postgres_erasing.unerased)

    def erase(self) -> None:
        """Rewrite all tables (see `postgres.erasing`). Raise LibraryReadOnly and LibraryBusy."""
        postgres_erasing.erase(self._connections)

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        rows = self._rows("SELECT * FROM records WHERE %s IN ('', origin) ORDER BY origin, source", encode(origin))
        return [records.sync_record_from_row({name: decode(text) for name, text in row.items()}) for row in rows]

    def remember(self, kept: Sequence[SyncRecord]) -> None:
        """Write sync records, all or none; each replaces the stored one with the same origin and source."""
        self._connections.write(lambda connection: postgres_rows.write_records(connection, kept))

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        statement = "DELETE FROM records WHERE origin = %s AND source = ANY (%s)"
        values = encode(origin), [encode(source) for source in sources]
        self._connections.write(lambda connection: connection.execute(statement, values))

    def next_vectors(self) -> PostgresNextVectors:
        """Return the object that collects vectors of another embedder."""
        return PostgresNextVectors(self._connections, self._binding)

    def refresh(self) -> None:
        """Make sketches of the vectors once there are many; from then on they are written with the vectors."""
        if self.is_writable:
            postgres_sketches.make_if_due(self._connections)

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts."""
        query = f"SELECT {postgres_rows.DOCUMENT}, parts FROM documents WHERE id = %s"
        rows = self._rows(query, encode(document_id))
        return postgres_rows.document(rows[0]) if rows else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        query = f"SELECT {postgres_rows.STORED} FROM documents WHERE %s IN ('', type) ORDER BY source, id"
        return map(postgres_rows.stored_document, self._rows(query, encode(type)))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        where = "id = %s OR (source = %s AND source != '')"
        query = f"SELECT {postgres_rows.STORED} FROM documents WHERE {where} ORDER BY source, id"
        return list(map(postgres_rows.stored_document, self._rows(query, encode(document_id), encode(source))))

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""

        query = f"SELECT {postgres_rows.CHUNK} FROM chunks WHERE document = %s ORDER BY sequence"
        return self._chunks_of(document_id, query, postgres_rows.chunk)

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields."""
        joined = "chunks JOIN entries USING (number)"
        query = f"SELECT {postgres_rows.INDEXED} FROM {joined} WHERE document = %s ORDER BY sequence"
        return self._chunks_of(document_id, query, postgres_rows.indexed_chunk, self._check_binding)

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once."""
        return [row["language"] for row in self._rows(_LANGUAGES)]

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        (row,) = self._rows("SELECT documents, chunks FROM library")
        return row["documents"], row["chunks"]

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first."""
        return self._bound(lambda connection: postgres_search.search_vectors(connection, vector, k, where))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        return self._bound(lambda connection: postgres_search.cosines(connection, vector, numbers))

    def _bound(self, search: Callable[[Connection], postgres_search.Bound]) -> Scored:
        """Search vectors. Raise EmbedderMismatch if another embedder's vectors replaced the old."""

        def checked(connection: Connection) -> Scored:
            try:
                made_by, found = search(connection)
            except Exception:
                # Vectors of another length make it fail.
                self._check_binding(connection)
                raise
            self._binding.check(made_by)
            return found

        return self._connections.run(checked)

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score, best first."""
        return self._connections.run(
            lambda connection: postgres_search.search_terms(connection, terms, k, where, rarities)
        )

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        return self._connections.run(lambda connection: postgres_search.count_places(connection, hashes, where))

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts); skip unknown numbers."""
        wanted = list(dict.fromkeys(numbers))

        made_by, found = self._connections.run(lambda connection: postgres_rows.fetch(connection, wanted))
        self._binding.check(made_by)
        return {number: found[number] for number in wanted if number in found}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        keys = {term: key(term) for term in terms}
        rows = self._rows("SELECT term, chunks FROM terms WHERE term = ANY (%s)", list(keys.values()))
        found = {row["term"]: row["chunks"] for row in rows}
        return {term: found.get(stored, 0) for term, stored in keys.items()}

    def audit(self) -> list[Issue]:
        """Return the faults of the tables (see `postgres.audit`), all from one snapshot."""
        return self._connections.read(postgres_audit.issues)

    def repair(self) -> None:
        """Repair what `audit` finds, in one transaction."""
        self._connections.write(postgres_audit.repair)

    def close(self) -> None:
        """Close the connections. Idempotent."""
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
