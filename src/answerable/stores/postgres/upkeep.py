"""Audits, repairs and rewrites the tables of a library on PostgreSQL.

This module finds and repairs only faults that searches don't show (see `stores.audit`).

A deleted row stays in its page until the server vacuums the page, and its bytes stay after that until another row
overwrites them. `VACUUM FULL` writes a new file with the visible rows, rebuilds the indexes, and deletes the old files.
PostgreSQL silently skips a table that this user doesn't own, and copies deleted rows that an older transaction could
still see. `erase` waits for short transactions, detects both, and then still counts the removals as not erased.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from secrets import token_hex
from time import monotonic, sleep
from typing import Any

from answerable.datatypes import Document
from answerable.errors import LibraryBusy, LibraryReadOnly
from answerable.protocols import Difference, Issue, Unerased
from answerable.stores import records
from answerable.stores.audit import unreadable
from answerable.stores.postgres import rows as postgres_rows
from answerable.stores.postgres.connection import Connection, Connections, errors, sql
from answerable.stores.postgres.values import decode, fields_from_json

# Rows in memory at once: a round number, not measured.
_BATCH = 500
# Most terms that an issue names, so that it fits on a line.
_SHOWN = 5
# References: a table and its column, and the table and column that it refers to.
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
_UNLIKE_POSTINGS = f"""
    SELECT term FROM terms
    LEFT JOIN (SELECT term AS id, count(*), max(weight) AS highest FROM postings GROUP BY 1) p USING (id)
    WHERE coalesce(p.count, 0) != chunks OR p.highest > terms.highest LIMIT {_SHOWN}
"""


def issues(connection: Connection) -> list[Issue]:
    """Return the faults of the tables, in the caller's transaction."""
    connection.execute("SET LOCAL statement_timeout = 0")
    return list(_faults(connection))


def repair(connection: Connection, rebuild: bool) -> None:
    """Remove unreadable and orphaned rows; with `rebuild`, derive the search data again."""
    connection.execute("SET LOCAL statement_timeout = 0")
    for row in unreadable(_rows(connection, _DOCUMENTS), _read_metadata):
        connection.execute("UPDATE documents SET metadata = '{}' WHERE id = %s", (row["id"],))
    for row in unreadable(_rows(connection, _RECORDS), _read_record):
        keys = row["origin"], row["source"]
        connection.execute("DELETE FROM records WHERE origin = %s AND source = %s", keys)
    for row in unreadable(_rows(connection, _CHUNKS), _read_chunk):
        connection.execute("DELETE FROM chunks WHERE number = %s", (row["number"],))
    for reference in _REFERENCES:
        connection.execute(_named("DELETE " + _ORPHANS, reference))
    if rebuild:
        _derive(connection)
        postgres_rows.remake_codes(connection)
    connection.execute(f"UPDATE library SET (documents, chunks) = ({_COUNTED})")


def _faults(connection: Connection) -> Iterator[Issue]:
    for row in unreadable(_rows(connection, _DOCUMENTS), _read_metadata):
        yield Issue(Difference.DAMAGED, decode(row["source"] or row["id"]), "its metadata can't be read")
    for row in unreadable(_rows(connection, _RECORDS), _read_record):
        yield Issue(Difference.DAMAGED, decode(row["source"]), "its sync record can't be read")
    # Searches choose vectors by their codes: with wrong codes they miss passages.
    if wrong := postgres_rows.count_wrong_codes(connection):
        yield Issue(
            Difference.COUNTS, "table sketches", f"{wrong:,} sketches are missing, left over or of another vector"
        )
    if terms := [repr(decode(row["term"])[:50]) for row in connection.execute(_UNLIKE_POSTINGS)]:
        what = f"the number of passages or the highest weight is wrong for the terms {', '.join(terms)}"
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


def _read_metadata(row: Mapping[str, Any]) -> None:
    records.stored_document(row, decode)


def _read_record(row: Mapping[str, Any]) -> None:
    records.sync_record_from_row(row, decode)


def _read_chunk(row: Mapping[str, Any]) -> None:
    dict(postgres_rows.indexed_chunk(row, Document(id="", content="")).terms)


def _named(template: str, names: tuple[str, ...]) -> sql.Composed:
    return sql.SQL(template).format(*map(sql.Identifier, names))


_TABLES = ("documents", "chunks", "entries", "sketches", "comparables", "terms", "postings", "records")
_UNERASED = "SELECT unerased, coalesce(extract(epoch FROM erased), 0)::float8 AS erased FROM library"
_ERASED = "UPDATE library SET unerased = greatest(0, unerased - %s), erased = now()"
# The server shows other users' transactions only to those who may see statistics; `_rewrite` detects the others.
_OLDER = (
    "SELECT 1 AS older FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND xact_start < %s"
)
# Seconds that `erase` waits for older transactions: a search takes less, a backup or a forgotten session takes longer.
_PATIENCE = 5.0
_FILES = "SELECT pg_relation_filenode(name::regclass) AS file FROM unnest(%s::text[]) AS name"


def unerased(connection: Connection) -> Unerased:
    """Return how many removed chunks may have left data in the server's files, and when these were last rewritten."""
    rows = connection.execute(_UNERASED).fetchall()
    return Unerased(rows[0]["unerased"], rows[0]["erased"])


def erase(connections: Connections) -> None:
    """Rewrite all tables; searches wait while a table that they need is rewritten.

    Raise LibraryReadOnly and LibraryBusy if deleted rows remain.
    """
    with connections.one() as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        removed = unerased(connection).passages
        _wait_for_older_transactions(connection)
        _rewrite(connection)
        connection.execute(_ERASED, (removed,))
        # The server empties the old files at once and deletes them later; old rows of `library` contain no text.


def _wait_for_older_transactions(connection: Connection) -> None:
    now = connection.execute("SELECT clock_timestamp() AS time").fetchall()[0]["time"]
    end = monotonic() + _PATIENCE
    while connection.execute(_OLDER, (now,)).fetchall() and monotonic() < end:
        sleep(0.1)


def _rewrite(connection: Connection) -> None:
    kept: list[int] = []

    def count_kept(notice: errors.Diagnostic) -> None:
        # A message in the server's language, such as "3 dead row versions cannot be removed yet."
        if number := re.match(r"\D*(\d+)", notice.message_detail or ""):
            kept.append(int(number[1]))

    connection.add_notice_handler(count_kept)
    before = connection.execute(_FILES, (list(_TABLES),)).fetchall()
    try:
        connection.execute(f"VACUUM (FULL, VERBOSE, ANALYZE) {', '.join(_TABLES)}")
    finally:
        connection.remove_notice_handler(count_kept)
    after = connection.execute(_FILES, (list(_TABLES),)).fetchall()
    if any(old == new for old, new in zip(before, after, strict=True)):
        raise LibraryReadOnly("Only the owner of the library's tables can erase what was removed: let that user do it.")
    if sum(kept):
        raise LibraryBusy(
            "A transaction in the database is older than the removal, and keeps the server from erasing it. "
            "Erase when it is done."
        )
