"""The documents of an embedded library: one SQLite file with documents, chunks, vectors and term counts.

A document is written in one transaction, mostly with others, that is synced to disk before they are acknowledged: it is
stored whole or not at all. Every chunk has a number that is never reused; the table `removed` lists the numbers of
deleted chunks. An index compares these numbers with its own to find the changes that it lacks.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import DiskFull, LibraryBusy, LibraryDamaged
from answerable.protocols import (
    Addition,
    Difference,
    Fingerprint,
    IndexedChunk,
    Issue,
    StoredDocument,
    SyncRecord,
    Unerased,
)
from answerable.stores import records
from answerable.stores.embedded.database import audit
from answerable.stores.embedded.database.connection import one_moment
from answerable.stores.embedded.database.file import DatabaseFile
from answerable.stores.embedded.database.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    bind_embedder,
    count_terms,
    insert_document,
    last_removal,
    read_document,
    read_erased,
    read_fingerprint,
    read_indexed_chunk,
    read_meta,
    read_stored_document,
    remove_document,
    same_documents,
    write_erased,
    write_records,
)
from answerable.text.places import TEXT_HASH, text_hash

_BATCH = 500
# Most of a long chat's row is its parts.
_WITHOUT_PARTS = "SELECT id, content, source, title, type, language, metadata FROM documents WHERE number = ?"
_OF_TEXT = 'document, id, sequence, start, "end", context, location, parts'

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a database, by which an index knows if it is up to date. New vectors change `identity`.

    Removals up to `erased` have left no data in the file.
    """

    identity: str
    last_number: int
    last_removal: int
    chunks: int
    erased: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """The part of a chunk that is stored in an index."""

    number: int
    vector: FloatArray
    terms: Mapping[str, int]
    fields: Mapping[str, Any]


