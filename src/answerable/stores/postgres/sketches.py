"""Sketches of the vectors of a library on PostgreSQL: few bits, of which a search compares all.

A sketch has three bits for each dimension: whether the vector lies above the library's mean there, and above and below
it by most of a standard deviation. The number of bits in which two sketches differ (the Hamming distance) then grows
with the distance of the vectors. Each vector has one sketch, however many passages have it. A graph (HNSW) is not used:
in libraries that repeat themselves it loses sight of much of what is nearest (docs/postgres.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from answerable.errors import LibraryBusy, LibraryReadOnly
from answerable.stores.postgres.connection import Connection, Connections
from answerable.stores.postgres.values import vector_from_bytes, vector_to_text

# Up to this number of chunks, vectors are compared themselves.
EXACT_UP_TO = 10_000
# Deviations from the mean at which a bit changes.
_EDGES = (-0.7, 0.0, 0.7)
# Sketches are made anew, by a new mean, when a library has grown so many times.
_GROWTH = 4

_SKETCH = " || ".join(f"binary_quantize({{vector}} - edges[{number + 1}])" for number in range(len(_EDGES)))
OF_A_VECTOR = f"(SELECT {_SKETCH.format(vector='wanted')} FROM library, (SELECT %s::vector AS wanted) AS asked)"
"""SQL for the sketch of a vector that is a parameter; NULL if there are no sketches."""

_DUE = f"SELECT chunks > {EXACT_UP_TO} AND chunks > {_GROWTH} * sketched AS due FROM library"
_MOMENTS = "SELECT vector_send(avg(vector)) AS mean, vector_send(avg(vector * vector)) AS square FROM entries"
_MADE = f"SELECT digest, {_SKETCH.format(vector='vector')} AS sketch FROM entries, library WHERE edges IS NOT NULL"
_ADD = f"INSERT INTO sketches {_MADE} {{which}} ON CONFLICT DO NOTHING"
_DROP = """
    DELETE FROM sketches WHERE digest = ANY (%s)
    AND NOT EXISTS (SELECT FROM entries WHERE entries.digest = sketches.digest)
"""
_WRONG = f"""
    SELECT count(DISTINCT digest) FROM (
        ({_MADE} EXCEPT SELECT * FROM sketches) UNION ALL (SELECT * FROM sketches EXCEPT {_MADE})
    ) AS differing
"""


def make_if_due(connections: Connections) -> None:
    """Make the sketches if the library has grown large, or many times as large.

    They are made in one transaction: writers wait for it, readers don't. If others are writing or the user lacks a
    right, searches compare the vectors themselves until the next call.
    """
    with suppress(LibraryBusy, LibraryReadOnly):
        if connections.run(_are_due):
            connections.write(_make)
            with connections.one() as connection:
                connection.execute("SELECT set_config('statement_timeout', '0', false)")
                # The server's own statistics lag behind.
                connection.execute("VACUUM (ANALYZE) entries, sketches, postings, terms, chunks, comparables")


def add(connection: Connection, numbers: Sequence[int]) -> None:
    """Make the sketches of new entries, if the library has sketches."""
    connection.execute(_ADD.format(which="AND number = ANY (%s)"), (list(numbers),))


def drop(connection: Connection, digests: Sequence[bytes]) -> None:
    """Delete the sketches of vectors that no entry has any more."""
    connection.execute(_DROP, (list(digests),))


def forget(connection: Connection) -> None:
    """Delete all sketches: vectors of another embedder are being written."""
    connection.execute("DELETE FROM sketches")
    connection.execute("UPDATE library SET edges = NULL, sketched = 0")


def count_wrong(connection: Connection) -> int:
    """Count the vectors without a sketch or with a wrong one, and the sketches without a vector."""
    return int(connection.execute(_WRONG).fetchall()[0]["count"])


def remake(connection: Connection) -> None:
    """Make all sketches anew, if the library has sketches."""
    connection.execute("DELETE FROM sketches")
    connection.execute(_ADD.format(which=""))


def _are_due(connection: Connection) -> bool:
    row = connection.execute(_DUE).fetchone()
    return bool(row and row["due"])


def _make(connection: Connection) -> None:
    # Another process may have been first.
    if not _are_due(connection):
        return
    connection.execute("SET LOCAL statement_timeout = 0")
    row = connection.execute(_MOMENTS).fetchall()[0]
    mean, square = (vector_from_bytes(bytes(row[name])) for name in ("mean", "square"))
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    edges = [vector_to_text(mean + np.float32(edge) * deviation) for edge in _EDGES]
    connection.execute("UPDATE library SET edges = %s::vector[], sketched = chunks", (edges,))
    remake(connection)
