"""Checks that the tables of a library on PostgreSQL are consistent, and repairs them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from secrets import token_hex
from typing import Any

from answerable.datatypes import Document
from answerable.protocols import Difference, Issue
from answerable.stores import records
from answerable.stores.postgres import rows as postgres_rows
from answerable.stores.postgres import sketches
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.values import decode, fields_from_json, key
from answerable.text.bm25 import term_weights

# The import that reports a missing package comes first.
# isort: split
from psycopg import sql

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
_BATCH = 500
_SHOWN = 5
# Table, column, and the table and column it refers to.
_REFERENCES = (
    ("chunks", "document", "documents", "number"),
    ("entries", "number", "chunks", "number"),
    ("comparables", "chunk", "chunks", "number"),
    ("postings", "chunk", "chunks", "number"),
    ("postings", "term", "terms", "id"),
)
_ORPHANS = "FROM {0} WHERE NOT EXISTS (SELECT FROM {2} WHERE {2}.{3} = {0}.{1})"
_COUNTED = "SELECT (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM chunks) AS chunks"
_DOCUMENTS = f"SELECT {postgres_rows.STORED} FROM documents"
_RECORDS = "SELECT * FROM records"
_CHUNKS = f"SELECT {postgres_rows.INDEXED} FROM chunks JOIN entries USING (number) ORDER BY number"
_DERIVED_FROM = "SELECT number, terms, fields::text AS fields FROM chunks JOIN entries USING (number) ORDER BY number"
_DERIVED = """
    SELECT number, coalesce(p.count, 0) AS postings, coalesce(p.weight, 0) AS weight, coalesce(c.count, 0) AS compared
    FROM chunks JOIN entries USING (number)
    LEFT JOIN (SELECT chunk, count(*), sum(weight::float8) AS weight FROM postings GROUP BY chunk) p ON p.chunk = number
    LEFT JOIN (SELECT chunk, count(*) FROM comparables GROUP BY chunk) c ON c.chunk = number
    ORDER BY number
"""
_UNLIKE_POSTINGS = f"""
    SELECT term FROM terms
    LEFT JOIN (SELECT term AS id, count(*), max(weight) AS highest FROM postings GROUP BY 1) p USING (id)
    WHERE coalesce(p.count, 0) != chunks OR p.highest > terms.highest LIMIT {_SHOWN}
"""


def issues(connection: Connection) -> list[Issue]:
    """Return the faults of the tables, in the caller's transaction."""
    connection.execute("SET LOCAL statement_timeout = 0")
    return list(_faults(connection))


def repair(connection: Connection) -> None:
    """Repair what `issues` finds, in the caller's transaction."""
    connection.execute("SET LOCAL statement_timeout = 0")
    for row in _unreadable(connection, _DOCUMENTS, _read_metadata):
        connection.execute("UPDATE documents SET metadata = '{}' WHERE id = %s", (row["id"],))
    for row in _unreadable(connection, _RECORDS, _read_record):
        keys = row["origin"], row["source"]
        connection.execute("DELETE FROM records WHERE origin = %s AND source = %s", keys)
    for row in _unreadable(connection, _CHUNKS, _read_chunk):
        connection.execute("DELETE FROM chunks WHERE number = %s", (row["number"],))
    for reference in _REFERENCES:
        connection.execute(_named("DELETE " + _ORPHANS, reference))
    if list(_wrongly_derived(connection)):
        _derive(connection)
    if sketches.count_wrong(connection):
        sketches.remake(connection)
    connection.execute(f"UPDATE library SET (documents, chunks) = ({_COUNTED})")