class Database(DatabaseFile):
    """Documents and chunks in the file. Follows `protocols.DocumentStore` and `SyncStore`."""

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the vectors; None until the library is bound to one."""
        with self._reading() as connection:
            return self.binding.tell(self._made_by(connection))

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        """Bind the library to an embedder unless it already has one."""
        with self.transaction() as connection:
            bind_embedder(connection, "fingerprint", fingerprint)

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        """Write a document and its record, and remove the documents it replaces, in one transaction."""
        with self._putting() as (connection, frequency):
            for document_id in sorted({document.id, *replaces}):
                remove_document(connection, document_id, frequency)
            insert_document(connection, document, chunks, frequency)
            write_records(connection, [record] if record else [])

    def put_all(self, additions: Sequence[Addition]) -> None:
        """Write documents and their records, and remove the documents they replace, in one transaction."""
        with self._putting() as (connection, frequency):
            for each in additions:
                for document_id in same_documents(connection, each.document):
                    remove_document(connection, document_id, frequency)
                insert_document(connection, each.document, each.chunks, frequency)
            write_records(connection, [each.record for each in additions if each.record])

    def remove(self, *document_ids: str) -> bool:
        """Remove documents, their chunks and their share of the term counts."""
        with self._counting() as (connection, frequency):
            removed = [remove_document(connection, document_id, frequency) for document_id in document_ids]
        self.checkpoint()
        return any(removed)

    def unerased(self) -> Unerased:
        """Return how many removed chunks may have left data in the file, and when it was last rewritten."""
        with self.snapshot() as connection:
            removal, moment = read_erased(connection)
            return Unerased(max(0, last_removal(connection) - removal), moment)

    def erase(self) -> None:
        """Rewrite the file and its log, since SQLite leaves copies of moved cells in the free space of its pages.

        Raise LibraryReadOnly, DiskFull, and LibraryBusy if another process reads the log for too long.
        """
        with self._locked() as connection:
            self._require_writable()
            removal = last_removal(connection)
            needed = 2 * self.path.stat().st_size
            if shutil.disk_usage(self.path.parent).free < needed:
                raise DiskFull(f"Erasing what was removed from {self.path} needs {needed / 1e6:,.0f} MB of free space.")
            connection.execute("VACUUM")
            if not self.checkpoint():
                raise LibraryBusy(f"Another process is reading {self.path}. Erase again when it is done.")
            with self.transaction():
                write_erased(connection, removal, time.time())

    def records(self, origin: str = "") -> list[SyncRecord]:
        """Return the sync records of an origin, or of all, sorted by origin and source."""
        query = "SELECT * FROM records WHERE ? IN ('', origin) ORDER BY origin, source"
        with self._reading() as connection:
            return [records.sync_record_from_row(row) for row in connection.execute(query, (origin,))]

    def remember(self, kept: Sequence[SyncRecord]) -> None:
        """Write records in one transaction."""
        with self.transaction() as connection:
            write_records(connection, kept)

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Remove the sync records of these sources; the documents stay."""
        statement = "DELETE FROM records WHERE origin = ? AND source = ?"
        with self.transaction() as connection:
            connection.executemany(statement, ((origin, source) for source in sources))
        self.checkpoint()

    def version(self) -> Version:
        """Return the current version. Raise EmbedderMismatch if another embedder's vectors replaced the old."""
        with self._reading() as connection:
            made_by, version = self._kept.get(connection, "version", _bound_version)
            self.binding.check(made_by)
            return version

    @contextmanager
    def changes(self, after_number: int, after_removal: int) -> Iterator[tuple[Version, Iterator[Entry], list[int]]]:
        """Yield the version, the chunks after `after_number` and the removals after `after_removal`, from one snapshot.

        Raise EmbedderMismatch.
        """
        query = "SELECT number, fields, terms, vector FROM chunks WHERE number > ? ORDER BY number"
        with self._bound() as connection:
            added = (self._entry(connection, row) for row in connection.execute(query, (after_number,)))
            removed = connection.execute("SELECT number FROM removed WHERE sequence > ?", (after_removal,)).fetchall()
            yield _version(connection), added, [row["number"] for row in removed]

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
            return self._chunks_of(connection, document_id, read_indexed_chunk)

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Return chunks with their documents (without parts); skip unknown numbers. Raise EmbedderMismatch."""
        wanted = list(dict.fromkeys(numbers))
        found: dict[int, tuple[IndexedChunk, Document]] = {}
        query = f"SELECT number, document, {CHUNK_COLUMNS} FROM chunks WHERE number IN"
        with self._bound() as connection:
            for row in _in_batches(connection, query, wanted):
                document = self._document_of(connection, row)
                found[row["number"]] = read_indexed_chunk(row, document), document
        return {number: found[number] for number in wanted if number in found}

    def languages(self) -> list[str]:
        """Return the languages of the documents, each once."""
        with self._reading() as connection:
            return list(self._kept.get(connection, "languages", _languages))

    def count(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        with self._reading() as connection:
            return self._kept.get(connection, "count", _count)

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term."""
        found = dict.fromkeys(terms, 0)
        with self._reading() as connection:
            rows = _in_batches(connection, "SELECT term, chunks FROM terms WHERE term IN", list(found))
            found.update((row["term"], row["chunks"]) for row in rows)
        return found

    def audit(self) -> list[Issue]:
        """Return the faults of the file (see `database.audit`)."""
        try:
            with self.snapshot() as connection:
                return audit.issues(connection)
        except LibraryDamaged as error:
            return [Issue(Difference.DAMAGED, self.path.name, str(error))]

    def repair(self) -> None:
        """Repair what `audit` finds. Raise LibraryDamaged if tables are damaged."""
        with self.transaction() as connection, self._decoding():
            audit.repair(connection)

    @contextmanager
    def _counting(self) -> Iterator[tuple[sqlite3.Connection, Counter[str]]]:
        """Write in one transaction, and with it the changes that the block makes to the numbers of chunks of terms."""
        frequency: Counter[str] = Counter()
        with self.transaction() as connection:
            yield connection, frequency
            count_terms(connection, frequency)

    @contextmanager
    def _putting(self) -> Iterator[tuple[sqlite3.Connection, Counter[str]]]:
        """As `_counting`. Raise EmbedderMismatch if another embedder's vectors replaced the old."""
        with self._counting() as (connection, frequency):
            with self._decoding():
                self.binding.check(read_fingerprint(connection, "fingerprint"))
            yield connection, frequency

    def _entry(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Entry:
        fields = json.loads(row["fields"])
        if TEXT_HASH not in fields:
            # Written by an earlier version.
            (chunk,) = connection.execute(f"SELECT {_OF_TEXT} FROM chunks WHERE number = ?", (row["number"],))
            fields[TEXT_HASH] = [text_hash(records.chunk_from_row(chunk, self._document_of(connection, chunk)))]
        return Entry(row["number"], records.vector_from_bytes(row["vector"]), json.loads(row["terms"]), fields)

    def _document_of(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Document:
        """Return the document, without parts, of a chunk's row."""
        read = partial(_without_parts, connection, row["document"])
        return self._kept.document(connection, row["document"], read)

    def _described(self, where: str, *values: str) -> list[StoredDocument]:
        query = f"SELECT {DOCUMENT_COLUMNS} FROM documents {where} ORDER BY source, id"
        with self._reading() as connection:
            return [read_stored_document(row) for row in connection.execute(query, values)]

    def _chunks_of(
        self, connection: sqlite3.Connection, document_id: str, read: Callable[[Any, Document], Read]
    ) -> list[Read]:
        number = "SELECT number FROM documents WHERE id = ?"
        query = f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE document = ({number}) ORDER BY sequence"
        document = self.document(document_id)
        return [read(row, document) for row in connection.execute(query, (document_id,))] if document else []


def _version(connection: sqlite3.Connection) -> Version:
    numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    given, taken = numbers.get("chunks", 0), numbers.get("removed", 0)
    # Numbers have no gaps and every removal is listed, so the difference is the number of chunks.
    return Version(str(read_meta(connection, "identity")), given, taken, given - taken, read_erased(connection)[0])


def _bound_version(connection: sqlite3.Connection) -> tuple[Fingerprint | None, Version]:
    """Return the embedder and the version of one moment."""
    with one_moment(connection):
        return read_fingerprint(connection, "fingerprint"), _version(connection)


def _count(connection: sqlite3.Connection) -> tuple[int, int]:
    (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    return int(documents), _version(connection).chunks


def _languages(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT DISTINCT language FROM documents ORDER BY language")]


def _without_parts(connection: sqlite3.Connection, number: int) -> Document:
    return read_document(connection.execute(_WITHOUT_PARTS, (number,)).fetchone(), with_parts=False)


def _in_batches(connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> Iterator[sqlite3.Row]:
    """Yield the rows of a query that ends in IN, for any number of values."""
    for start in range(0, len(values), _BATCH):
        some = values[start : start + _BATCH]
        yield from connection.execute(f"{query} ({','.join('?' * len(some))})", some)
