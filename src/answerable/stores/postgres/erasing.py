"""Rewrites the tables of a library on PostgreSQL, so that their files have nothing of deleted rows.

A deleted row stays in its page until the server vacuums it, and its bytes after that until another row takes their
place. `VACUUM FULL` writes a new file with the rows that are visible, builds the indexes anew, and deletes the old
files. It is refused silently where this user doesn't own a table, and it copies deleted rows that an older transaction
could still see: both are found out, and then the removals stay counted as not erased.
"""

from __future__ import annotations

import re

from answerable.errors import LibraryBusy, LibraryReadOnly
from answerable.protocols import Unerased
from answerable.stores.postgres.connection import Connection, Connections

# The import that reports a missing package comes first.
# isort: split
from psycopg.errors import Diagnostic

_TABLES = ("documents", "chunks", "entries", "sketches", "comparables", "terms", "postings", "records")
_UNERASED = "SELECT unerased, coalesce(extract(epoch FROM erased), 0)::float8 AS erased FROM library"
_ERASED = "UPDATE library SET unerased = greatest(0, unerased - %s), erased = now()"
_FILES = "SELECT pg_relation_filenode(name::regclass) AS file FROM unnest(%s::text[]) AS name"


def unerased(connection: Connection) -> Unerased:
    """Return how many removed chunks may have left data in the server's files, and when these were last rewritten."""
    rows = connection.execute(_UNERASED).fetchall()
    return Unerased(rows[0]["unerased"], rows[0]["erased"])


def erase(connections: Connections) -> None:
    """Rewrite all tables; searches wait for the table at hand.

    Raise LibraryReadOnly and LibraryBusy if deleted rows remain.
    """
    with connections.one() as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        removed = unerased(connection).passages
        _rewrite(connection)
        connection.execute(_ERASED, (removed,))
        # The old files are emptied at once and deleted at a checkpoint; row versions of `library` hold no text.


def _rewrite(connection: Connection) -> None:
    kept: list[int] = []

    def count_kept(notice: Diagnostic) -> None:
        # "3 dead row versions cannot be removed yet.", in the language of the server.
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
