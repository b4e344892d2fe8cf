"""The SQLite file of an embedded library: opening, errors, tables, and conversion of documents and chunks to rows."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from answerable.codec import to_json
from answerable.datatypes import Document
from answerable.disk.files import close_to_others, is_full, make_file, make_folder, no_room, use_write_ahead_log
from answerable.errors import DiskFull, LibraryBusy, LibraryDamaged, LibraryError, LibraryFormatError, LibraryReadOnly
from answerable.protocols import Fingerprint, IndexedChunk, SyncRecord
from answerable.stores import records

# Seconds to wait for another process that is writing: a round number.
WAIT = 60.0
# Kilobytes of cache: room for the inner B-tree pages of a million chunks, which every read of a row needs.
CACHE = 32_768

Refusal: TypeAlias = "Callable[[Path], LibraryError]"
"""A function that returns the error to raise for a write to a file that isn't writable."""


def connect(path: Path) -> tuple[sqlite3.Connection, Refusal | None]:
    """Connect to the file, create it if missing; return the connection and, if it isn't writable, the refusal.

    Raise LibraryReadOnly or DiskFull if the file can neither be created nor read, LibraryDamaged if the file is empty
    but has an index, and SQLite's errors.
    """
    refusal: Refusal = read_only
    try:
        make_folder(path.parent)
        if os.path.exists(path) and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            return _connect_read_only(path, refusal), refusal
        if (path.parent / "index").is_dir() and path.exists() and not path.stat().st_size:
            # SQLite would treat an empty file as a new one.
            raise damaged(path, "it is empty, but its index isn't")
        # SQLite creates its log and shared memory with the permissions of this file.
        make_file(path)
        close_to_others(path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
        connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            return _set_up(connection), None
        except BaseException:
            connection.close()
            raise
    except (sqlite3.OperationalError, OSError) as error:
        if is_full(error, path):
            refusal = no_room
            if not (os.path.exists(path) and path.stat().st_size):
                raise no_room(path) from error
        if not os.path.exists(path):
            raise LibraryReadOnly(
                f"A library can't be created in {path.parent} ({error}). "
                "Choose a folder you may write to with --library."
            ) from error
        if "locked" in str(error):
            raise
    return _connect_read_only(path, refusal), refusal


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    try:
        use_write_ahead_log(connection, WAIT)
    except UnicodeDecodeError as error:
        # The schema is damaged: SQLite's message quotes it, and the quotation isn't valid UTF-8.
        raise sqlite3.DatabaseError(f"database disk image is malformed: {error}") from error
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE}")
    return connection


def _connect_read_only(path: Path, refusal: Refusal) -> sqlite3.Connection:
    # If the log's files can't be created either, no process can be writing: read the file as immutable.
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
    if refusal is no_room:
        raise no_room(path)
    raise LibraryReadOnly(
        f"The library {path.parent} can't be read. Check the permissions of the folder and of {path.name}."
    )


def translated(error: sqlite3.Error, path: Path) -> LibraryError:
    """Return the LibraryError to raise for an error from SQLite."""
    text = str(error)
    if is_full(error, path):
        return DiskFull(
            f"The disk is full: {path} can't grow. What was being added last was not stored; "
            "free some space and add it again."
        )
    if "readonly" in text:
        return read_only(path)
    if "locked" in text or "busy" in text:
        return LibraryBusy(
            f"Another process has been writing to {path.parent} for over a minute. Wait for it to finish and try again."
        )
    if isinstance(error, sqlite3.DatabaseError) and (
        "malformed" in text or "not a database" in text or "no such table" in text or "decode" in text
    ):
        return damaged(path, text)
    return LibraryError(f"The library's database {path} failed: {text}. Check the disk, then try again.")


def damaged(path: Path, reason: str) -> LibraryDamaged:
    """Return the error for a damaged file."""
    return LibraryDamaged(
        f"{path} is damaged ({reason}). Run answerable verify --repair: it keeps intact documents and reads the others "
        "from their sources again. Or restore it from a backup."
    )


def read_only(path: Path) -> LibraryReadOnly:
    """Return the error for an attempt to write to a read-only library."""
    return LibraryReadOnly(
        f"The library {path.parent} can't be written to. Check the folder's permissions, or use another with --library."
    )


MIGRATIONS = (
    """
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
""",
    """
CREATE TABLE records (
    origin TEXT NOT NULL, source TEXT NOT NULL, seen TEXT NOT NULL, hash TEXT NOT NULL, validators TEXT NOT NULL,
    documents TEXT NOT NULL, PRIMARY KEY (origin, source)
) WITHOUT ROWID;
""",
    # From this format on, the text of a document may be uncompressed.
    """
CREATE INDEX documents_by_type ON documents (type, source, id);
""",
    # Vectors that aren't made yet are zeros; `filled` lists the chunks whose vectors came later.
    """
CREATE INDEX IF NOT EXISTS waiting ON chunks (number) WHERE vector = zeroblob(length(vector));
CREATE TABLE IF NOT EXISTS filled (sequence INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL);
""",
)
"""The statements that each format adds to the previous one."""
FORMAT = len(MIGRATIONS)

DOCUMENT_COLUMNS = ", ".join(records.STORED)
CHUNK_COLUMNS = (
    'id, sequence, start, "end", context, location, parts, terms, sentences, fields, vector, sentence_vectors'
)


