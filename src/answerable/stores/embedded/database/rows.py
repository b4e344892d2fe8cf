"""The tables of an embedded library, and documents and chunks ↔ their rows."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from answerable.codec import to_json
from answerable.datatypes import Document, DocumentType
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument, SyncRecord
from answerable.stores import records

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
    # From this format on, texts of documents may be uncompressed.
    """
CREATE INDEX documents_by_type ON documents (type, source, id);
""",
)
"""The statements that each format adds to the previous one."""

DOCUMENT_COLUMNS = "id, source, title, type, language, content_hash, chunks, characters, metadata"
CHUNK_COLUMNS = (
    'id, sequence, start, "end", context, location, parts, fields, terms, sentences, vector, sentence_vectors'
)


def read_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """Return a property of the library."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None


def read_fingerprint(connection: sqlite3.Connection, key: str) -> Fingerprint | None:
    """Return the embedder stored under a key, None if there is none."""
    text = read_meta(connection, key)
    return Fingerprint(**json.loads(text)) if text else None


def last_removal(connection: sqlite3.Connection) -> int:
    """Return how many chunks were ever removed: the number of the last one in the table `removed`."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'removed'").fetchone()
    return int(row[0]) if row else 0


def read_erased(connection: sqlite3.Connection) -> tuple[int, float]:
    """Return the last removal that is erased from the file, and when (Unix time); zeros if none was."""
    removal, _, moment = (read_meta(connection, "erased") or "0 0").partition(" ")
    return int(removal), float(moment)


def write_erased(connection: sqlite3.Connection, removal: int, moment: float) -> None:
    """Note that all removals up to this one are erased from the file."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('erased', ?)", (f"{removal} {moment:.0f}",))


def bind_embedder(connection: sqlite3.Connection, key: str, fingerprint: Fingerprint) -> None:
    """Store an embedder under a key unless one is stored there."""
    value = to_json(asdict(fingerprint))
    connection.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, value))


def insert_document(
    connection: sqlite3.Connection, document: Document, chunks: Sequence[IndexedChunk], frequency: Counter[str]
) -> None:
    """Write the rows of a document and its chunks, and add to `frequency` in how many chunks each term is."""
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
            to_json(dict(document.metadata)),
            len(document.content),
            len(chunks),
            records.content_to_bytes(document.content),
            records.parts_to_bytes(document.parts),
        ),
    )
    number = cursor.lastrowid
    connection.executemany(
        f"INSERT INTO chunks (document, {CHUNK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((number, *_chunk_row(chunk)) for chunk in chunks),
    )
    for chunk in chunks:
        frequency.update(chunk.terms.keys())


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
        to_json(dict(indexed.fields)),
        to_json(dict(indexed.terms)),
        records.spans_to_json(indexed.sentences),
        records.vector_to_bytes(indexed.vector),
        records.quantize(indexed.sentence_vectors),
    )


def same_documents(connection: sqlite3.Connection, document: Document) -> list[str]:
    """Return the ids of the stored documents with a document's id or, unless it is empty, its source."""
    # Many documents have an empty source: a query for it would read them all.
    where = "id = ? OR source = ?" if document.source else "id = ?"
    values = (document.id, document.source) if document.source else (document.id,)
    return [row[0] for row in connection.execute(f"SELECT id FROM documents WHERE {where} ORDER BY id", values)]


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
    """Change in how many chunks each term is; a term that is in none any more has no row."""
    # In the table's order, neighbours share a page.
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


def read_stored_document(row: sqlite3.Row) -> StoredDocument:
    """Read a row with `DOCUMENT_COLUMNS`."""
    return StoredDocument(**{**dict(row), "metadata": json.loads(row["metadata"])})


def read_document(row: sqlite3.Row, with_parts: bool) -> Document:
    """Read a row with all columns."""
    return Document(
        id=row["id"],
        content=records.content_from_bytes(row["content"]),
        source=row["source"],
        title=row["title"],
        type=DocumentType(row["type"]),
        language=row["language"],
        metadata=json.loads(row["metadata"]),
        parts=records.parts_from_json(records.unpack(row["parts"])) if with_parts else (),
    )


def read_indexed_chunk(row: sqlite3.Row, document: Document) -> IndexedChunk:
    """Read a row with `CHUNK_COLUMNS`, with vectors, terms and fields."""
    vector = records.vector_from_bytes(row["vector"])
    return IndexedChunk(
        chunk=records.chunk_from_row(row, document),
        vector=vector,
        terms=json.loads(row["terms"]),
        fields=json.loads(row["fields"]),
        sentences=records.spans_from_json(row["sentences"]),
        sentence_vectors=records.dequantize(row["sentence_vectors"], len(vector)),
    )
