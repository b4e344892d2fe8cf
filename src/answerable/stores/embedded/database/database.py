"""The truth of an embedded library: one SQLite file with documents, chunks, vectors and term counts.

A document is written in one transaction that is synced to disk before it is acknowledged, so that it is there whole
or not at all, whatever happens. Every chunk has a number that is never given again; `removed` keeps the numbers of
those that are gone. From the two, an index knows what it has missed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryDamaged, LibraryFormatError, LibraryNotFound
from answerable.protocols import Difference, Fingerprint, IndexedChunk, Issue, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.binding import Binding
from answerable.stores.embedded.database import audit as database_audit
from answerable.stores.embedded.database.connection import Kept, connect, damaged, one_moment, read_only, translated
from answerable.stores.embedded.database.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    MIGRATIONS,
    bind_embedder,
    insert_document,
    read_chunk,
    read_document,
    read_fingerprint,
    read_indexed_chunk,
    read_meta,
    read_stored_document,
    remove_document,
    write_records,
)

FORMAT = len(MIGRATIONS)
_BATCH = 500
# Of a long chat the parts are most of the row.
_WITHOUT_PARTS = "SELECT id, content, source, title, type, language, metadata FROM documents WHERE number = ?"
_LANGUAGES = "SELECT DISTINCT language FROM documents ORDER BY language"

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Version:
    """How far the database has come: what an index compares itself with. New vectors make another `identity`."""

    identity: str
    last_number: int
    last_removal: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What an index takes in of a chunk."""

    number: int
    vector: FloatArray
    terms: Mapping[str, int]
    fields: Mapping[str, Any]


