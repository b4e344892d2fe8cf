"""Documents and chunks ↔ rows, with the derived rows that searches use."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from answerable.codec import to_json
from answerable.datatypes import Chunk, Document, DocumentType
from answerable.filters import comparable
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.postgres import sketches
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.values import (
    decode,
    encode,
    fields_from_json,
    fields_to_json,
    json_to_bytes,
    key,
    numbers_to_text,
    vector_from_bytes,
    vector_to_bytes,
)
from answerable.text.bm25 import term_weights

STORED = "id, source, title, type, language, content_hash, chunks, characters, metadata"
DOCUMENT = "number, id, source, title, type, language, metadata, content"
CHUNK = 'chunks.number, document, id, sequence, start, "end", context, location, parts'
INDEXED = f"{CHUNK}, terms, sentences, sentence_vectors, fields::text AS fields, vector_send(vector) AS vector"

# One statement sees one snapshot, without a transaction around it. A document and the library's embedder are in one row
# only, the first that needs them.
_OWNER = {name: f"owner_{name}" for name in DOCUMENT.split(", ")}
_FETCH = f"""
    WITH found AS MATERIALIZED (
        SELECT {INDEXED}, row_number() OVER () AS place, row_number() OVER (PARTITION BY document) AS place_in_document
        FROM chunks JOIN entries USING (number) WHERE number = ANY (%s::bigint[])
    )
    SELECT found.*, CASE WHEN coalesce(place, 1) = 1 THEN fingerprint END AS fingerprint,
        {", ".join(f"documents.{name} AS {column}" for name, column in _OWNER.items())}
    FROM library LEFT JOIN found ON true
    LEFT JOIN documents ON documents.number = found.document AND place_in_document = 1
"""

_ADD_DOCUMENT = """
    INSERT INTO documents
        (id, source, title, type, language, content_hash, metadata, characters, chunks, content, parts)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING number
"""
_ADD_CHUNKS = """
    COPY chunks (number, document, id, sequence, start, "end", context, location, parts, terms, sentences,
                 sentence_vectors) FROM STDIN
"""
_DIGESTS = "SELECT DISTINCT digest FROM entries JOIN chunks USING (number) WHERE document = ANY (%s)"
_ADD_TERMS = """
    INSERT INTO terms (term, chunks, highest) SELECT * FROM unnest(%s::text[], %s::bigint[], %s::float8[])
    ON CONFLICT (term) DO UPDATE SET chunks = terms.chunks + excluded.chunks,
        highest = greatest(terms.highest, excluded.highest)
    RETURNING term, id
"""
_DROP_POSTINGS = """
    DELETE FROM postings USING unnest(%s::text[], %s::bigint[]) AS gone (term, chunk) JOIN terms USING (term)
    WHERE postings.term = terms.id AND postings.chunk = gone.chunk
"""
_DROP_TERMS = """
    WITH gone AS (SELECT * FROM unnest(%s::text[], %s::bigint[]) AS gone (term, chunks)),
    dropped AS (DELETE FROM terms USING gone WHERE terms.term = gone.term AND terms.chunks <= gone.chunks)
    UPDATE terms SET chunks = terms.chunks - gone.chunks FROM gone
    WHERE terms.term = gone.term AND terms.chunks > gone.chunks
"""
_ADD_RECORD = """
    INSERT INTO records (origin, source, seen, hash, validators, documents) VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (md5(origin), md5(source)) DO UPDATE SET seen = excluded.seen, hash = excluded.hash,
        validators = excluded.validators, documents = excluded.documents