def read_format(connection: sqlite3.Connection) -> int:
    """Return the version of the file's format, 0 for a new file."""
    has_schema = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    return int(read_meta(connection, "format") or 0) if has_schema else 0


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Create the tables, or migrate them from the format `found`, in the caller's transaction."""
    for statement in ";".join(MIGRATIONS[found:]).split(";"):
        connection.execute(statement)
    if not found:
        connection.execute("INSERT INTO meta VALUES ('identity', ?)", (uuid.uuid4().hex,))
        write_erased(connection, 0, time.time())
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (str(FORMAT),))


def require_format(found: int, path: Path) -> None:
    """Raise LibraryFormatError unless a file has the current format."""
    if found != FORMAT:
        way_out = "Open it once with write access" if found < FORMAT else "Use the version that made it"
        raise LibraryFormatError(
            f"The library {path.parent} has format {found}; this version of answerable reads format {FORMAT}. "
            f"{way_out}, or add your documents to a new library with --library."
        )


def read_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """Return a property of the library."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def read_fingerprint(connection: sqlite3.Connection, key: str) -> Fingerprint | None:
    """Return the embedder stored under a key; None if the key is missing."""
    text = read_meta(connection, key)
    return Fingerprint(**json.loads(text)) if text else None


def read_erased(connection: sqlite3.Connection) -> tuple[int, float]:
    """Return the number of the last removal that is erased from the file, and when (Unix time); zeros if none is."""
    removal, _, moment = (read_meta(connection, "erased") or "0 0").partition(" ")
    return int(removal), float(moment)


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a database; an index compares it with its own to see if it is up to date.

    `identity` changes with the embedder. Removals up to the number `erased` have left no data in the file.
    """

    identity: str
    last_number: int
    last_removal: int
    last_filled: int
    chunks: int
    erased: int = 0


def read_version(connection: sqlite3.Connection) -> Version:
    """Return the version of the database, without checking its embedder."""
    numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    given, taken, filled = (numbers.get(name, 0) for name in ("chunks", "removed", "filled"))
    identity, erased = str(read_meta(connection, "identity")), read_erased(connection)[0]
    # Chunk numbers have no gaps and every removal is counted, so the difference is the number of chunks.
    return Version(identity, given, taken, filled, given - taken, erased)


def write_erased(connection: sqlite3.Connection, removal: int, moment: float) -> None:
    """Record that all removals up to the number `removal` are erased from the file."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('erased', ?)", (f"{removal} {moment:.0f}",))


def bind_embedder(connection: sqlite3.Connection, key: str, fingerprint: Fingerprint) -> None:
    """Store an embedder under a key unless the key already has one."""
    value = to_json(asdict(fingerprint))
    connection.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))


def insert_document(
    connection: sqlite3.Connection, document: Document, chunks: Sequence[IndexedChunk], frequency: Counter[str]
) -> None:
    """Write the rows of a document and its chunks, and add to `frequency` the number of chunks with each term."""
    values = records.document_values(document, len(chunks))
    number = connection.execute(
        f"INSERT INTO documents ({DOCUMENT_COLUMNS}, content, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, records.content_to_bytes(document.content), records.pack(records.parts_to_json(document.parts))),
    ).lastrowid
    connection.executemany(
        f"INSERT INTO chunks (document, {CHUNK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((number, *_chunk_row(chunk)) for chunk in chunks),
    )
    frequency.update(chain.from_iterable(each.terms for each in chunks))


def _chunk_row(indexed: IndexedChunk) -> tuple[Any, ...]:
    vectors = records.vector_to_bytes(indexed.vector), records.quantize(indexed.sentence_vectors)
    return *records.chunk_values(indexed), to_json(dict(indexed.fields)), *vectors


def remove_document(connection: sqlite3.Connection, document_id: str, frequency: Counter[str]) -> bool:
    """Remove the rows of a document, and subtract its terms from `frequency`; return False if it doesn't exist."""
    row = connection.execute("SELECT number FROM documents WHERE id = ?", (document_id,)).fetchone()
    if row is None:
        return False
    for (terms,) in connection.execute("SELECT terms FROM chunks WHERE document = ?", (row["number"],)):
        frequency.subtract(json.loads(terms).keys())
    connection.execute("INSERT INTO removed (number) SELECT number FROM chunks WHERE document = ?", (row["number"],))
    connection.execute("DELETE FROM chunks WHERE document = ?", (row["number"],))
    connection.execute("DELETE FROM documents WHERE number = ?", (row["number"],))
    return True


def count_terms(connection: sqlite3.Connection, changes: Mapping[str, int]) -> None:
    """Add the changes to the stored number of chunks with each term; delete terms that no chunk has any more."""
    # Sorted like the table, since neighbouring rows share a page.
    ordered = sorted(changes.items())
    connection.executemany(
        "INSERT INTO terms VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET chunks = chunks + excluded.chunks",
        [(term, change) for term, change in ordered if change > 0],
    )
    fewer = [(term, change) for term, change in ordered if change < 0]
    connection.executemany("UPDATE terms SET chunks = chunks + ? WHERE term = ?", ((n, term) for term, n in fewer))
    connection.executemany("DELETE FROM terms WHERE term = ? AND chunks <= 0", ((term,) for term, _ in fewer))


def write_records(connection: sqlite3.Connection, kept: Sequence[SyncRecord]) -> None:
    """Write sync records; each replaces the record with its origin and source."""
    connection.executemany(
        "INSERT OR REPLACE INTO records (origin, source, seen, hash, validators, documents) VALUES (?, ?, ?, ?, ?, ?)",
        map(records.sync_record_to_row, kept),
    )


def read_document(row: sqlite3.Row, with_parts: bool) -> Document:
    """Read a row with all columns."""
    content = records.content_from_bytes(row["content"])
    return records.document_from_row(row, content, records.unpack(row["parts"]) if with_parts else "[]")
