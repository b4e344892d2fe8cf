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
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.datatypes import Chunk, Document, DocumentType, FloatArray
from answerable.errors import (
    LibraryBusy,
    LibraryDamaged,
    LibraryError,
    LibraryFormatError,
    LibraryNotFound,
    LibraryReadOnly,
)
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument
from answerable.stores import records

FORMAT = 1
_BATCH = 500

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT NOT NULL, type TEXT NOT NULL,
    language TEXT NOT NULL, content_hash TEXT NOT NULL, metadata TEXT NOT NULL, characters INTEGER NOT NULL,
    chunks INTEGER NOT NULL, content BLOB NOT NULL, parts BLOB NOT NULL
);
CREATE INDEX documents_by_source ON documents (source, id);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents (number), id TEXT NOT NULL,
    sequence INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, context TEXT NOT NULL,
    location TEXT NOT NULL, parts TEXT NOT NULL, fields TEXT NOT NULL, terms TEXT NOT NULL, sentences TEXT NOT NULL,
    vector BLOB NOT NULL, sentence_vectors BLOB NOT NULL
);
CREATE INDEX chunks_by_document ON chunks (document, sequence);
CREATE TABLE removed (sequence INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL);
CREATE TABLE terms (term TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID;
"""

_DOCUMENT = "id, source, title, type, language, content_hash, chunks, characters, metadata"
_CHUNK = 'id, sequence, start, "end", context, location, parts, fields, terms, sentences, vector, sentence_vectors'


@dataclass(frozen=True, slots=True)
class Version:
    """How far the database has come: what an index compares itself with."""

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
        self._lock = threading.RLock()
        if not os.path.exists(path) and not create:
            raise LibraryNotFound(
                f"There is no library at {path.parent}. Make one by adding something: answerable add PATH"
            )
        with self._translated():
            self._connection, self.is_writable = _connect(path)
            self._prepare()

    def close(self) -> None:
        """Frees the connection."""
        with self._lock:
            self._connection.close()

    @property
    def identity(self) -> str:
        """What tells this library from every other."""
        return str(self._meta("identity"))

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder that made the vectors, None until there are any."""
        text = self._meta("fingerprint")
        return Fingerprint(**json.loads(text)) if text else None

    def claim(self, fingerprint: Fingerprint) -> None:
        """Binds the library to an embedder unless it is bound already."""
        value = records.to_json(
            {
                "provider": fingerprint.provider,
                "model": fingerprint.model,
                "dimension": fingerprint.dimension,
                "revision": fingerprint.revision,
            }
        )
        with self.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('fingerprint', ?)", (value,))

    def put(self, document: Document, chunks: Sequence[IndexedChunk], replaces: Collection[str]) -> None:
        """Writes a document in one transaction with removing those it replaces."""
        with self.transaction() as connection:
            for document_id in sorted({document.id, *replaces}):
                _remove(connection, document_id)
            _insert(connection, document, chunks)

    def remove(self, document_id: str) -> bool:
        """Removes a document, its chunks and its share of the term counts."""
        with self.transaction() as connection:
            removed = _remove(connection, document_id)
        with self._reading() as connection:
            # What was deleted must not live on in the log either.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def version(self) -> Version:
        """How far the database has come."""
        with self._reading() as connection:
            return _version(connection)

    @contextmanager
    def changes(self, after_number: int, after_removal: int) -> Iterator[tuple[Version, Iterator[Entry], list[int]]]:
        """What came and went since, as of one moment: the version, the chunks, and the numbers removed."""
        with self._locked() as connection, _one_moment(connection):
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
            return _document(row, with_parts=True) if row else None

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        """Every document, or every one of a type, by source and id."""
        query = f"SELECT {_DOCUMENT} FROM documents WHERE ? IN ('', type) ORDER BY source, id"
        with self._reading() as connection:
            rows = connection.execute(query, (type,))
            return iter([_stored_document(row) for row in rows])

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        """The documents that have this id or, where it isn't empty, this source."""
        query = f"SELECT {_DOCUMENT} FROM documents WHERE id = ? OR (source = ? AND source != '') ORDER BY source, id"
        with self._reading() as connection:
            return [_stored_document(row) for row in connection.execute(query, (document_id, source))]

    def chunks(self, document_id: str) -> list[Chunk]:
        """A document's chunks in order."""
        number = "SELECT number FROM documents WHERE id = ?"
        query = f"SELECT {_CHUNK} FROM chunks WHERE document = ({number}) ORDER BY sequence"
        with self._snapshot() as connection:
            document = self.document(document_id)
            if document is None:
                return []
            return [_chunk(row, document) for row in connection.execute(query, (document_id,))]

    def languages(self) -> list[str]:
        """The languages of the documents, each once."""
        with self._reading() as connection:
            return [row[0] for row in connection.execute("SELECT DISTINCT language FROM documents ORDER BY language")]

    def count(self) -> tuple[int, int]:
        """How many documents and chunks there are."""
        with self._reading() as connection:
            (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
            return documents, _version(connection).chunks

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

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        """Chunks with their documents (without parts); unknown numbers are left out."""
        wanted = list(dict.fromkeys(numbers))
        documents: dict[int, Document] = {}
        found: dict[int, tuple[IndexedChunk, Document]] = {}
        with self._snapshot() as connection:
            for start in range(0, len(wanted), _BATCH):
                some = wanted[start : start + _BATCH]
                for row in connection.execute(
                    f"SELECT number, document, {_CHUNK} FROM chunks WHERE number IN ({_marks(some)})", some
                ):
                    key = row["document"]
                    if key not in documents:
                        stored = connection.execute("SELECT * FROM documents WHERE number = ?", (key,)).fetchone()
                        documents[key] = _document(stored, with_parts=False)
                    found[row["number"]] = _indexed_chunk(row, documents[key]), documents[key]
        return {number: found[number] for number in wanted if number in found}

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; other writers wait."""
        with self._locked() as connection:
            if not self.is_writable:
                raise _read_only(self.path)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

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
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection, _one_moment(connection):
            yield connection

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated():
            yield self._connection

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except (zlib.error, ValueError, LookupError, TypeError) as error:
            # SQLite has no checksums: what it reads from a damaged page may be anything.
            raise _damaged(self.path, str(error)) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _translate(error, self.path) from error

    def _meta(self, key: str) -> str | None:
        with self._reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return row[0] if row else None

    def _prepare(self) -> None:
        if self.is_writable and not self._has_schema():
            with self.transaction() as connection:
                # Another process may have been first.
                if not self._has_schema():
                    for statement in _SCHEMA.split(";"):
                        connection.execute(statement)
                    connection.execute(
                        "INSERT INTO meta VALUES ('format', ?), ('identity', ?)", (str(FORMAT), uuid.uuid4().hex)
                    )
        found = self._meta("format")
        if found != str(FORMAT):
            raise LibraryFormatError(
                f"The library {self.path.parent} has format {found}; this version of answerable reads format {FORMAT}. "
                "Use the version that made it, or add your documents to a new library with --library."
            )

    def _has_schema(self) -> bool:
        return self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is not None


@contextmanager
def _one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is read inside is of the same moment, whatever other processes write or remove meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


def _connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.path.exists(path) and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return _connect_read_only(path), False
        connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        return connection, True
    except (sqlite3.OperationalError, PermissionError, OSError) as error:
        if not os.path.exists(path):
            raise LibraryReadOnly(
                f"A library can't be made in {path.parent} ({error}). Choose a folder you may write to with --library."
            ) from error
        if "locked" in str(error):
            raise
    return _connect_read_only(path), False


def _connect_read_only(path: Path) -> sqlite3.Connection:
    # Where not even the log's helper files can be made, nobody writes either: the file may be taken as it is.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:
            connection.close()
    raise LibraryReadOnly(
        f"The library {path.parent} can't be read. Check the permissions of the folder and of {path.name}."
    )


def _translate(error: sqlite3.Error, path: Path) -> LibraryError:
    text = str(error)
    if "full" in text:
        return LibraryError(
            f"The disk is full: {path} can't grow. What was being added is left out whole; "
            "free some space and add it again."
        )
    if "readonly" in text:
        return _read_only(path)
    if "locked" in text or "busy" in text:
        return LibraryBusy(
            f"Another process has been writing to {path.parent} for over a minute. Wait for it to finish and try again."
        )
    if isinstance(error, sqlite3.DatabaseError) and (
        "malformed" in text or "not a database" in text or "no such table" in text
    ):
        return _damaged(path, text)
    return LibraryError(f"The library's database {path} failed: {text}. Check the disk, then try again.")


def _damaged(path: Path, reason: str) -> LibraryDamaged:
    return LibraryDamaged(
        f"{path} is damaged ({reason}). Restore it from a backup, or move the folder away and add your documents again."
    )


def _read_only(path: Path) -> LibraryReadOnly:
    return LibraryReadOnly(
        f"The library {path.parent} can't be written to. Check the folder's permissions, or use another with --library."
    )


def _version(connection: sqlite3.Connection) -> Version:
    numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    given, taken = numbers.get("chunks", 0), numbers.get("removed", 0)
    # Numbers are given without gaps and every removal is kept: the difference is what is there, without counting it.
    return Version(given, taken, given - taken)


def _insert(connection: sqlite3.Connection, document: Document, chunks: Sequence[IndexedChunk]) -> None:
    cursor = connection.execute(
        "INSERT INTO documents "
        "(id, source, title, type, language, content_hash, metadata, characters, chunks, content, parts) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.id,
            document.source,
            document.title,
            str(document.type),
            document.language,
            document.content_hash,
            records.to_json(dict(document.metadata)),
            len(document.content),
            len(chunks),
            records.pack(document.content),
            records.pack(records.parts_to_json(document.parts)),
        ),
    )
    number = cursor.lastrowid
    connection.executemany(
        f"INSERT INTO chunks (document, {_CHUNK}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((number, *_chunk_row(chunk)) for chunk in chunks),
    )
    frequency = Counter(term for chunk in chunks for term in chunk.terms)
    connection.executemany(
        "INSERT INTO terms VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET chunks = chunks + excluded.chunks",
        frequency.items(),
    )


def _chunk_row(indexed: IndexedChunk) -> tuple[Any, ...]:
    chunk = indexed.chunk
    return (
        chunk.id,
        chunk.sequence,
        chunk.start,
        chunk.end,
        chunk.context,
        records.location_to_json(chunk.location),
        records.parts_to_json(chunk.parts),
        records.to_json(dict(indexed.fields)),
        records.to_json(dict(indexed.terms)),
        records.spans_to_json(indexed.sentences),
        records.vector_to_bytes(indexed.vector),
        records.quantize(indexed.sentence_vectors),
    )


def _remove(connection: sqlite3.Connection, document_id: str) -> bool:
    row = connection.execute("SELECT number FROM documents WHERE id = ?", (document_id,)).fetchone()
    if row is None:
        return False
    frequency: Counter[str] = Counter()
    for (terms,) in connection.execute("SELECT terms FROM chunks WHERE document = ?", (row["number"],)):
        frequency.update(json.loads(terms).keys())
    connection.executemany(
        "UPDATE terms SET chunks = chunks - ? WHERE term = ?", ((count, term) for term, count in frequency.items())
    )
    connection.executemany("DELETE FROM terms WHERE term = ? AND chunks <= 0", ((term,) for term in frequency))
    connection.execute("INSERT INTO removed (number) SELECT number FROM chunks WHERE document = ?", (row["number"],))
    connection.execute("DELETE FROM chunks WHERE document = ?", (row["number"],))
    connection.execute("DELETE FROM documents WHERE number = ?", (row["number"],))
    return True


def _stored_document(row: sqlite3.Row) -> StoredDocument:
    return StoredDocument(**{**dict(row), "metadata": json.loads(row["metadata"])})


def _document(row: sqlite3.Row, with_parts: bool) -> Document:
    return Document(
        id=row["id"],
        content=records.unpack(row["content"]),
        source=row["source"],
        title=row["title"],
        type=DocumentType(row["type"]),
        language=row["language"],
        metadata=json.loads(row["metadata"]),
        parts=records.parts_from_json(records.unpack(row["parts"])) if with_parts else (),
    )


def _chunk(row: sqlite3.Row, document: Document) -> Chunk:
    return Chunk(
        id=row["id"],
        document_id=document.id,
        content=document.content[row["start"] : row["end"]],
        start=row["start"],
        end=row["end"],
        sequence=row["sequence"],
        location=records.location_from_json(row["location"]),
        context=row["context"],
        parts=records.parts_from_json(row["parts"]),
    )


def _indexed_chunk(row: sqlite3.Row, document: Document) -> IndexedChunk:
    vector = records.vector_from_bytes(row["vector"])
    return IndexedChunk(
        chunk=_chunk(row, document),
        vector=vector,
        terms=json.loads(row["terms"]),
        fields=json.loads(row["fields"]),
        sentences=records.spans_from_json(row["sentences"]),
        sentence_vectors=records.dequantize(row["sentence_vectors"], len(vector)),
    )


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
