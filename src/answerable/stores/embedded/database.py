"""The documents of an embedded library: one SQLite file with documents, chunks, vectors and term counts.

A document is written in one transaction, often with other documents, and synced to disk before the call returns: it is
stored whole or not at all. Every chunk has a number that is never reused; the table `removed` lists the numbers of
deleted chunks, `filled` those whose vectors came later. An index compares these with its own to find what it lacks.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryNotFound
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument
from answerable.stores import records
from answerable.stores.embedded.file import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    FORMAT,
    Version,
    connect,
    damaged,
    migrate,
    read_document,
    read_fingerprint,
    read_format,
    read_meta,
    read_only,
    read_version,
    require_format,
    translated,
)
from answerable.stores.records import UNREADABLE, Binding
from answerable.text.indexed_text import TEXT_HASH, text_hash

_AMONG = "IN (SELECT value FROM json_each(?))"
# Characters of documents to cache: one message of a long chat needs the whole text. A round number: 64 to 256 MB.
KEPT_CHARACTERS = 64_000_000
# The columns without `parts`, which are most of a long chat's row.
_WITHOUT_PARTS = "SELECT id, content, source, title, type, language, metadata FROM documents WHERE number = ?"
_OF_TEXT = 'document, id, sequence, start, "end", context, location, parts'

Read = TypeVar("Read")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Entry:
    """The part of a chunk that is stored in an index."""

    number: int
    vector: FloatArray
    terms: Mapping[str, int]
    fields: Mapping[str, Any]


class Database:
    """One connection, shared between threads by a lock. Raises only AnswerableErrors.

    `create` creates a missing file at `path`; otherwise raises LibraryNotFound.
    """

    is_writable = False

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self.binding = Binding()
        self._lock = threading.RLock()
        # Every search needs counts and languages many times, and SQLite reads all documents for them.
        self._cache = QueryCache()
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
                self._cache.forget()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read everything from one snapshot, unaffected by other writers; a nested block uses the outer snapshot."""
        with self._reading() as connection:
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    @contextmanager
    def closed(self) -> Iterator[Path]:
        """Close the file while the block runs, which may replace the file, and then open it again."""
        with self._lock, self._translated():
            self._connection.close()
            try:
                yield self.path
            finally:
                self._connect()
                self._cache.forget()

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
        """Read vectors from one snapshot. Raise EmbedderMismatch if another embedder's vectors have replaced them."""
        with self.snapshot() as connection:
            self.binding.check(self._made_by(connection))
            yield connection

    def _made_by(self, connection: sqlite3.Connection) -> Fingerprint | None:
        return self._cache.get(connection, "fingerprint", lambda found: read_fingerprint(found, "fingerprint"))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._locked() as connection, self.decoding():
            yield connection

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated():
            yield self._connection

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Raise LibraryDamaged if the block reads a damaged row."""
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
                # Another process may have migrated the file meanwhile.
                migrate(connection, self._format())
        require_format(self._format(), self.path)

    def _format(self) -> int:
        with self.decoding():
            return read_format(self._connection)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        with self._reading() as connection:
            return self.binding.pin(self._made_by(connection))

    def version(self) -> Version:
        """Return the current version. Raise EmbedderMismatch if another embedder's vectors have replaced these."""
        with self._reading() as connection:
            made_by, version = self._cache.get(connection, "version", self._bound_version)
            self.binding.check(made_by)
            return version

    @contextmanager
    def changes(
        self, number: int, removal: int, filled: int = 0
    ) -> Iterator[tuple[Version, Iterator[Entry], list[int]]]:
        """Yield, from one snapshot, the version, chunks and removals after these numbers. Raise EmbedderMismatch."""
        later = "SELECT number FROM filled WHERE sequence > ?"
        query = f"SELECT number, fields, terms, vector FROM chunks WHERE number > ? OR number IN ({later})"
        with self._bound() as connection:
            rows = connection.execute(f"{query} ORDER BY number", (number, filled))
            added = (self._entry(connection, row) for row in rows)
            removed = connection.execute("SELECT number FROM removed WHERE sequence > ?", (removal,)).fetchall()
            yield read_version(connection), added, [row["number"] for row in removed]

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts."""
        with self._reading() as connection:
            row = connection.execute("SELECT * FROM documents WHERE id = ?", (document_id,)).fetchone()
            return read_document(row, with_parts=True) if row else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Return all documents, or those of one type, without text, sorted by source and id."""
        return iter(self._described("WHERE type = ?", type) if type else self._described(""))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """Return the documents that have this id or, unless `source` is empty, this source."""
        # Many documents have an empty source: a query for it would read them all.
        if not source:
            return self._described("WHERE id = ?", document_id)
        return self._described("WHERE id = ? OR source = ?", document_id, source)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order."""
        with self.snapshot() as connection:
            return self._chunks_of(connection, document_id, records.chunk_from_row)

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with their vectors, terms and fields."""
        with self._bound() as connection:
            return self._chunks_of(connection, document_id, records.indexed_chunk_from_row)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts); skip unknown numbers. Raise EmbedderMismatch."""
        wanted = list(dict.fromkeys(numbers))
        found: dict[int, tuple[IndexedChunk, Document]] = {}
        query = f"SELECT number, document, {CHUNK_COLUMNS} FROM chunks WHERE number {_AMONG}"
        with self._bound() as connection:
            # All rows at once: in turn with reading documents, they take a tenth more CPU time.
            for row in connection.execute(query, (json.dumps(wanted),)).fetchall():
                document = self._document_of(connection, row)
                found[row["number"]] = records.indexed_chunk_from_row(row, document), document
        return {number: found[number] for number in wanted if number in found}

    def waiting(self) -> list[int]:
        """Return the numbers of the chunks that wait for their vectors, in order."""
        # The same condition as that of the index, which is read alone.
        query = "SELECT number FROM chunks WHERE vector = zeroblob(length(vector)) ORDER BY number"
        with self._reading() as connection:
            return [row["number"] for row in connection.execute(query)]

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once."""
        with self._reading() as connection:
            return list(self._cache.get(connection, "languages", _languages))

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        with self._reading() as connection:
            return self._cache.get(connection, "count", _count)

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        found = dict.fromkeys(terms, 0)
        with self._reading() as connection:
            rows = connection.execute(f"SELECT term, chunks FROM terms WHERE term {_AMONG}", (json.dumps(list(found)),))
            found.update((row["term"], row["chunks"]) for row in rows)
        return found

    def _entry(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Entry:
        fields = json.loads(row["fields"])
        if TEXT_HASH not in fields:
            # Earlier versions of answerable didn't store the hash.
            (chunk,) = connection.execute(f"SELECT {_OF_TEXT} FROM chunks WHERE number = ?", (row["number"],))
            fields[TEXT_HASH] = [text_hash(records.chunk_from_row(chunk, self._document_of(connection, chunk)))]
        return Entry(row["number"], records.vector_from_bytes(row["vector"]), json.loads(row["terms"]), fields)

    def _document_of(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Document:
        """Return the document, without parts, of a chunk's row that was read in a block of `_bound`."""

        def read() -> Document:
            return read_document(connection.execute(_WITHOUT_PARTS, (row["document"],)).fetchone(), with_parts=False)

        return self._cache.document(row["document"], read)

    def _bound_version(self, _: sqlite3.Connection) -> tuple[Fingerprint | None, Version]:
        """Return the embedder and the version, both from the same snapshot."""
        with self.snapshot() as connection:
            return read_fingerprint(connection, "fingerprint"), read_version(connection)

    def _described(self, where: str, *values: str) -> list[StoredDocument]:
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents {where} ORDER BY source, id"
        with self._reading() as connection:
            return [records.stored_document(row) for row in connection.execute(query, values)]

    def _chunks_of(
        self, connection: sqlite3.Connection, document_id: str, read: Callable[[Any, Document], Read]
    ) -> list[Read]:
        number = "SELECT number FROM documents WHERE id = ?"
        query = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE document = ({number}) ORDER BY sequence"
        document = self.document(document_id)
        return [read(row, document) for row in connection.execute(query, (document_id,))] if document else []


def _count(connection: sqlite3.Connection) -> tuple[int, int]:
    (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    return int(documents), read_version(connection).chunks


def _languages(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT DISTINCT language FROM documents ORDER BY language")]


class QueryCache:
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

    def document(self, number: int, read: Callable[[], Document]) -> Document:
        """Return a document by number, in a snapshot in which `get` was called before.

        Cache the documents used last: at least one, at most `KEPT_CHARACTERS`.
        """
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
        # `data_version` changes with commits of other connections, `total_changes` with changes of this one.
        moment = connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        if moment != self._moment:
            self._moment = moment
            self._known.clear()
            self._documents.clear()
            self._characters = 0
