"""Documents and chunks ↔ rows, with the derived rows that searches use.

Binary quantisation of vectors: each vector has a short code (a sketch), and a search compares all codes. A code has
three bits for each dimension: whether the vector's value is above three edges, which are the library's mean and .7
standard deviations below and above it. The number of bits in which two codes differ (the Hamming distance) then grows
with the distance of the vectors. The table `sketches` has one code per vector, however many passages share the vector.
A graph (HNSW) is not used: in libraries with many copies it misses many of the nearest vectors (docs/postgres.md).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from hashlib import sha256
from typing import Any

import numpy as np

from answerable.codec import to_json
from answerable.datatypes import Document
from answerable.errors import LibraryBusy, LibraryReadOnly
from answerable.filters import comparable
from answerable.protocols import Fingerprint, IndexedChunk, PassageVectors, SyncRecord
from answerable.stores import records
from answerable.stores.postgres.connection import Connection, Connections
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
    vector_to_text,
)
from answerable.text.terms import term_weights

STORED = ", ".join(records.STORED)
DOCUMENT = "number, id, source, title, type, language, metadata, content"
CHUNK = 'chunks.number, document, id, sequence, start, "end", context, location, parts'
INDEXED = f"{CHUNK}, terms, sentences, sentence_vectors, fields::text AS fields, vector_send(vector) AS vector"

# A single statement reads one snapshot without a transaction. Only the first row that needs a document, or the
# library's embedder, contains it.
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

_ADD_DOCUMENT = f"""
    INSERT INTO documents ({STORED}, content, parts)
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
    """Return the library's embedder, and these chunks with their documents (without parts); skip unknown numbers."""
    rows = connection.execute(_FETCH, (numbers_to_text(numbers),), binary=True).fetchall()
    made_by = next((fingerprint(row) for row in rows if row["fingerprint"]), None)
    found = [row for row in rows if row["number"] is not None]
    owners = {row["document"]: _owner(row) for row in found if row[_OWNER["number"]] is not None}
    known = ((row, owners[row["document"]]) for row in found if row["document"] in owners)
    return made_by, {row["number"]: (indexed_chunk(row, owner), owner) for row, owner in known}


def insert(connection: Connection, document: Document, chunks: Sequence[IndexedChunk]) -> None:
    """Insert a new document."""
    texts = encode(document.content), encode(records.parts_to_json(document.parts))
    row = (*records.document_values(document, len(chunks), encode), *texts)
    owner = connection.execute(_ADD_DOCUMENT, row).fetchall()[0]["number"]
    connection.execute(_COUNT, (1, len(chunks), 0))
    given = connection.execute(
        "SELECT nextval(pg_get_serial_sequence('chunks', 'number')) AS number FROM generate_series(1, %s)",
        (len(chunks),),
    )
    numbered = list(zip([row["number"] for row in given], chunks, strict=True))
    _copy(
        connection,
        _ADD_CHUNKS,
        (
            (number, owner, *records.chunk_values(each, encode), records.quantize(each.sentence_vectors))
            for number, each in numbered
        ),
    )
    rows = (
        (number, json_to_bytes(fields_to_json(chunk.fields)), vector_to_bytes(chunk.vector))
        for number, chunk in numbered
    )
    _copy(connection, "COPY entries (number, fields, vector) FROM STDIN", rows, ("int8", "bytea", "bytea"))
    add_codes(connection, [number for number, _ in numbered])
    insert_comparables(connection, [(number, chunk.fields) for number, chunk in numbered])
    insert_terms(connection, [(number, chunk.terms) for number, chunk in numbered])


def waiting(connection: Connection) -> list[int]:
    """Return the numbers of the chunks that wait for their vectors, which are zeros until then, in order."""
    rows = connection.execute("SELECT number FROM entries WHERE digest = %s ORDER BY number", (_zeros(connection),))
    return [row["number"] for row in rows]


