"""Rebuild a library on a Qdrant server while the old one answers, and switch to the new one in one step."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing, suppress

from answerable.errors import LibraryError
from answerable.protocols import Store
from answerable.stores.qdrant import schema
from answerable.stores.qdrant.address import parse_address
from answerable.stores.qdrant.connection import Connection
from answerable.stores.qdrant.head import HeadPoint
from answerable.stores.qdrant.store import QdrantStore

# A process that builds a library writes something into it far more often.
ABANDONED_AFTER = 24 * 3600.0


def replace_library(
    address: str, fill: Callable[[Store], None], key: str = "", abandoned_after: float = ABANDONED_AFTER
) -> None:
    """Let `fill` write a new, empty library beside the one at an address, then put it in the old one's place.

    Until `fill` has returned, everybody reads and writes the old one, which is then deleted with whatever was written
    to it meanwhile. When `fill` raises, the new one is deleted and the old one stays. New libraries whose building
    was interrupted, and that haven't changed for `abandoned_after` seconds, are deleted too.
    """
    with closing(Connection(parse_address(address), key)) as connection:
        connection.check_server()
        used = set(schema.aliases(connection).values())
        for collection in _collections(connection):
            if collection not in used and time.time() - _changed(connection, collection) > abandoned_after:
                schema.remove(connection, collection)
        numbers = (int(found.rpartition(".")[2]) for found in _collections(connection))
        collection = f"{connection.address.name}.{max(numbers, default=0) + 1}"
        try:
            with closing(QdrantStore(address, key=key, collection=collection)) as store:
                fill(store)
                store.refresh()
        except BaseException:
            with suppress(LibraryError):
                schema.remove(connection, collection)
            raise
        before = schema.point_to(connection, connection.address.name, collection)
        if before is not None:
            schema.remove(connection, before)


def _changed(connection: Connection, collection: str) -> float:
    try:
        return HeadPoint(connection, collection).read().changed
    except LibraryError:
        # Not ours, or gone by now.
        return time.time()


def _collections(connection: Connection) -> list[str]:
    """The collections of all versions of a library, without those of their chunks."""
    pattern = re.compile(rf"{re.escape(connection.address.name)}\.[0-9]{{1,9}}")
    return [name for name in schema.names(connection) if pattern.fullmatch(name)]