"""
_COUNT = "UPDATE library SET documents = documents + %s, chunks = chunks + %s, unerased = unerased + %s"


def fingerprint_to_json(fingerprint: Fingerprint) -> str:
    """Return a fingerprint as a JSON object."""
    return to_json(asdict(fingerprint))


def read_fingerprint(connection: Connection, table: str = "library") -> Fingerprint | None:
    """Return the embedder stored in the one-row table `library` or `next_library`."""
    row = connection.execute(f"SELECT fingerprint FROM {table}").fetchone()
    return fingerprint(row) if row else None


def fingerprint(row: Mapping[str, Any]) -> Fingerprint | None:
    """Read the embedder in the column `fingerprint`."""
    return Fingerprint(**row["fingerprint"]) if row["fingerprint"] else None


def fetch(
    connection: Connection, numbers: Sequence[int]
) -> tuple[Fingerprint | None, dict[int, tuple[IndexedChunk, Document]]]:
    """Return the library's embedder, and those of these chunks that it has, with their documents (without parts)."""
    rows = connection.execute(_FETCH, (numbers_to_text(numbers),), binary=True).fetchall()
    made_by = next((fingerprint(row) for row in rows if row["fingerprint"]), None)
    found = [row for row in rows if row["number"] is not None]
    owners = {row["document"]: _owner(row) for row in found if row[_OWNER["number"]] is not None}
    chunks = {row["number"]: (indexed_chunk(row, owners[row["document"]]), owners[row["document"]]) for row in found}
    return made_by, chunks


def insert(connection: Connection, document: Document, chunks: Sequence[IndexedChunk]) -> None:
    """Insert a new document."""
    row = (
        *map(encode, (document.id, document.source, document.title, str(document.type), document.language)),
        document.content_hash,
        encode(to_json(dict(document.metadata))),
        len(document.content),
        len(chunks),
        encode(document.content),
        encode(records.parts_to_json(document.parts)),
    )
    owner = connection.execute(_ADD_DOCUMENT, row).fetchall()[0]["number"]
    connection.execute(_COUNT, (1, len(chunks), 0))
    given = connection.execute(
        "SELECT nextval(pg_get_serial_sequence('chunks', 'number')) AS number FROM generate_series(1, %s)",
        (len(chunks),),
    )
    numbered = list(zip([row["number"] for row in given], chunks, strict=True))
    _copy(connection, _ADD_CHUNKS, ((number, owner, *_chunk_row(chunk)) for number, chunk in numbered))
    rows = (
        (number, json_to_bytes(fields_to_json(chunk.fields)), vector_to_bytes(chunk.vector))
        for number, chunk in numbered
    )
    _copy(connection, "COPY entries (number, fields, vector) FROM STDIN", rows, ("int8", "bytea", "bytea"))
    sketches.add(connection, [number for number, _ in numbered])
    insert_comparables(connection, [(number, chunk.fields) for number, chunk in numbered])
    insert_terms(connection, [(number, chunk.terms) for number, chunk in numbered])


