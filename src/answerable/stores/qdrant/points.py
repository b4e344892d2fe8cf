"""The collections of a library on a Qdrant server, and conversion of documents, chunks and sync records to points.

A library's name is an alias of a collection that holds the head, the documents and the sync records. A second
collection holds the chunks; it is created once the dimension of their vectors is known. Values that no search uses are
JSON text.
"""

from __future__ import annotations

import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from answerable.datatypes import Document, FloatArray
from answerable.errors import LibraryDamaged, LibraryError, LibraryNotFound
from answerable.protocols import IndexedChunk, SyncRecord
from answerable.stores import records
from answerable.stores.hashed import USUAL_FIELDS, digest, equality_key, field_numbers, range_key, sparse_vector
from answerable.stores.qdrant.connection import CollectionGone, Connection, models
from answerable.stores.qdrant.head import VERSION, Head, HeadPoint, chunk_collection
from answerable.text.terms import term_weights

DOCUMENT = (VERSION, "id", "source", "title", "type", "language", "metadata", "characters", "pieces", "text")
CHUNK = (VERSION, *records.CHUNK)
INDEXED = (*CHUNK, "counts", "fields", "sentences", "sentence_vectors")
# The payload key, with the value 1, of chunks whose vectors aren't made yet.
WAITS = "waits"
DENSE, SPARSE = "dense", "terms"

# Characters; a server accepts requests of up to 32 MB, and a character may become 12 bytes of JSON.
PIECE = 1_000_000


def key(kind: str, text: str) -> str:
    """Return the hash by which points with this string (an id, a source, …) are looked up: 32 hexadecimal digits."""
    return blake2b(f"{kind}\0{text}".encode("utf-8", "replace"), digest_size=16).hexdigest()


def record_key(origin: str, source: str) -> str:
    """Return the hash by which a sync record is looked up."""
    return key("record", json.dumps([origin, source]))


def point_id(version: int, piece: int = 0) -> str:
    """Return the id of a point: a record, a document (piece 0), or a further piece of a document's text."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{version}/{piece}"))


def document_points(document: Document, chunks: int, version: int) -> list[models.PointStruct]:
    """Return the points of a document, without its chunks: one, and another for each further piece of its text."""
    text = document.content + records.parts_to_json(document.parts)
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    first = {
        "kind": "document",
        "keys": [key("id", document.id), key("source", document.source), key("type", str(document.type))],
        **dict(zip(records.STORED, records.document_values(document, chunks), strict=True)),
        "pieces": len(pieces),
    }
    return [
        _point(version, number, {**({"kind": "piece"} if number else first), "text": piece})
        for number, piece in enumerate(pieces)
    ]


def record_point(record: SyncRecord, version: int) -> models.PointStruct:
    """Return the point of a sync record."""
    payload = dict(zip(records.RECORD, records.sync_record_to_row(record), strict=True))
    keys = [record_key(record.origin, record.source), key("origin", record.origin)]
    return _point(version, 0, {"kind": "record", "keys": keys, **payload})


def chunk_point(indexed: IndexedChunk, number: int, version: int) -> models.PointStruct:
    """Return the point of a chunk, with its vectors and the fields for filters."""
    names = *records.CHUNK, "counts", "sentences"
    payload = {
        VERSION: version,
        **dict(zip(names, records.chunk_values(indexed), strict=True)),
        "fields": records.to_json(dict(indexed.fields)),
        "sentence_vectors": packed(indexed.sentence_vectors),
        **searched(indexed.terms, indexed.fields),
        **({WAITS: 1} if indexed.waits else {}),
    }
    return models.PointStruct(id=number, vector=vectors(indexed.vector.tolist(), indexed.terms), payload=payload)


def vectors(dense: Any, terms: Mapping[str, int]) -> dict[str, Any]:
    """Return a chunk's vectors by name: the dense one for similarity, the sparse one for keyword search."""
    weights = sparse_vector(term_weights(terms))
    sparse = models.SparseVector(indices=list(weights), values=list(weights.values()))
    return {DENSE: dense, SPARSE: sparse} if weights else {DENSE: dense}


def packed(rows: FloatArray) -> str:
    """Return the vectors of sentences, quantised, as base64 text."""
    return b64encode(records.quantize(rows)).decode("ascii")