def _faults(connection: Connection) -> Iterator[Issue]:
    for row in _unreadable(connection, _DOCUMENTS, _read_metadata):
        yield Issue(Difference.DAMAGED, decode(row["source"] or row["id"]), "its metadata can't be read")
    for row in _unreadable(connection, _RECORDS, _read_record):
        yield Issue(Difference.DAMAGED, decode(row["source"]), "its sync record can't be read")
    for reference in _REFERENCES:
        (row,) = connection.execute(_named("SELECT count(*) " + _ORPHANS, reference))
        if row["count"]:
            what = f"{row['count']:,} rows refer to missing {reference[2]}"
            yield Issue(Difference.ORPHANED, f"table {reference[0]}", what)
    (counted,), (noted,) = connection.execute(_COUNTED), connection.execute("SELECT documents, chunks FROM library")
    if counted != noted:
        said, there = (f"{row['documents']:,} documents and {row['chunks']:,} passages" for row in (noted, counted))
        yield Issue(Difference.COUNTS, "table library", f"it counts {said}, but there are {there}")
    if wrong := sketches.count_wrong(connection):
        yield Issue(
            Difference.COUNTS, "table sketches", f"{wrong:,} sketches are missing, left over or of another vector"
        )
    yield from _wrongly_derived(connection)


def _wrongly_derived(connection: Connection) -> Iterator[Issue]:
    """Yield an issue per table where terms, postings and comparables differ from the chunks they are derived from."""
    frequency: Counter[str] = Counter()
    wrong = 0
    made, found = _rows(connection, _DERIVED_FROM), _rows(connection, _DERIVED)
    for source, derived in zip(made, found, strict=True):
        try:
            counts = json.loads(decode(source["terms"]))
            compared = len(list(postgres_rows.comparables(0, fields_from_json(source["fields"]))))
            weights = {key(term): weight for term, weight in term_weights(counts).items()}
        except _UNREADABLE:
            # Reading the document reports it.
            continue
        frequency.update(weights.keys())
        is_same = (derived["postings"], derived["compared"]) == (len(weights), compared)
        wrong += not (is_same and math.isclose(derived["weight"], sum(weights.values()), rel_tol=1e-4))
    if wrong:
        yield Issue(Difference.COUNTS, "table postings", f"{wrong:,} passages have search data of another text")
    noted = {row["term"]: row["chunks"] for row in _rows(connection, "SELECT term, chunks FROM terms")}
    terms = sorted(term for term in noted.keys() | frequency.keys() if noted.get(term, 0) != frequency[term])
    terms += [row["term"] for row in connection.execute(_UNLIKE_POSTINGS)]
    if terms:
        shown = ", ".join(repr(decode(term)[:50]) for term in terms[:_SHOWN])
        what = f"the number of passages or the highest weight is wrong for the terms {shown}"
        yield Issue(Difference.COUNTS, "table terms", what)


def _derive(connection: Connection) -> None:
    """Rebuild terms, postings and comparables."""
    for table in ("postings", "terms", "comparables"):
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    after = 0
    statement = (
        "SELECT number, terms, fields::text AS fields FROM chunks JOIN entries USING (number) WHERE number > %s "
        f"ORDER BY number LIMIT {_BATCH}"
    )
    while batch := connection.execute(statement, (after,)).fetchall():
        postgres_rows.insert_terms(connection, [(row["number"], json.loads(decode(row["terms"]))) for row in batch])
        postgres_rows.insert_comparables(
            connection, [(row["number"], fields_from_json(row["fields"])) for row in batch]
        )
        after = batch[-1]["number"]


def _rows(connection: Connection, query: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows in batches."""
    with connection.cursor(f"audit_{token_hex(4)}") as cursor:
        cursor.itersize = _BATCH
        yield from cursor.execute(query)


def _unreadable(
    connection: Connection, query: str, read: Callable[[Mapping[str, Any]], None]
) -> list[Mapping[str, Any]]:
    found = []
    for row in _rows(connection, query):
        try:
            read(row)
        except _UNREADABLE:
            found.append(row)
    return found


def _read_metadata(row: Mapping[str, Any]) -> None:
    dict(postgres_rows.stored_document(row).metadata)


def _read_record(row: Mapping[str, Any]) -> None:
    records.sync_record_from_row({name: decode(text) for name, text in row.items()})


def _read_chunk(row: Mapping[str, Any]) -> None:
    dict(postgres_rows.indexed_chunk(row, Document(id="", content="")).terms)


def _named(template: str, names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(template).format(*map(sql.Identifier, names))