def insert_comparables(connection: Connection, fields: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Insert the numbers and dates in the fields of chunks (given by number), which ranges compare."""
    statement = "COPY comparables (chunk, field, number, moment) FROM STDIN"
    _copy(connection, statement, (row for number, named in fields for row in comparables(number, named)))


def insert_terms(connection: Connection, counts: Sequence[tuple[int, Mapping[str, int]]]) -> None:
    """Insert the terms of chunks (given by number) with their weights, and update the counts of chunks per term."""
    postings = [(key(term), number, weight) for number, terms in counts for term, weight in term_weights(terms).items()]
    frequency = Counter(term for term, _, _ in postings)
    highest: dict[str, float] = {}
    for term, _, weight in postings:
        highest[term] = max(weight, highest.get(term, 0.0))
    found = connection.execute(_ADD_TERMS, (list(frequency), list(frequency.values()), list(highest.values())))
    ids = {row["term"]: row["id"] for row in found}
    rows = ((ids[term], number, weight) for term, number, weight in postings)
    _copy(connection, "COPY postings (term, chunk, weight) FROM STDIN", rows, ("int8", "int8", "float4"))


def comparables(number: int, fields: Mapping[str, Any]) -> Iterable[tuple[int, str, float | None, datetime | None]]:
    """Yield the rows of `comparables` for a chunk: the numbers and dates in its fields."""
    for name, values in fields.items():
        for bound in {comparable(value) for value in values} - {None}:
            if isinstance(bound, datetime):
                yield number, key(name), None, bound
            else:
                yield number, key(name), bound, None


def write_records(connection: Connection, kept: Sequence[SyncRecord]) -> None:
    """Write sync records; each replaces the record with its origin and source."""
    with connection.cursor() as cursor:
        cursor.executemany(_ADD_RECORD, [tuple(map(encode, records.sync_record_to_row(record))) for record in kept])


def remove(connection: Connection, document_ids: Collection[str]) -> int:
    """Remove documents with everything derived from them; return how many there were."""
    documents = connection.execute(
        "SELECT number FROM documents WHERE id = ANY (%s)", (list(map(encode, document_ids)),)
    ).fetchall()
    if not documents:
        return 0
    owners = [row["number"] for row in documents]
    chunks = connection.execute("SELECT number, terms FROM chunks WHERE document = ANY (%s)", (owners,)).fetchall()
    stood = [(key(term), row["number"]) for row in chunks for term in json.loads(decode(row["terms"]))]
    frequency = Counter(term for term, _ in stood)
    connection.execute(_DROP_POSTINGS, ([term for term, _ in stood], [number for _, number in stood]))
    connection.execute(_DROP_TERMS, (list(frequency), list(frequency.values())))
    digests = [row["digest"] for row in connection.execute(_DIGESTS, (owners,))]
    # Entries and comparables are deleted with their chunks.
    connection.execute("DELETE FROM chunks WHERE document = ANY (%s)", (owners,))
    sketches.drop(connection, digests)
    connection.execute("DELETE FROM documents WHERE number = ANY (%s)", (owners,))
    connection.execute(_COUNT, (-len(owners), -len(chunks), len(chunks)))
    return len(owners)


def stored_document(row: Mapping[str, Any]) -> StoredDocument:
    """Read a row with the columns `STORED`."""
    texts = {name: decode(value) if isinstance(value, str) else value for name, value in row.items()}
    return StoredDocument(**{**texts, "metadata": json.loads(texts["metadata"])})


def document(row: Mapping[str, Any]) -> Document:
    """Read a row with the columns `DOCUMENT`, and `parts` if it has them."""
    return Document(
        id=decode(row["id"]),
        content=decode(row["content"]),
        source=decode(row["source"]),
        title=decode(row["title"]),
        type=DocumentType(row["type"]),
        language=decode(row["language"]),
        metadata=json.loads(decode(row["metadata"])),
        parts=records.parts_from_json(decode(row["parts"])) if "parts" in row else (),
    )


def _owner(row: Mapping[str, Any]) -> Document:
    return document({name: row[column] for name, column in _OWNER.items()})


def chunk(row: Mapping[str, Any], owner: Document) -> Chunk:
    """Read a row with the columns `CHUNK`, given its document."""
    return records.chunk_from_row(row, owner, decode)


def indexed_chunk(row: Mapping[str, Any], owner: Document) -> IndexedChunk:
    """Read a row with the columns `INDEXED`, given its document."""
    vector = vector_from_bytes(row["vector"])
    return IndexedChunk(
        chunk=chunk(row, owner),
        vector=vector,
        terms=json.loads(decode(row["terms"])),
        fields=fields_from_json(row["fields"]),
        sentences=records.spans_from_json(row["sentences"]),
        sentence_vectors=records.dequantize(row["sentence_vectors"], len(vector)),
    )


def _chunk_row(indexed: IndexedChunk) -> tuple[Any, ...]:
    chunk = indexed.chunk
    return (
        encode(chunk.id),
        chunk.sequence,
        chunk.start,
        chunk.end,
        encode(chunk.context),
        encode(records.location_to_json(chunk.location)),
        encode(records.parts_to_json(chunk.parts)),
        encode(to_json(dict(indexed.terms))),
        records.spans_to_json(indexed.sentences),
        records.quantize(indexed.sentence_vectors),
    )


def _copy(connection: Connection, statement: str, rows: Iterable[tuple[Any, ...]], types: Sequence[str] = ()) -> None:
    """Copy rows to a table: as text, or in the binary format as these types. Bytes are sent as they are."""
    with connection.cursor() as cursor, cursor.copy(f"{statement} (FORMAT binary)" if types else statement) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)
