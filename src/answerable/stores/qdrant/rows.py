"""Documents, chunks and sync records ↔ points of a Qdrant server. JSON texts for what is only read, never searched."""

from __future__ import annotations

import json
import uuid
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from answerable.datatypes import Chunk, Document, DocumentType
from answerable.protocols import IndexedChunk, StoredDocument, SyncRecord
from answerable.stores import records
from answerable.stores.qdrant.connection import models
from answerable.stores.qdrant.values import digest, field_numbers, sparse_vector
from answerable.text.bm25 import term_weights

STORED = ("id", "source", "title", "type", "language", "content_hash", "chunks", "characters", "metadata")
DOCUMENT = ("generation", "id", "source", "title", "type", "language", "metadata", "characters", "pieces", "text")
RECORD = ("origin", "source", "seen", "hash", "validators", "documents")
CHUNK = ("generation", "id", "sequence", "start", "end", "context", "location", "parts")
INDEXED = (*CHUNK, "counts", "fields", "sentences", "sentence_vectors")
DENSE, SPARSE = "dense", "terms"

# A server takes requests of up to 32 MB, and a character may become 12 bytes of JSON.
PIECE = 1_000_000


def key(kind: str, text: str) -> str:
    """What points are looked up by: a text of a kind (id, source, …), however long, as 32 hexadecimal digits."""
    return blake2b(f"{kind}\0{text}".encode("utf-8", "replace"), digest_size=16).hexdigest()


def record_key(origin: str, source: str) -> str:
    """What a sync record is looked up by."""
    return key("record", json.dumps([origin, source]))


def document_point_id(generation: int, piece: int = 0) -> str:
    """The id of the point of a document, or of a further piece of its text."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{generation}/{piece}"))


def document_points(document: Document, chunks: int, generation: int) -> list[models.PointStruct]:
    """A document without its chunks: a point, and one more for each further piece of a long text."""
    text = document.content + records.parts_to_json(document.parts)
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    payload = {
        "kind": "document",
        "keys": [key("id", document.id), key("source", document.source), key("type", str(document.type))],
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "type": str(document.type),
        "language": document.language,
        "content_hash": document.content_hash,
        "chunks": chunks,
        "characters": len(document.content),
        "metadata": records.to_json(dict(document.metadata)),
        "pieces": len(pieces),
    }
    made = [_point(document_point_id(generation), generation, {**payload, "text": pieces[0]})]
    for number, piece in enumerate(pieces[1:], 1):
        made.append(_point(document_point_id(generation, number), generation, {"kind": "piece", "text": piece}))
    return made


def record_point(record: SyncRecord, generation: int) -> models.PointStruct:
    """A sync record."""
    payload: dict[str, Any] = dict(zip(RECORD, records.sync_record_to_row(record), strict=True))
    keys = [record_key(record.origin, record.source), key("origin", record.origin)]
    return _point(document_point_id(generation), generation, {"kind": "record", "keys": keys, **payload})


def chunk_point(indexed: IndexedChunk, number: int, generation: int) -> models.PointStruct:
    """A chunk, with what searches look at."""
    chunk = indexed.chunk
    vectors: dict[str, Any] = {DENSE: indexed.vector.tolist()}
    if indexed.terms:
        vectors[SPARSE] = sparse(indexed.terms)
    payload = {
        "id": chunk.id,
        "sequence": chunk.sequence,
        "start": chunk.start,
        "end": chunk.end,
        "context": chunk.context,
        "location": records.location_to_json(chunk.location),
        "parts": records.parts_to_json(chunk.parts),
        "counts": records.to_json(dict(indexed.terms)),
        "fields": records.to_json(dict(indexed.fields)),
        "sentences": records.spans_to_json(indexed.sentences),
        "sentence_vectors": b64encode(records.quantize(indexed.sentence_vectors)).decode("ascii"),
        **searched(indexed.terms, indexed.fields),
    }
    return models.PointStruct(id=number, vector=vectors, payload={"generation": generation, **payload})


def sparse(terms: Mapping[str, int]) -> models.SparseVector:
    """What keyword search looks at of a chunk."""
    weights = sparse_vector(term_weights(terms))
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


def searched(terms: Mapping[str, int], fields: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The part of a chunk's payload that is only searched: its terms, and what filters look at."""
    return {"terms": [digest(term) for term in terms], **field_numbers(fields)}


def stored_document(payload: Mapping[str, Any]) -> StoredDocument:
    """A document's payload with the keys `STORED`."""
    named = {name: payload[name] for name in STORED}
    return StoredDocument(**{**named, "metadata": json.loads(payload["metadata"])})


def document(payload: Mapping[str, Any], text: str, with_parts: bool = False) -> Document:
    """A document's payload with the keys `DOCUMENT`, and its whole text."""
    characters = payload["characters"]
    return Document(
        id=payload["id"],
        content=text[:characters],
        source=payload["source"],
        title=payload["title"],
        type=DocumentType(payload["type"]),
        language=payload["language"],
        metadata=json.loads(payload["metadata"]),
        parts=records.parts_from_json(text[characters:]) if with_parts else (),
    )


def chunk(payload: Mapping[str, Any], owner: Document) -> Chunk:
    """A chunk's payload with the keys `CHUNK`, and the document that it is cut from."""
    return Chunk(
        id=payload["id"],
        document_id=owner.id,
        content=owner.content[payload["start"] : payload["end"]],
        start=payload["start"],
        end=payload["end"],
        sequence=payload["sequence"],
        location=records.location_from_json(payload["location"]),
        context=payload["context"],
        parts=records.parts_from_json(payload["parts"]),
    )


def indexed_chunk(payload: Mapping[str, Any], vectors: Any, owner: Document) -> IndexedChunk:
    """A chunk's payload with the keys `INDEXED`, its vectors by name, and the document that it is cut from."""
    vector = np.asarray(vectors[DENSE], np.float32)
    return IndexedChunk(
        chunk=chunk(payload, owner),
        vector=vector,
        terms=json.loads(payload["counts"]),
        fields=json.loads(payload["fields"]),
        sentences=records.spans_from_json(payload["sentences"]),
        sentence_vectors=records.dequantize(b64decode(payload["sentence_vectors"]), len(vector)),
    )


def _point(point_id: str, generation: int, payload: dict[str, Any]) -> models.PointStruct:
    return models.PointStruct(id=point_id, vector={}, payload={"generation": generation, **payload})