def fill(connection: Connection, vectors: Mapping[int, PassageVectors]) -> None:
    """Write vectors by chunk number, and their codes; ignore chunks that have been removed."""
    entries = [(vector_to_text(made.whole), number) for number, made in vectors.items()]
    chunks = [(records.quantize(made.spans), number) for number, made in vectors.items()]
    with connection.cursor() as cursor:
        cursor.executemany("UPDATE entries SET vector = %s::vector WHERE number = %s", entries)
        cursor.executemany("UPDATE chunks SET sentence_vectors = %s WHERE number = %s", chunks)
    add_codes(connection, list(vectors))
    drop_codes(connection, [_zeros(connection)])


def _zeros(connection: Connection) -> bytes:
    """Return the digest of a vector of zeros."""
    made_by = read_fingerprint(connection)
    zeros = np.zeros(made_by.dimension if made_by else 0, np.float32)
    return sha256(vector_to_bytes(zeros)).digest()[:_DIGEST]


def insert_comparables(connection: Connection, fields: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Insert the numbers and dates in the fields of chunks (by chunk number), for filters by range."""
    statement = "COPY comparables (chunk, field, number, moment) FROM STDIN"
    _copy(connection, statement, (row for number, named in fields for row in comparables(number, named)))


def insert_terms(connection: Connection, counts: Sequence[tuple[int, Mapping[str, int]]]) -> None:
    """Insert the terms of chunks (by chunk number) with their weights, and update the counts of chunks per term."""
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
    postings = [(key(term), row["number"]) for row in chunks for term in json.loads(decode(row["terms"]))]
    frequency = Counter(term for term, _ in postings)
    connection.execute(_DROP_POSTINGS, ([term for term, _ in postings], [number for _, number in postings]))
    connection.execute(_DROP_TERMS, (list(frequency), list(frequency.values())))
    digests = [row["digest"] for row in connection.execute(_DIGESTS, (owners,))]
    # Entries and comparables are deleted with their chunks.
    connection.execute("DELETE FROM chunks WHERE document = ANY (%s)", (owners,))
    drop_codes(connection, digests)
    connection.execute("DELETE FROM documents WHERE number = ANY (%s)", (owners,))
    connection.execute(_COUNT, (-len(owners), -len(chunks), len(chunks)))
    return len(owners)


def document(row: Mapping[str, Any]) -> Document:
    """Read a row with the columns `DOCUMENT`, and `parts` if it has them."""
    return records.document_from_row(row, decode(row["content"]), decode(row.get("parts", "[]")), decode)


def _owner(row: Mapping[str, Any]) -> Document:
    return document({name: row[column] for name, column in _OWNER.items()})


def indexed_chunk(row: Mapping[str, Any], owner: Document) -> IndexedChunk:
    """Read a row with the columns `INDEXED`, given its document."""
    vector, fields = vector_from_bytes(row["vector"]), fields_from_json(row["fields"])
    return records.indexed_chunk_from_row(row, owner, vector, fields, decode)


def _copy(connection: Connection, statement: str, rows: Iterable[tuple[Any, ...]], types: Sequence[str] = ()) -> None:
    """Copy rows to a table: as text or, if `types` are given, in binary format. Rows of bytes are sent unchanged."""
    with connection.cursor() as cursor, cursor.copy(f"{statement} (FORMAT binary)" if types else statement) as copy:
        if types:
            copy.set_types(types)
        for row in rows:
            copy.write_row(row)


# Up to this number of chunks, full vectors are compared instead of codes. A round number, not measured.
EXACT_UP_TO = 10_000
# Edges of the bits, in standard deviations from the mean: a bit is then 1 for about 3/4, 1/2 or 1/4 of the vectors.
_EDGES = (-0.7, 0.0, 0.7)
# Growth factor after which all codes are made again with a new mean. A round number, not measured.
_GROWTH = 4

_CODE = " || ".join(f"binary_quantize({{vector}} - edges[{number + 1}])" for number in range(len(_EDGES)))
OF_A_VECTOR = f"(SELECT {_CODE.format(vector='wanted')} FROM library, (SELECT %s::vector AS wanted) AS asked)"
"""SQL for the code of a vector that is a parameter; NULL if there are no codes."""

_DUE = f"SELECT chunks > {EXACT_UP_TO} AND chunks > {_GROWTH} * sketched AS due FROM library"
_MOMENTS = """
    SELECT vector_send(avg(vector)) AS mean, vector_send(avg(vector * vector)) AS square FROM entries WHERE digest != %s
"""
# Bytes of a digest in the schema.
_DIGEST = 16
_CODES_MADE = f"SELECT digest, {_CODE.format(vector='vector')} AS sketch FROM entries, library WHERE edges IS NOT NULL"
_ADD_CODES = f"INSERT INTO sketches {_CODES_MADE} {{which}} ON CONFLICT DO NOTHING"
_DROP_CODES = """
    DELETE FROM sketches WHERE digest = ANY (%s)
    AND NOT EXISTS (SELECT FROM entries WHERE entries.digest = sketches.digest)
"""
_WRONG = f"""
    SELECT count(DISTINCT digest) FROM (
        ({_CODES_MADE} EXCEPT SELECT * FROM sketches) UNION ALL (SELECT * FROM sketches EXCEPT {_CODES_MADE})
    ) AS differing
"""


def make_codes_if_due(connections: Connections) -> None:
    """Make all codes if the library has grown beyond `EXACT_UP_TO` chunks, or `_GROWTH` times since the last time.

    Codes are made in one transaction: writers wait for it, readers don't. If others are writing or the user lacks a
    right, searches compare the full vectors until the next call.
    """
    with suppress(LibraryBusy, LibraryReadOnly):
        if connections.run(_are_due):
            connections.write(_make_codes)
            with connections.one() as connection:
                connection.execute("SELECT set_config('statement_timeout', '0', false)")
                # The server updates its statistics too late for the next search.
                connection.execute("VACUUM (ANALYZE) entries, sketches, postings, terms, chunks, comparables")


def add_codes(connection: Connection, numbers: Sequence[int]) -> None:
    """Make the codes of new entries, if the library has codes."""
    connection.execute(_ADD_CODES.format(which="AND number = ANY (%s)"), (list(numbers),))


def drop_codes(connection: Connection, digests: Sequence[bytes]) -> None:
    """Delete the codes of vectors that no entry has any more."""
    connection.execute(_DROP_CODES, (list(digests),))


def forget_codes(connection: Connection) -> None:
    """Delete all codes: vectors of another embedder are being written."""
    connection.execute("DELETE FROM sketches")
    connection.execute("UPDATE library SET edges = NULL, sketched = 0")


def count_wrong_codes(connection: Connection) -> int:
    """Count the vectors without a code or with a wrong one, and the codes without a vector."""
    return int(connection.execute(_WRONG).fetchall()[0]["count"])


def remake_codes(connection: Connection) -> None:
    """Make all codes again, if the library has codes."""
    connection.execute("DELETE FROM sketches")
    connection.execute(_ADD_CODES.format(which=""))


def _are_due(connection: Connection) -> bool:
    row = connection.execute(_DUE).fetchone()
    return bool(row and row["due"])


def _make_codes(connection: Connection) -> None:
    # Another process may have made the codes meanwhile.
    if not _are_due(connection):
        return
    connection.execute("SET LOCAL statement_timeout = 0")
    row = connection.execute(_MOMENTS, (_zeros(connection),)).fetchall()[0]
    if row["mean"] is None:
        # All vectors are still to be made.
        return
    mean, square = (vector_from_bytes(bytes(row[name])) for name in ("mean", "square"))
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    edges = [vector_to_text(mean + np.float32(edge) * deviation) for edge in _EDGES]
    connection.execute("UPDATE library SET edges = %s::vector[], sketched = chunks", (edges,))
    remake_codes(connection)
