"""Builds the graph (HNSW) over the vectors of a library on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from answerable.errors import LibraryReadOnly
from answerable.stores.postgres.connection import Connection, Connections
from answerable.stores.postgres.search import EXACT_UP_TO, LONGEST_INDEXED

_LOCK = "hashtextextended('answerable graph', oid::bigint) FROM pg_namespace WHERE nspname = current_schema()"
_VALID = "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('entries_by_vector')"
_BUILD = """
    CREATE INDEX CONCURRENTLY entries_by_vector ON entries
    USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops)
"""
# A graph that doesn't fit in memory is built many times slower; this is the maximum to request of the server.
_MOST_KILOBYTES = 4_000_000


def build_if_due(connections: Connections) -> None:
    """Build the graph if the library is large enough and no other process is building it. Writes aren't blocked."""
    due = connections.run(_dimension_if_due)
    if due is None:
        return
    # A user who may write but doesn't own the tables can't build it: searches stay exact.
    with suppress(LibraryReadOnly), connections.one() as connection:
        locked = connection.execute(f"SELECT pg_try_advisory_lock(key) AS got FROM (SELECT {_LOCK}) AS lock (key)")
        # The connection holds the lock. Its last holder may have built the graph meanwhile.
        if all(row["got"] for row in locked) and _dimension_if_due(connection):
            _build(connection, *due)


def without_graph(connections: Connections, work: Callable[[Connection], None]) -> None:
    """Drop the graph, then run `work` in a transaction during which no process builds another."""
    with connections.one() as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        connection.execute(f"SELECT pg_advisory_lock(key) FROM (SELECT {_LOCK}) AS lock (key)")
        connection.execute("DROP INDEX CONCURRENTLY IF EXISTS entries_by_vector")
        with connection.transaction():
            work(connection)
        connection.execute("VACUUM (ANALYZE) entries, chunks")


@contextmanager
def graph_lock(connections: Connections) -> Iterator[Connection | None]:
    """Give a connection, without a time-out, that keeps others from building the graph; None if one is building it."""
    with connections.one() as connection:
        connection.execute("SELECT set_config('statement_timeout', '0', false)")
        locked = connection.execute(f"SELECT pg_try_advisory_lock(key) AS got FROM (SELECT {_LOCK}) AS lock (key)")
        yield connection if all(row["got"] for row in locked) else None


def _dimension_if_due(connection: Connection) -> tuple[int, int] | None:
    """Return the number of dimensions and of chunks if a graph should be built, otherwise None."""
    row = connection.execute(f"SELECT chunks, fingerprint, ({_VALID}) AS valid FROM library").fetchone()
    if row is None or row["valid"] or row["chunks"] <= EXACT_UP_TO or row["fingerprint"] is None:
        return None
    dimension = int(row["fingerprint"]["dimension"])
    return (dimension, row["chunks"]) if dimension <= LONGEST_INDEXED else None


def _build(connection: Connection, dimension: int, chunks: int) -> None:
    kilobytes = min(chunks * (dimension * 2 + 600) // 1000 + 64_000, _MOST_KILOBYTES)
    settings = {
        "statement_timeout": "0",
        "lock_timeout": "0",
        "maintenance_work_mem": f"{kilobytes}kB",
        # Workers would need memory in /dev/shm, which is small in a container.
        "max_parallel_maintenance_workers": "0",
    }
    for name, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    # An interrupted build leaves an invalid graph.
    connection.execute("DROP INDEX IF EXISTS entries_by_vector")
    connection.execute(_BUILD.format(dimension=dimension))
    # The server's own statistics lag behind.
    connection.execute("VACUUM (ANALYZE) entries, postings, terms, chunks, comparables")