class Database:
    """One connection, shared between threads by a lock. Raises only the errors of our tree.

    `path` is the file; it is made when it isn't there and `create` says so.
    """

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self.binding = Binding()
        self._lock = threading.RLock()
        # Every search asks for the languages and how many documents there are: each would look at all of them.
        self._kept = Kept()
        if not os.path.exists(path) and not create:
            raise LibraryNotFound(
                f"There is no library at {path.parent}. Make one by adding something: answerable add PATH"
            )
        with self._translated():
            self._connection, self.is_writable = connect(path)
            try:
                self._prepare()
            except BaseException:
                # Who makes it anew must be the only one that has it open.
                self._connection.close()
                raise

    def close(self) -> None:
        """Frees the connection."""
        with self._lock:
            self._connection.close()

    @property
    def identity(self) -> str:
        """What tells these vectors from those of every other library, and from those that were here before."""
        with self._reading() as connection:
            return str(read_meta(connection, "identity"))

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        with self._reading() as connection:
            return self.binding.tell(read_fingerprint(connection, "fingerprint"))

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        with self.transaction() as connection:
            bind_embedder(connection, "fingerprint", fingerprint)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str],
        record: SyncRecord | None = None,
    ) -> None:
        """Writes a document and its record in one transaction with removing those it replaces."""
        with self.transaction() as connection:
            self._check_binding(connection)
            for document_id in sorted({document.id, *replaces}):
                remove_document(connection, document_id)
            insert_document(connection, document, chunks)
            write_records(connection, [record] if record else [])

    def records(self, origin: str) -> list[SyncRecord]:
        """What is remembered of an origin, or of all where it is empty, by origin and source."""
        query = "SELECT * FROM records WHERE ? IN ('', origin) ORDER BY origin, source"
        with self._reading() as connection:
            return [records.sync_record_from_row(row) for row in connection.execute(query, (origin,))]

    def remember(self, kept: Sequence[SyncRecord]) -> None:
        """Writes records in one transaction."""
        with self.transaction() as connection:
            write_records(connection, kept)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Removes records."""
        with self.transaction() as connection:
            connection.executemany(
                "DELETE FROM records WHERE origin = ? AND source = ?", ((origin, source) for source in sources)
            )

    def remove(self, *document_ids: str) -> bool:
        """Removes documents, their chunks and their share of the term counts."""
        with self.transaction() as connection:
            removed = [remove_document(connection, document_id) for document_id in document_ids]
        self.checkpoint()
        return any(removed)

    def version(self) -> Version:
        """How far the database has come. Raises EmbedderMismatch."""
        with self.snapshot() as connection:
            self._check_binding(connection)
            return _version(connection)

    @contextmanager
    def changes(self, after_number: int, after_removal: int) -> Iterator[tuple[Version, Iterator[Entry], list[int]]]:
        """What came and went since, as of one moment: the version, the chunks, and the numbers removed.

        Raises EmbedderMismatch.
        """
        with self._locked() as connection, one_moment(connection):
            self._check_binding(connection)
            version = _version(connection)
            added = connection.execute(
                "SELECT number, fields, terms, vector FROM chunks WHERE number > ? ORDER BY number", (after_number,)
            )
            removed = connection.execute("SELECT number FROM removed WHERE sequence > ?", (after_removal,)).fetchall()
            yield version, self._entries(added), [row["number"] for row in removed]

    def document(self, document_id: str) -> Document | None:
        """The whole document with its parts."""
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM documents WHERE id = ?", (document_id,)).fetchone()
            return read_document(row, with_parts=True) if row else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Every document, or every one of a type, by source and id."""
        where, values = ("WHERE type = ?", (type,)) if type else ("", ())
        with self._reading() as connection:
            rows = connection.execute(f"SELECT {DOCUMENT_COLUMNS} FROM documents {where} ORDER BY source, id", values)
            return iter([read_stored_document(row) for row in rows])

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """The documents that have this id or, where it isn't empty, this source."""
        # Documents without a source are many: asked for by an empty one, each would be looked at.
        which, values = ("id = ? OR source = ?", (document_id, source)) if source else ("id = ?", (document_id,))
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents WHERE {which} ORDER BY source, id"
        with self._reading() as connection:
            return [read_stored_document(row) for row in connection.execute(query, values)]

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        return self._chunks_of(document_id, read_chunk)

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """A document's chunks in order, with everything that is kept of them."""
        with self.snapshot() as connection:
            self._check_binding(connection)
            return self._chunks_of(document_id, read_indexed_chunk)

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        with self._reading() as connection:
            return list(self._kept.get(connection, _LANGUAGES, lambda rows: [row[0] for row in rows]))

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        with self._reading() as connection:
            documents = self._kept.get(connection, "SELECT count(*) FROM documents", lambda rows: rows.fetchone()[0])
            return int(documents), _version(connection).chunks

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        found = dict.fromkeys(terms, 0)
        ordered = list(found)
        with self._reading() as connection:
            for start in range(0, len(ordered), _BATCH):
                some = ordered[start : start + _BATCH]
                query = f"SELECT term, chunks FROM terms WHERE term IN ({_marks(some)})"
                found.update((row["term"], row["chunks"]) for row in connection.execute(query, some))
        return found

    def audit(self) -> list[Issue]:
        """What is wrong in the file (see `database_audit`)."""
        try:
            with self.snapshot() as connection:
                return database_audit.issues(connection)
        except LibraryDamaged as error:
            return [Issue(Difference.DAMAGED, self.path.name, str(error))]

    def repair(self) -> None:
        """Puts right what `audit` finds, as far as that is possible. Raises LibraryDamaged where tables are damaged."""
        with self.transaction() as connection, self._decoding():
            database_audit.repair(connection)

    @contextmanager
    def closed(self) -> Iterator[Path]:
        """The file, closed while another one is made in its place; then that one is opened."""
        with self._lock, self._translated():
            self._connection.close()
            try:
                yield self.path
            finally:
                self._connection, self.is_writable = connect(self.path)
                self._kept.forget()

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts); unknown numbers are left out. Raises EmbedderMismatch."""
        wanted = list(dict.fromkeys(numbers))
        found: dict[int, tuple[IndexedChunk, Document]] = {}
        with self.snapshot() as connection:
            self._check_binding(connection)
            for start in range(0, len(wanted), _BATCH):
                some = wanted[start : start + _BATCH]
                for row in connection.execute(
                    f"SELECT number, document, {CHUNK_COLUMNS} FROM chunks WHERE number IN ({_marks(some)})", some
                ):
                    read = partial(_without_parts, connection, row["document"])
                    document = self._kept.document(connection, row["document"], read)
                    found[row["number"]] = read_indexed_chunk(row, document), document
        return {number: found[number] for number in wanted if number in found}

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; other writers wait."""
        with self._locked() as connection:
            if not self.is_writable:
                raise read_only(self.path)
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
        """All that is read inside is of the same moment."""
        with self._reading() as connection, one_moment(connection):
            yield connection

    def checkpoint(self) -> None:
        """Takes what was deleted or written over out of the log too."""
        with self._reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _check_binding(self, connection: sqlite3.Connection) -> None:
        with self._decoding():
            self.binding.check(read_fingerprint(connection, "fingerprint"))

    def _chunks_of(self, document_id: str, read: Callable[[sqlite3.Row, Document], Read]) -> list[Read]:
        number = "SELECT number FROM documents WHERE id = ?"
        query = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE document = ({number}) ORDER BY sequence"
        with self.snapshot() as connection:
            document = self.document(document_id)
            if document is None:
                return []
            return [read(row, document) for row in connection.execute(query, (document_id,))]

    def _entries(self, rows: Iterator[sqlite3.Row]) -> Iterator[Entry]:
        with self._decoding():
            for row in rows:
                vector = records.vector_from_bytes(row["vector"])
                yield Entry(row["number"], vector, json.loads(row["terms"]), json.loads(row["fields"]))

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
        except database_audit.UNREADABLE as error:
            # SQLite has no checksums: what it reads from a damaged page may be anything.
            raise damaged(self.path, str(error)) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def _prepare(self) -> None:
        if self._format() < FORMAT and self.is_writable:
            with self.transaction() as connection:
                # Another process may have been first.
                found = self._format()
                for statement in ";".join(MIGRATIONS[found:]).split(";"):
                    connection.execute(statement)
                if not found:
                    connection.execute("INSERT INTO meta VALUES ('identity', ?)", (uuid.uuid4().hex,))
                connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(FORMAT),))
        found = self._format()
        if found != FORMAT:
            way_out = "Open it once where it may be written to" if found < FORMAT else "Use the version that made it"
            raise LibraryFormatError(
                f"The library {self.path.parent} has format {found}; this version of answerable reads format {FORMAT}. "
                f"{way_out}, or add your documents to a new library with --library."
            )

    def _format(self) -> int:
        """The format of the library, 0 before anything was made."""
        with self._decoding():
            return int(read_meta(self._connection, "format") or 0) if self._has_schema() else 0

    def _has_schema(self) -> bool:
        return self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is not None


def _version(connection: sqlite3.Connection) -> Version:
    numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    given, taken = numbers.get("chunks", 0), numbers.get("removed", 0)
    # Numbers are given without gaps and every removal is kept: the difference is what is there, without counting it.
    return Version(str(read_meta(connection, "identity")), given, taken, given - taken)


def _without_parts(connection: sqlite3.Connection, number: int) -> Document:
    return read_document(connection.execute(_WITHOUT_PARTS, (number,)).fetchone(), with_parts=False)


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
