"""Documents, chunks and sync records ↔ points of a Qdrant server. Values that searches don't use are JSON text."""

from __future__ import annotations

import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from answerable.datatypes import Chunk, Document, DocumentType, FloatArray
from answerable.protocols import IndexedChunk, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.hashed import digest, field_numbers, sparse_vector
from answerable.stores.qdrant.connection import models
from answerable.stores.qdrant.head import VERSION
from answerable.text.bm25 import term_weights

STORED = ("id", "source", "title", "type", "language", "content_hash", "chunks", "characters", "metadata")
DOCUMENT = (VERSION, "id", "source", "title", "type", "language", "metadata", "characters", "pieces", "text")
RECORD = ("origin", "source", "seen", "hash", "validators", "documents")
_PLAIN = ("id", "sequence", "start", "end", "context")
CHUNK = (VERSION, *_PLAIN, "location", "parts")
INDEXED = (*CHUNK, "counts", "fields", "sentences", "sentence_vectors")
DENSE, SPARSE = "dense", "terms"

# A server accepts requests of up to 32 MB, and a character may become 12 bytes of JSON.
PIECE = 1_000_000


def key(kind: str, text: str) -> str:
    """Return the hash by which points with this text (an id, a source, …) are looked up: 32 hexadecimal digits."""
    return blake2b(f"{kind}\0{text}".encode("utf-8", "replace"), digest_size=16).hexdigest()


def record_key(origin: str, source: str) -> str:
    """Return the hash by which a sync record is looked up."""
    return key("record", json.dumps([origin, source]))


def point_id(version: int, piece: int = 0) -> str:
    """Return the id of a point: a record, a document (piece 0), or a further piece of a document's text."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{version}/{piece}"))


def document_points(document: Document, chunks: int, version: int) -> list[models.PointStruct]:
    """Return the points of a document, without its chunks: one, and another for each further piece of a long text."""
    text = document.content + records.parts_to_json(document.parts)
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    first = {
        "kind": "document",
        "keys": [key("id", document.id), key("source", document.source), key("type", str(document.type))],
        **{name: getattr(document, name) for name in ("id", "source", "title", "language", "content_hash")},
        "type": str(document.type),
        "chunks": chunks,
        "characters": len(document.content),
        "metadata": records.to_json(dict(document.metadata)),
        "pieces": len(pieces),
    }
    return [
        _point(version, number, {**({"kind": "piece"} if number else first), "text": piece})
        for number, piece in enumerate(pieces)
    ]


def record_point(record: SyncRecord, version: int) -> models.PointStruct:
    """Return the point of a sync record."""
    payload = dict(zip(RECORD, records.sync_record_to_row(record), strict=True))
    keys = [record_key(record.origin, record.source), key("origin", record.origin)]
    return _point(version, 0, {"kind": "record", "keys": keys, **payload})


def chunk_point(indexed: IndexedChunk, number: int, version: int) -> models.PointStruct:
    """Return the point of a chunk, with its vectors and the fields for filters."""
    chunk = indexed.chunk
    payload = {
        VERSION: version,
        **{name: getattr(chunk, name) for name in _PLAIN},
        "location": records.location_to_json(chunk.location),
        "parts": records.parts_to_json(chunk.parts),
        "counts": records.to_json(dict(indexed.terms)),
        "fields": records.to_json(dict(indexed.fields)),
        "sentences": records.spans_to_json(indexed.sentences),
        "sentence_vectors": packed(indexed.sentence_vectors),
        **searched(indexed.terms, indexed.fields),
    }
    return models.PointStruct(id=number, vector=vectors(indexed.vector.tolist(), indexed.terms), payload=payload)


def vectors(dense: Any, terms: Mapping[str, int]) -> dict[str, Any]:
    """Return a chunk's vectors by name: the dense one for similarity, the sparse one for keyword search."""
    weights = sparse_vector(term_weights(terms))
    sparse = models.SparseVector(indices=list(weights), values=list(weights.values()))
    return {DENSE: dense, SPARSE: sparse} if weights else {DENSE: dense}


def packed(rows: FloatArray) -> str:
    """Return the vectors of sentences as text: quantised, in base64."""
    return b64encode(records.quantize(rows)).decode("ascii")


def searched(terms: Mapping[str, int], fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the part of a chunk's payload that is only searched, never read: hashes of its terms and fields."""
    return {"terms": [digest(term) for term in terms], **field_numbers(fields)}


def stored_document(payload: Mapping[str, Any]) -> StoredDocument:
    """Read a document's description from a payload with the keys `STORED`."""
    return StoredDocument(**{**{name: payload[name] for name in STORED}, "metadata": json.loads(payload["metadata"])})


def document(payload: Mapping[str, Any], text: str, with_parts: bool = False) -> Document:
    """Read a document from a payload with the keys `DOCUMENT`, given its text followed by its parts as JSON."""
    characters = payload["characters"]
    return Document(
        **{name: payload[name] for name in ("id", "source", "title", "language")},
        content=text[:characters],
        type=DocumentType(payload["type"]),
        metadata=json.loads(payload["metadata"]),
        parts=records.parts_from_json(text[characters:]) if with_parts else (),
    )


def chunk(payload: Mapping[str, Any], owner: Document) -> Chunk:
    """Read a chunk from a payload with the keys `CHUNK`, given its document."""
    return Chunk(
        **{name: payload[name] for name in _PLAIN},
        document_id=owner.id,
        content=owner.content[payload["start"] : payload["end"]],
        location=records.location_from_json(payload["location"]),
        parts=records.parts_from_json(payload["parts"]),
    )


def indexed_chunk(payload: Mapping[str, Any], vectors: Any, owner: Document) -> IndexedChunk:
    """Read a chunk from a payload with the keys `INDEXED`, given its vectors by name and its document."""
    vector = np.asarray(vectors[DENSE], np.float32)
    return IndexedChunk(
        chunk=chunk(payload, owner),
        vector=vector,
        terms=json.loads(payload["counts"]),
        fields=json.loads(payload["fields"]),
        sentences=records.spans_from_json(payload["sentences"]),
        sentence_vectors=records.dequantize(b64decode(payload["sentence_vectors"]), len(vector)),
    )


def _point(version: int, piece: int, payload: Mapping[str, Any]) -> models.PointStruct:
    return models.PointStruct(id=point_id(version, piece), vector={}, payload={VERSION: version, **payload})