def searched(terms: Mapping[str, int], fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the part of a chunk's payload that is only searched, never read: hashes of its terms and fields."""
    return {"terms": [digest(term) for term in terms], **field_numbers(fields)}


def document(payload: Mapping[str, Any], text: str, with_parts: bool = False) -> Document:
    """Read a document from a payload with the keys `DOCUMENT`, given its text followed by its parts as JSON."""
    characters = payload["characters"]
    return records.document_from_row(payload, text[:characters], text[characters:] if with_parts else "[]")


def indexed_chunk(payload: Mapping[str, Any], vectors: Any, owner: Document) -> IndexedChunk:
    """Read a chunk from a payload with the keys `INDEXED`, given its vectors by name and its document."""
    row = {**payload, "terms": payload["counts"], "sentence_vectors": b64decode(payload["sentence_vectors"])}
    vector = np.asarray(vectors[DENSE], np.float32)
    return records.indexed_chunk_from_row(row, owner, vector, json.loads(payload["fields"]))


def _point(version: int, piece: int, payload: Mapping[str, Any]) -> models.PointStruct:
    return models.PointStruct(id=point_id(version, piece), vector={}, payload={VERSION: version, **payload})


# Most fields with an index: each index takes memory, and metadata may have any number of fields. A round number, not
# measured.
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
    **dict.fromkeys(("terms", WAITS), _HASH),
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
        # A fixed name: two processes that create the library at once create the same collection.
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
    """Create the chunks' collection of a library that has an embedder; after an interruption, create the rest.

    The distance is the dot product, which equals the cosine, since vectors are normalised. With "Cosine" Qdrant would
    normalise vectors again, and return changed ones.
    """
    assert head.fingerprint is not None
    collection, dimension = head.chunk_collection, head.fingerprint.dimension
    address = connection.address
    dense = models.VectorParams(size=dimension, distance=models.Distance.DOT, on_disk=address.on_disk or None)
    parameters: dict[str, Any] = {
        "vectors_config": {DENSE: dense},
        "sparse_vectors_config": {SPARSE: models.SparseVectorParams()},
        "hnsw_config": models.HnswConfigDiff(m=16, ef_construct=128),
    }
    if address.quantized:
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
        parameters["quantization_config"] = models.ScalarQuantization(scalar=scalar)
    _create(connection, collection, parameters)
    found = connection.call(connection.client.get_collection, collection).config.params.vectors
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


def _set_alias(connection: Connection, name: str, collection: str) -> None:
    """Make a library's name an alias of a collection."""
    named = models.CreateAlias(collection_name=collection, alias_name=name)
    try:
        connection.call(connection.client.update_collection_aliases, [models.CreateAliasOperation(create_alias=named)])
    except LibraryError:
        # An attempt whose answer was lost, or another process, may have done it.
        aliases = connection.call(connection.client.get_aliases).aliases
        if (name, collection) not in {(alias.alias_name, alias.collection_name) for alias in aliases}:
            raise


def remove_unused_chunks(connection: Connection, head: Head) -> None:
    """Delete a library's collections of chunks that are neither current nor collecting new vectors."""
    used = (head, head.switched()) if head.next_fingerprint else (head,)
    keep = [one.chunk_collection for one in used]
    plain = chunk_collection(head.collection, "")
    for name in (found.name for found in connection.call(connection.client.get_collections).collections):
        if (name == plain or name.startswith(f"{plain}.")) and name not in keep:
            with suppress(CollectionGone):
                connection.call(connection.client.delete_collection, name)


def _create(connection: Connection, collection: str, parameters: Mapping[str, Any]) -> None:
    if connection.call(connection.client.collection_exists, collection):
        return
    address = connection.address
    parameters = {
        "on_disk_payload": True,
        "shard_number": address.shards,
        "replication_factor": address.replicas,
        "write_consistency_factor": address.write_consistency,
        **parameters,
    }
    try:
        connection.call(connection.client.create_collection, collection, **parameters)
    except LibraryError:
        # An attempt whose answer was lost, or another process, may have done it.
        if not connection.call(connection.client.collection_exists, collection):
            raise


def indexed_keys(connection: Connection, collection: str) -> Collection[str]:
    """Return the keys that have an index."""
    return connection.call(connection.client.get_collection, collection).payload_schema


def _add_indexes(connection: Connection, collection: str, indexes: Mapping[str, Any]) -> Iterable[str]:
    """Create missing indexes, up to `MOST_INDEXES` in all; return the keys that already had one."""
    there, strong = indexed_keys(connection, collection), models.WriteOrdering.STRONG
    missing = [key for key in indexes if key not in there]
    create = connection.client.create_payload_index
    for key in missing[: max(0, MOST_INDEXES - len(there))]:
        connection.call(create, collection, key, indexes[key], wait=True, ordering=strong)
    return there
