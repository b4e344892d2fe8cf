"""Checks that the SQLite file of an embedded library is consistent, and repairs it."""

from __future__ import annotations

import sqlite3
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from answerable.datatypes import Document
from answerable.protocols import Difference, Issue
from answerable.stores.embedded.database.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    read_fingerprint,
    read_indexed_chunk,
    read_stored_document,
)
from answerable.stores.records import sync_record_from_row

UNREADABLE = (zlib.error, ValueError, LookupError, TypeError, AttributeError)
"""Raised by reading a damaged row."""

_NAME = "library.db"
_SHOWN = 5
_DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS} FROM documents"
_RECORDS = "SELECT * FROM records"
_CHUNKS = f"SELECT number, {CHUNK_COLUMNS} FROM chunks"
_ORPHANS = "FROM chunks WHERE document NOT IN (SELECT number FROM documents)"
_NUMBERS = """
SELECT (SELECT count(*) FROM chunks) AS there, (SELECT count(*) FROM removed) AS notes,
       (SELECT count(DISTINCT number) FROM removed WHERE number NOT IN (SELECT number FROM chunks)) AS gone,
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0) AS given,
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removed'), 0) AS last_note
"""
_NOTE_REMOVED = """
WITH RECURSIVE given (number) AS (SELECT 1 WHERE ? > 0 UNION ALL SELECT number + 1 FROM given WHERE number < ?)
INSERT INTO removed (number) SELECT number FROM given EXCEPT SELECT number FROM chunks
"""
_RECOUNT = """
INSERT INTO recount
SELECT key, count(*) FROM chunks, json_each(CASE WHEN json_valid(terms) THEN terms ELSE '{}' END) GROUP BY key
"""
_WRONG_COUNTS = f"""
SELECT DISTINCT term FROM (SELECT * FROM (SELECT * FROM recount EXCEPT SELECT * FROM terms)
                  UNION SELECT * FROM (SELECT * FROM terms EXCEPT SELECT * FROM recount)) LIMIT {_SHOWN}
"""


def issues(connection: sqlite3.Connection) -> list[Issue]:
    """Return the faults of the file; if SQLite finds damage, only that. Chunks aren't checked for readability."""
    damage = _damage(connection)
    if damage:
        return [Issue(Difference.DAMAGED, _NAME, "; ".join(damage))]
    return list(_faults(connection))


def repair(connection: sqlite3.Connection) -> None:
    """Repair what `issues` finds, in the caller's transaction. Raise sqlite3.DatabaseError if tables are damaged."""
    if _damage(connection):
        # A damaged index is rebuilt from its table.
        connection.execute("REINDEX")
        if damage := _damage(connection):
            raise sqlite3.DatabaseError(f"database disk image is malformed: {damage[0]}")
    for document in _unreadable(connection, _DOCUMENTS, _read_metadata):
        connection.execute("UPDATE documents SET metadata = '{}' WHERE id = ?", (document["id"],))
    for record in _unreadable(connection, _RECORDS, _read_record):
        key = (record["origin"], record["source"])
        connection.execute("DELETE FROM records WHERE origin IS ? AND source IS ?", key)
    connection.execute(f"DELETE {_ORPHANS}")
    made_by = read_fingerprint(connection, "fingerprint")
    for chunk in _unreadable(connection, _CHUNKS, _readable(made_by.dimension if made_by else None)):
        connection.execute("DELETE FROM chunks WHERE number = ?", (chunk["number"],))
    numbers = connection.execute(_NUMBERS).fetchone()
    if not _is_consistent(numbers):
        connection.execute("DELETE FROM removed")
        connection.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'removed'")
        connection.execute(_NOTE_REMOVED, (numbers["given"], numbers["given"]))
        connection.execute("DELETE FROM meta WHERE key = 'erased'")
        # With a new identity every index is rebuilt.
        connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (uuid.uuid4().hex,))
    with _recounted(connection) as wrong:
        if wrong:
            connection.execute("DELETE FROM terms")
            connection.execute("INSERT INTO terms SELECT * FROM recount")


def _damage(connection: sqlite3.Connection) -> list[str]:
    """Return the damage that SQLite finds in the file, [] for none."""
    said = [" ".join(row[0].split()) for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})")]
    return [] if said == ["ok"] else said


def _faults(connection: sqlite3.Connection) -> Iterator[Issue]:
    for document in _unreadable(connection, _DOCUMENTS, _read_metadata):
        yield Issue(Difference.DAMAGED, document["source"] or document["id"], "its metadata can't be read")
    for record in _unreadable(connection, _RECORDS, _read_record):
        yield Issue(Difference.DAMAGED, str(record["source"]), "its sync record can't be read")
    (orphans,) = connection.execute(f"SELECT count(*) {_ORPHANS}").fetchone()
    if orphans:
        yield Issue(Difference.ORPHANED, _NAME, f"{orphans:,} passages belong to no document")
    numbers = connection.execute(_NUMBERS).fetchone()
    if not _is_consistent(numbers):
        lost = numbers["given"] - numbers["there"] - numbers["gone"]
        said = f"{lost:,} passages are gone" if lost else "the list of removed passages is wrong"
        yield Issue(Difference.MISSING, _NAME, f"{said}: an index may still contain removed passages")
    with _recounted(connection) as wrong:
        if wrong:
            yield Issue(Difference.COUNTS, _NAME, f"the number of passages is wrong for the terms {', '.join(wrong)}")


def _unreadable(connection: sqlite3.Connection, query: str, read: Callable[[sqlite3.Row], None]) -> list[sqlite3.Row]:
    found = []
    for row in connection.execute(query):
        try:
            read(row)
        except UNREADABLE:
            found.append(row)
    return found


def _read_metadata(row: sqlite3.Row) -> None:
    dict(read_stored_document(row).metadata)


def _read_record(row: sqlite3.Row) -> None:
    sync_record_from_row(dict(row))


def _readable(dimension: int | None) -> Callable[[sqlite3.Row], None]:
    """Return a function that reads a chunk's row, and raises an error if the chunk can't be indexed."""

    def read(row: sqlite3.Row) -> None:
        chunk = read_indexed_chunk(row, Document(id="", content=""))
        dict(chunk.terms)
        dict(chunk.fields)
        if len(chunk.vector) != dimension or not np.isfinite(chunk.vector).all():
            raise ValueError(f"its vector isn't one of {dimension} numbers")

    return read


def _is_consistent(numbers: sqlite3.Row) -> bool:
    """Whether every number ever assigned belongs to a chunk or is listed once as removed."""
    gone = numbers["given"] - numbers["there"]
    return bool(gone == numbers["gone"] == numbers["notes"] == numbers["last_note"])


@contextmanager
def _recounted(connection: sqlite3.Connection) -> Iterator[list[str]]:
    """Count all terms in the temporary table `recount`; yield some terms whose stored count is wrong."""
    connection.execute("CREATE TEMP TABLE recount (term TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID")
    try:
        connection.execute(_RECOUNT)
        yield [repr(row["term"]) for row in connection.execute(_WRONG_COUNTS)]
    finally:
        connection.execute("DROP TABLE recount")
