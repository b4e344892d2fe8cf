"""Building a library anew on a Qdrant server while the old one answers, and switching to it in one step."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import closing, suppress

from answerable.errors import LibraryError
from answerable.protocols import Store
from answerable.stores.qdrant import schema as qdrant_schema
from answerable.stores.qdrant.address import parse_address
from answerable.stores.qdrant.connection import Connection
from answerable.stores.qdrant.state import Root
from answerable.stores.qdrant.store import QdrantStore

# Whoever builds a library writes something into it far more often than that.
ABANDONED_AFTER = 24 * 3600.0


def replace_library(
    address: str, fill: Callable[[Store], None], key: str = "", abandoned_after: float = ABANDONED_AFTER
) -> None:
    """Lets `fill` write a new, empty library beside the one at an address, and puts it in the old one's place.

    Until `fill` has returned, everybody reads and writes the old one, which is then removed whole: what was written to
    it meanwhile is gone with it. When `fill` raises, the new one is removed and the old one stays. What was left of
    being built by somebody who was killed, and hasn't changed for `abandoned_after` seconds, is removed too.
    """
    connection = Connection(parse_address(address), key)
    with closing(connection):
        connection.check_server()
        _remove_abandoned(connection, abandoned_after)
        collection = _next_collection(connection)
        try:
            with closing(QdrantStore(address, key=key, collection=collection)) as store:
                fill(store)
                store.refresh()
        except BaseException:
            with suppress(LibraryError):
                qdrant_schema.remove(connection, collection)
            raise
        before = qdrant_schema.point_to(connection, connection.address.name, collection)
        if before is not None:
            qdrant_schema.remove(connection, before)


def _next_collection(connection: Connection) -> str:
    numbers = (int(found.rpartition(".")[2]) for found in _collections(connection))
    return f"{connection.address.name}.{max(numbers, default=0) + 1}"


def _remove_abandoned(connection: Connection, abandoned_after: float) -> None:
    aliases = connection.call(lambda client: client.get_aliases()).aliases
    used = {alias.collection_name for alias in aliases}
    for collection in _collections(connection):
        if collection not in used and time.time() - _changed(connection, collection) > abandoned_after:
            qdrant_schema.remove(connection, collection)


def _changed(connection: Connection, collection: str) -> float:
    try:
        return Root(connection, collection).read().changed
    except LibraryError:
        # Not ours, or gone by now.
        return time.time()


def _collections(connection: Connection) -> list[str]:
    """The collections of all versions of a library, without those of their chunks."""
    found = connection.call(lambda client: client.get_collections()).collections
    pattern = re.compile(rf"{re.escape(connection.address.name)}\.[0-9]{{1,9}}")
    return [description.name for description in found if pattern.fullmatch(description.name)]
