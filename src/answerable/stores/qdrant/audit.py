"""Checks that the collections of a library on a Qdrant server are consistent, and repairs them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

from answerable.protocols import Difference, Issue
from answerable.stores.qdrant import points
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.qdrant.head import VERSION, Head, matches
from answerable.stores.qdrant.writing import Lease
from answerable.stores.records import sync_record_from_row

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
_BATCH = 256
# The rest of a chunk's payload is compared with what it is derived from.
_NOT_COMPARED = models.PayloadSelectorExclude(exclude=["context", "location", "parts", "sentences", "sentence_vectors"])


@dataclass(slots=True)
class _Look:
    """The visible documents and chunks of a library, and its faulty points.

    `orphans` are versions whose points belong to no document, `unreadable` the points of documents and records that
    can't be parsed, `wrong` the chunks whose search data doesn't match their contents.
    """

    documents: set[int] = field(default_factory=set)
    chunks: int = 0
    orphans: set[int] = field(default_factory=set)
    unreadable: list[Any] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


def issues(connection: Connection, head: Head) -> list[Issue]:
    """Return the faults of the library in the state that `head` describes."""
    look = _look(connection, head)
    found = []
    for point in look.unreadable:
        what = "its sync record" if point.payload["kind"] == "record" else "its metadata"
        where = str(point.payload["source"] or point.payload.get("id"))
        found.append(Issue(Difference.DAMAGED, where, f"{what} can't be read"))
    collection = f"collection {head.chunk_collection}"
    if look.orphans:
        what = f"{len(look.orphans):,} writes left points that belong to no document"
        found.append(Issue(Difference.ORPHANED, collection, what))
    noted, there = (head.documents, head.chunks), (len(look.documents), look.chunks)
    if noted != there:
        texts = [f"{documents:,} documents and {chunks:,} passages" for documents, chunks in (noted, there)]
        found.append(Issue(Difference.COUNTS, "state", f"it records {texts[0]}, there are {texts[1]}"))
    if look.wrong:
        what = f"the search data of {len(look.wrong):,} passages doesn't match their contents"
        found.append(Issue(Difference.COUNTS, collection, what))
    return found


def repair(connection: Connection, lease: Lease) -> Head:
    """Repair what `issues` finds; return the head with corrected counts."""
    head = lease.head
    look = _look(connection, head)
    if look.orphans:
        for collection in (head.chunk_collection, head.collection):
            connection.delete(collection, models.Filter(must=[matches(VERSION, *sorted(look.orphans))]))
    if lost := [point.id for point in look.unreadable if point.payload["kind"] == "record"]:
        connection.delete(head.collection, models.Filter(must=[models.HasIdCondition(has_id=lost)]))
    for point in look.unreadable:
        for found in connection.retrieve(head.collection, [point.id]):
            emptied = {**found.payload, "metadata": "{}"}
            connection.upsert(head.collection, [models.PointStruct(id=found.id, vector={}, payload=emptied)])
    wrong = connection.retrieve(head.chunk_collection, look.wrong, vectors=[points.DENSE])
    lease.send(head.chunk_collection, map(_derived, wrong))
    after = _look(connection, head)
    return replace(lease.head, documents=len(after.documents), chunks=after.chunks)


def _look(connection: Connection, head: Head) -> _Look:
    look = _Look()
    documents = head.counting(matches("kind", "document", "record"))
    for point in connection.scroll(head.collection, documents, (*points.STORED, *points.RECORD, VERSION, "kind")):
        is_document = point.payload["kind"] == "document"
        if is_document:
            look.documents.add(point.payload[VERSION])
        try:
            if is_document:
                dict(points.stored_document(point.payload).metadata)
            else:
                sync_record_from_row(point.payload)
        except _UNREADABLE:
            look.unreadable.append(point)
    pieces = connection.scroll(head.collection, head.counting(matches("kind", "piece")), (VERSION,))
    look.orphans.update(piece.payload[VERSION] for piece in pieces)
    if head.fingerprint is not None:
        for chunk in connection.scroll(head.chunk_collection, head.counting(), _NOT_COMPARED, _BATCH, [points.SPARSE]):
            look.chunks += 1
            look.orphans.add(chunk.payload[VERSION])
            if not _agrees(chunk):
                look.wrong.append(int(chunk.id))
    look.orphans -= look.documents
    return look


def _agrees(point: Any) -> bool:
    """Whether a chunk's search data matches its contents; true for an unreadable chunk, reported with its document."""
    try:
        expected = _derived(point)
    except _UNREADABLE:
        return True
    found, terms = _weights(point.vector), _weights(expected.vector)
    close = found.keys() == terms.keys() and all(
        math.isclose(found[term], weight, rel_tol=1e-5) for term, weight in terms.items()
    )
    return close and point.payload == expected.payload


def _weights(vectors: Any) -> dict[int, float]:
    sparse: models.SparseVector | None = (vectors or {}).get(points.SPARSE)
    return dict(zip(sparse.indices, sparse.values, strict=True)) if sparse else {}


def _derived(point: Any) -> models.PointStruct:
    """Return a chunk with its search data derived again from its terms and fields."""
    counts, fields = json.loads(point.payload["counts"]), json.loads(point.payload["fields"])
    kept = {name: point.payload[name] for name in points.INDEXED if name in point.payload}
    payload = {**kept, **points.searched(counts, fields)}
    vectors = points.vectors((point.vector or {}).get(points.DENSE, []), counts)
    return models.PointStruct(id=point.id, vector=vectors, payload=payload)
