"""The collections of a library on a Qdrant server: made, checked, and given their name.

The name that people use is an alias. It stands for a collection with the state, the documents and the sync records;
beside it lies one with the chunks, made as soon as it is known how long their vectors are.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from answerable.errors import LibraryDamaged, LibraryError, LibraryNotFound
from answerable.stores.qdrant.connection import CollectionGone, Connection, models
from answerable.stores.qdrant.rows import DENSE, SPARSE
from answerable.stores.qdrant.state import Root, State, chunk_collection
from answerable.stores.qdrant.values import USUAL_FIELDS, equality_key, range_key

# More fields than that are searched without an index: each index takes memory, and metadata may have any.
MOST_INDEXES = 500

_KEYWORD = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
_INTEGER = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True)
_HASH = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False)
_FLOAT = models.FloatIndexParams(type=models.FloatIndexType.FLOAT)
_Index = models.KeywordIndexParams | models.IntegerIndexParams | models.FloatIndexParams

_OF_THE_ROOT: dict[str, _Index] = {
    **dict.fromkeys(("kind", "keys", "language", "identity"), _KEYWORD),
    **dict.fromkeys(("generation", "version"), _INTEGER),
}
_OF_CHUNKS: dict[str, _Index] = {
    "generation": _INTEGER,
    "terms": _HASH,
    **dict.fromkeys(map(equality_key, USUAL_FIELDS), _HASH),
    **dict.fromkeys((range_key("date", datetime.min), range_key("page", 0.0)), _FLOAT),
}


def prepare(connection: Connection, create: bool) -> Root:
    """The library of the connection's address, made where there is none and `create` says so.

    Raises LibraryNotFound, LibraryFormatError, LibraryReadOnly and LibraryError.
    """
    connection.check_server()
    name = connection.address.name
    root = Root(connection, name)
    try:
        root.read()
    except CollectionGone:
        if not create:
            raise LibraryNotFound(
                f"There is no library at {connection.address.shown}. Make one by adding something: answerable add PATH"
            ) from None
        # Two who make it at once make the same one.
        make(connection, f"{name}.1")
        point_to(connection, name, f"{name}.1")
        root.read()
    return root


def make(connection: Connection, collection: str) -> Root:
    """A collection with a state, unless it is there already. Whoever is interrupted is followed by the next."""
    _create(connection, collection, {"vectors_config": {}})
    _add_indexes(connection, collection, _OF_THE_ROOT)
    root = Root(connection, collection)
    count = connection.call(lambda client: client.count(collection, exact=True)).count
    if not count:
        root.start(State(identity=str(uuid.uuid4()), collection=collection))
    root.read()
    return root


def make_chunks(connection: Connection, state: State) -> None:
    """The collection of the chunks of a library whose embedder is known, unless it is there already.

    Vectors are normalised: their inner product is the cosine, and unlike with "Cosine" they come back as they went in.
    """
    assert state.fingerprint is not None
    collection, dimension = state.chunk_collection, state.fingerprint.dimension
    dense = models.VectorParams(size=dimension, distance=models.Distance.DOT)
    parameters = {
        "vectors_config": {DENSE: dense},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams()},
        "hnsw_config": models.HnswConfigDiff(m=16, ef_construct=128),
    }
    _create(connection, collection, parameters)
    found = connection.call(lambda client: client.get_collection(collection)).config.params.vectors
    if not isinstance(found, dict) or DENSE not in found or found[DENSE].size != dimension:
        raise LibraryDamaged(
            f"The collection {collection!r} of {connection.address.shown} isn't made for vectors of {dimension} "
            "numbers. Restore the library from a snapshot, or add everything again under another name."
        )
    _add_indexes(connection, collection, _OF_CHUNKS)


def index_fields(connection: Connection, collection: str, keys: Iterable[str], known: set[str]) -> None:
    """An index for each of the keys of filters that has none yet. What is known of the collection grows."""
    missing = sorted(set(keys) - known)
    if not missing:
        return
    known.update(connection.call(lambda client: client.get_collection(collection)).payload_schema)
    missing = [key for key in missing if key not in known][: max(0, MOST_INDEXES - len(known))]
    _add_indexes(connection, collection, {key: _HASH if key.startswith("e") else _FLOAT for key in missing})
    known.update(missing)


def point_to(connection: Connection, name: str, collection: str) -> str | None:
    """Lets a library's name stand for a collection, in one step; gives what it stood for."""
    aliases = connection.call(lambda client: client.get_aliases()).aliases
    before = next((alias.collection_name for alias in aliases if alias.alias_name == name), None)
    if before == collection:
        return before
    named = models.CreateAlias(collection_name=collection, alias_name=name)
    operations: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=named)]
    if before is not None:
        operations.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name)))
    try:
        connection.call(lambda client: client.update_collection_aliases(operations))
    except LibraryError:
        # An attempt whose answer was lost, or somebody else, may have done it.
        aliases = connection.call(lambda client: client.get_aliases()).aliases
        if (name, collection) not in {(alias.alias_name, alias.collection_name) for alias in aliases}:
            raise
    return before


def remove(connection: Connection, collection: str) -> None:
    """Removes a collection and those of its chunks."""
    for name in (*_of_chunks(connection, collection), collection):
        _delete(connection, name)


def remove_chunks(connection: Connection, state: State, keep: Iterable[str]) -> None:
    """Removes the collections of a library's chunks but those with these `vectors`."""
    kept = {chunk_collection(state.collection, vectors) for vectors in keep}
    for name in _of_chunks(connection, state.collection):
        if name not in kept:
            _delete(connection, name)


def _of_chunks(connection: Connection, collection: str) -> list[str]:
    plain = chunk_collection(collection, "")
    found = connection.call(lambda client: client.get_collections()).collections
    return [one.name for one in found if one.name == plain or one.name.startswith(f"{plain}.")]


def _delete(connection: Connection, collection: str) -> None:
    with suppress(CollectionGone):
        connection.call(lambda client: client.delete_collection(collection))


def _create(connection: Connection, collection: str, parameters: Mapping[str, Any]) -> None:
    if connection.call(lambda client: client.collection_exists(collection)):
        return
    try:
        connection.call(lambda client: client.create_collection(collection, on_disk_payload=True, **parameters))
    except LibraryError:
        # An attempt whose answer was lost, or somebody else, may have done it.
        if not connection.call(lambda client: client.collection_exists(collection)):
            raise


def _add_indexes(connection: Connection, collection: str, indexes: Mapping[str, _Index]) -> None:
    there = connection.call(lambda client: client.get_collection(collection)).payload_schema
    for key, index in indexes.items():
        if key not in there:
            connection.call(
                lambda client, key=key, index=index: client.create_payload_index(  # type: ignore[misc]
                    collection, key, index, wait=True, ordering=models.WriteOrdering.STRONG
                )
            )
