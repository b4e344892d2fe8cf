"""Creates, checks, names and deletes the collections of a library on a Qdrant server.

A library's name is an alias of a collection that holds the head, the documents and the sync records. A second
collection holds the chunks; it is created once the dimension of their vectors is known.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from answerable.errors import LibraryDamaged, LibraryError, LibraryNotFound
from answerable.stores.hashed import USUAL_FIELDS, equality_key, range_key
from answerable.stores.qdrant.connection import CollectionGone, Connection, models
from answerable.stores.qdrant.head import VERSION, Head, HeadPoint, chunk_collection
from answerable.stores.qdrant.points import DENSE, SPARSE

# Further fields are searched without an index: each takes memory, and metadata may have any number of fields.
MOST_INDEXES = 500

_KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
_INTEGER = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True)
_HASH = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False)
_FLOAT = models.FloatIndexParams(type=models.FloatIndexType.FLOAT)

_OF_DOCUMENTS: dict[str, Any] = {
    **dict.fromkeys(("kind", "keys", "language", "identity"), _KEYWORD),
    **dict.fromkeys((VERSION, "version"), _INTEGER),
}
_OF_CHUNKS: dict[str, Any] = {
    VERSION: _INTEGER,
    "terms": _HASH,
    **dict.fromkeys(map(equality_key, USUAL_FIELDS), _HASH),
    **dict.fromkeys((range_key("date", datetime.min), range_key("page", 0.0)), _FLOAT),
}


def prepare(connection: Connection, create: bool) -> HeadPoint:
    """Open the library at the connection's address; with `create`, create a missing one.

    Raise LibraryNotFound, LibraryFormatError, LibraryReadOnly and LibraryError.
    """
    connection.check_server()
    name = connection.address.name
    point = HeadPoint(connection, name)
    try:
        point.read()
    except CollectionGone:
        if not create:
            raise LibraryNotFound(
                f"There is no library at {connection.address.shown}. Make one by adding something: answerable add PATH"
            ) from None
        # Two processes that create the library at once create the same collection.
        _make(connection, f"{name}.1")
        _set_alias(connection, name, f"{name}.1")
        point.read()
    return point


def _make(connection: Connection, collection: str) -> HeadPoint:
    """Create a collection with its indexes and a head; after an interruption, create the rest."""
    _create(connection, collection, {"vectors_config": {}})
    _add_indexes(connection, collection, _OF_DOCUMENTS)
    point = HeadPoint(connection, collection)
    if not connection.count(collection):
        point.start(Head(identity=str(uuid.uuid4()), collection=collection))
    point.read()
    return point


def make_chunks(connection: Connection, head: Head) -> None:
    """Create the chunks' collection of a library that is bound to an embedder; after an interruption, the rest.

    The distance is the dot product, which is the cosine, since vectors are normalised. Qdrant's "Cosine" would change
    the vectors that it returns.
    """
    assert head.fingerprint is not None
    collection, dimension = head.chunk_collection, head.fingerprint.dimension
    layout = connection.address.layout
    dense = models.VectorParams(size=dimension, distance=models.Distance.DOT, on_disk=layout.on_disk or None)
    parameters: dict[str, Any] = {
        "vectors_config": {DENSE: dense},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams()},
        "hnsw_config": models.HnswConfigDiff(m=16, ef_construct=128),
    }
    if layout.quantized:
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        parameters["quantization_config"] = models.ScalarQuantization(scalar=scalar)
    _create(connection, collection, parameters)
    found = connection.call(lambda client: client.get_collection(collection)).config.params.vectors
    if not isinstance(found, dict) or DENSE not in found or found[DENSE].size != dimension:
        raise LibraryDamaged(
            f"The collection {collection!r} of {connection.address.shown} isn't made for vectors of {dimension} "
            "numbers. Restore the library from a snapshot, or add everything again under another name."
        )
    _add_indexes(connection, collection, _OF_CHUNKS)


def index_fields(connection: Connection, collection: str, keys: Iterable[str], known: set[str]) -> None:
    """Create missing indexes for these filter keys, and add all indexed keys to `known`."""
    if missing := sorted(set(keys) - known):
        indexes = {key: _HASH if key.startswith("e") else _FLOAT for key in missing}
        known.update(missing, _add_indexes(connection, collection, indexes))


def copy_indexes(connection: Connection, source: str, target: str) -> None:
    """Create in the collection `target` the indexes that `source` has."""
    index_fields(connection, target, _indexes(connection, source), set())


def _set_alias(connection: Connection, name: str, collection: str) -> None:
    """Make a library's name an alias of a collection."""
    named = models.CreateAlias(collection_name=collection, alias_name=name)
    operations: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=named)]
    try:
        connection.call(lambda client: client.update_collection_aliases(operations))
    except LibraryError:
        # An attempt whose answer was lost, or another process, may have done it.
        aliases = connection.call(lambda client: client.get_aliases()).aliases
        if (name, collection) not in {(alias.alias_name, alias.collection_name) for alias in aliases}:
            raise


def remove_unused_chunks(connection: Connection, head: Head) -> None:
    """Delete a library's collections of chunks that are neither current nor collecting new vectors."""
    used = (head, head.switched()) if head.next_fingerprint else (head,)
    keep = [one.chunk_collection for one in used]
    plain = chunk_collection(head.collection, "")
    for name in (found.name for found in connection.call(lambda client: client.get_collections()).collections):
        if (name == plain or name.startswith(f"{plain}.")) and name not in keep:
            with suppress(CollectionGone):
                connection.call(lambda client, gone=name: client.delete_collection(gone))  # type: ignore[misc]


def _create(connection: Connection, collection: str, parameters: Mapping[str, Any]) -> None:
    if connection.call(lambda client: client.collection_exists(collection)):
        return
    layout = connection.address.layout
    parameters = {
        "on_disk_payload": True,
        "shard_number": layout.shards,
        "replication_factor": layout.replicas,
        "write_consistency_factor": layout.write_consistency,
        **parameters,
    }
    try:
        connection.call(lambda client: client.create_collection(collection, **parameters))
    except LibraryError:
        # An attempt whose answer was lost, or another process, may have done it.
        if not connection.call(lambda client: client.collection_exists(collection)):
            raise


def _indexes(connection: Connection, collection: str) -> Collection[str]:
    return connection.call(lambda client: client.get_collection(collection)).payload_schema


def _add_indexes(connection: Connection, collection: str, indexes: Mapping[str, Any]) -> Iterable[str]:
    """Create missing indexes, up to `MOST_INDEXES` in all; return the keys that already had one."""
    there, strong = _indexes(connection, collection), models.WriteOrdering.STRONG
    missing = [key for key in indexes if key not in there]
    for key in missing[: max(0, MOST_INDEXES - len(there))]:
        connection.call(
            lambda client, key=key: client.create_payload_index(  # type: ignore[misc]
                collection, key, indexes[key], wait=True, ordering=strong
            )
        )
    return there
