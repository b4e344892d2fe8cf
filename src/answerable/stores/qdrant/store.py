"""A library on a Qdrant server: documents, sync records, passages, vectors and terms in two collections.

A document and its chunks become visible together, by a change of a single point; `head` describes the protocol. A
process caches only data that never changes, so any number of processes may read and write; writers take turns.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from answerable.datatypes import Document
from answerable.errors import LibraryError
from answerable.protocols import Difference, Fingerprint, IndexedChunk, Issue, NextVectors, PassageVectors, SyncRecord
from answerable.stores import records
from answerable.stores.addresses import parse_qdrant
from answerable.stores.audit import unreadable
from answerable.stores.hashed import field_numbers
from answerable.stores.qdrant import points
from answerable.stores.qdrant.connection import BATCH, CollectionGone, Connection, models
from answerable.stores.qdrant.head import VERSION, Head, HeadPoint, matches
from answerable.stores.qdrant.reader import QdrantReader, check_dimension
from answerable.stores.qdrant.writing import LEASE, Lease, Writer, batches
from answerable.stores.records import Binding, other_reindex, reindex_ended


class QdrantStore(QdrantReader):
    """A library at an address (see `stores.addresses`). `create` creates a missing one; `key` is the server's API key.

    Another process may take over a lease that a write hasn't renewed for `lease` seconds. Safe to share between
    threads. Raises LibraryNotFound, LibraryFormatError, LibraryError and SettingsError.
    """

    is_writable = False

    def __init__(self, address: str, create: bool = True, key: str = "", lease: float = LEASE) -> None:
        connection = Connection(parse_qdrant(address), key)
        try:
            made = points.prepare(connection, create)
            super().__init__(made)
            self._writer = Writer(made, lease)
            self._indexed: dict[str, set[str]] = {}
            self.is_writable = made.is_writable()
            self.refresh()
        except BaseException:
            connection.close()
            raise

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        if self._point.read().fingerprint is None:
            self._writer.write(
                lambda lease: None if lease.head.fingerprint else replace(lease.head, fingerprint=fingerprint)
            )
        if self.is_writable:
            self._ready_for_chunks(self._point.known())

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        kept = [record] if record else []

        def put(lease: Lease) -> Head:
            self._send_chunks(lease, chunks)
            lease.send(lease.head.collection, points.document_points(document, len(chunks), lease.first))
            head = self._without_documents(lease.head, {document.id, *replaces})
            head = replace(head, documents=head.documents + 1, chunks=head.chunks + len(chunks))
            return self._with_records(head, lease, kept, lease.first + 1)

        self._writer.write(put, 1 + len(kept), len(chunks))

    def waiting(self) -> list[int]:
        def found(head: Head) -> list[int]:
            where = head.counting(matches(points.WAITS, 1))
            return sorted(_numbers(self._connection, head.chunk_collection, where)) if head.chunks else []

        return self._point.consistent(found)

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        def filled(lease: Lease) -> Head:
            collection = lease.head.chunk_collection
            self._binding_of(lease.head).check(lease.head.fingerprint)
            found = self._connection.retrieve(collection, list(vectors), vectors=[points.SPARSE])
            lease.send(collection, (_with_vectors(each, vectors[int(each.id)]) for each in found))
            return lease.head

        self._writer.write(filled)

    def remove(self, *document_ids: str) -> bool:
        """Remove these documents in one step; return False if none of them exists.

        Their bytes stay in the server's files until it optimises the segment.
        """
        return self._writer.write(lambda lease: _changed(lease, self._without_documents(lease.head, document_ids)))

    def remember(self, records: Sequence[SyncRecord]) -> None:
        latest = list({(record.origin, record.source): record for record in records}.values())
        if latest:
            self._writer.write(lambda lease: self._with_records(lease.head, lease, latest, lease.first), len(latest))

    def forget(self, origin: str, sources: Collection[str]) -> None:
        keys = [points.record_key(origin, source) for source in sources]
        self._writer.write(lambda lease: _changed(lease, self._without_records(lease.head, keys)))

    def next_vectors(self) -> QdrantNextVectors:
        return QdrantNextVectors(self._point, self._writer, self._binding_of(self._point.read()))

    def refresh(self) -> None:
        """Erase points left by interrupted writers; the server itself keeps the indexes up to date."""
        if self.is_writable:
            self._writer.tidy()

    def audit(self) -> list[Issue]:
        """Return the faults of the collections (see `stores.audit`), all from one consistent state."""
        return self._point.consistent(lambda head: _issues(self._connection, head))

    def repair(self, rebuild: bool = True) -> None:
        """Remove unreadable and orphaned points, and derive the search data again."""
        self._writer.write(lambda lease: _repair(self._connection, lease, rebuild))

    def close(self) -> None:
        self._connection.close()

    def _without_documents(self, head: Head, ids: Collection[str]) -> Head:
        """Return the head with the versions of these documents hidden; unknown ids are ignored."""
        keys = [points.key("id", document_id) for document_id in ids]
        found = self._found(head, "document", keys, (VERSION, "chunks")) if keys else []
        dropped = head.without(payload[VERSION] for payload in found)
        chunks = sum(payload["chunks"] for payload in found)
        return replace(dropped, documents=head.documents - len(found), chunks=head.chunks - chunks)

    def _without_records(self, head: Head, keys: Sequence[str]) -> Head:
        found = self._found(head, "record", keys, (VERSION,)) if keys else []
        return head.without(payload[VERSION] for payload in found)

    def _with_records(self, head: Head, lease: Lease, records: Sequence[SyncRecord], first: int) -> Head:
        """Upload records; return the head, in which the records that they replace are hidden."""
        lease.send(head.collection, (points.record_point(one, version) for version, one in enumerate(records, first)))
        return self._without_records(head, [points.record_key(record.origin, record.source) for record in records])

    def _ready_for_chunks(self, head: Head) -> set[str]:
        """Create the chunks' collection if it is missing; return the keys known to be indexed in it."""
        if head.chunk_collection not in self._indexed:
            points.make_chunks(self._connection, head)
            self._indexed[head.chunk_collection] = set()
        return self._indexed[head.chunk_collection]

    def _send_chunks(self, lease: Lease, chunks: Sequence[IndexedChunk]) -> None:
        head = lease.head
        if not chunks:
            return
        if head.fingerprint is None:
            raise LibraryError("The library isn't bound to an embedder yet. Bind one before adding documents.")
        self._binding_of(head).check(head.fingerprint)
        for chunk in chunks:
            check_dimension(head, chunk.vector)
        keys = {key for chunk in chunks for key in field_numbers(chunk.fields)}
        points.index_fields(self._connection, head.chunk_collection, keys, self._ready_for_chunks(head))
        lease.renew()
        numbered = enumerate(chunks, lease.after_number + 1)
        lease.send(head.chunk_collection, (points.chunk_point(one, number, lease.first) for number, one in numbered))


def _changed(lease: Lease, head: Head) -> Head | None:
    return head if head.hidden != lease.head.hidden else None


def _issues(connection: Connection, head: Head) -> list[Issue]:
    """Return the faults of the library in the state that `head` describes."""
    said = {"record": "its sync record can't be read", "document": "its metadata can't be read"}
    rows = (point.payload for point in _unreadable(connection, head))
    return [Issue(Difference.DAMAGED, str(row["source"] or row.get("id")), said[row["kind"]]) for row in rows]


def _repair(connection: Connection, lease: Lease, rebuild: bool) -> Head:
    """Remove unreadable and orphaned points; with `rebuild`, derive search data again. Return the head, recounted."""
    head = lease.head
    for point in _unreadable(connection, head):
        if point.payload["kind"] == "record":
            connection.delete(head.collection, models.Filter(must=[models.HasIdCondition(has_id=[point.id])]))
        for found in connection.retrieve(head.collection, [point.id]):
            emptied = {**found.payload, "metadata": "{}"}
            connection.upsert(head.collection, [models.PointStruct(id=found.id, vector={}, payload=emptied)])
    documents = head.counting(matches("kind", "document"))
    versions = [point.payload[VERSION] for point in connection.scroll(head.collection, documents, (VERSION,))]
    of_none = models.Filter(must_not=[matches(VERSION, *versions)] if versions else None)
    connection.delete(head.collection, models.Filter(must=[matches("kind", "piece"), of_none]))
    if head.fingerprint is None:
        return replace(head, documents=len(versions), chunks=0)
    connection.delete(head.chunk_collection, of_none)
    if rebuild:
        chunks = connection.scroll(head.chunk_collection, None, True, BATCH, [points.DENSE])
        lease.send(head.chunk_collection, _derived(chunks))
    return replace(lease.head, documents=len(versions), chunks=connection.count(head.chunk_collection))


def _unreadable(connection: Connection, head: Head) -> list[Any]:
    """Return the points of documents and sync records that can't be read."""
    where = head.counting(matches("kind", "document", "record"))
    return unreadable(connection.scroll(head.collection, where, (*records.STORED, *records.RECORD, "kind")), _read)


def _read(point: Any) -> None:
    if point.payload["kind"] == "record":
        records.sync_record_from_row(point.payload)
    else:
        records.stored_document(point.payload)


def _derived(chunks: Iterator[Any]) -> Iterator[models.PointStruct]:
    """Yield chunks with their search data derived again from their terms and fields; skip unreadable ones."""
    for point in chunks:
        with suppress(*records.UNREADABLE):
            counts, fields = json.loads(point.payload["counts"]), json.loads(point.payload["fields"])
            names = (*points.INDEXED, points.WAITS)
            kept = {name: point.payload[name] for name in names if name in point.payload}
            payload = {**kept, **points.searched(counts, fields)}
            vectors = points.vectors((point.vector or {}).get(points.DENSE, []), counts)
            yield models.PointStruct(id=point.id, vector=vectors, payload=payload)


# Chunk numbers in one response, about 100 kB. A round number.
_PAGE = 10_000


class QdrantNextVectors(NextVectors):
    """Vectors of another embedder, collected in a second collection of chunks that replaces the first in one step.

    A chunk has the same number and version in both collections. The switch takes the lease, so that no chunk is added
    or removed meanwhile, checks that the new collection has every chunk, deletes the chunks that the library no longer
    has, and publishes a head that names the new collection. Collections left by a killed process are deleted by the
    next call of `begin` or `drop`.
    """

    def __init__(self, point: HeadPoint, writer: Writer, binding: Binding) -> None:
        self._point = point
        self._connection = point.connection
        self._writer = writer
        self._binding = binding
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._point.read().next_fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        def begun(lease: Lease) -> Head | None:
            new = replace(lease.head, next_fingerprint=fingerprint, next_vectors=secrets.token_hex(4))
            return None if lease.head.next_fingerprint else new

        if self.fingerprint is None:
            self._writer.write(begun)
        head = self._point.read()
        if head.next_fingerprint not in (None, fingerprint):
            raise other_reindex(head.next_fingerprint, fingerprint)
        self._begun = fingerprint
        points.remove_unused_chunks(self._connection, self._checked(head))
        points.make_chunks(self._connection, head.switched())

    def missing(self) -> list[int]:
        head = self._point.read()
        return sorted(self._counting(head) - (self._collected(head) if head.next_fingerprint else set()))

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        head = self._checked(self._point.read())
        found = self._connection.retrieve(head.chunk_collection, list(vectors), vectors=[points.SPARSE])
        for batch in batches(_with_vectors(record, vectors[int(record.id)]) for record in found):
            self._connection.upsert(head.switched().chunk_collection, batch)

    def switch(self) -> bool:
        def switched(lease: Lease) -> Head | None:
            head = self._checked(lease.head)
            counting, collected = self._counting(head), self._collected(head)
            if counting - collected:
                return None
            if surplus := collected - counting:
                where = models.Filter(must=[models.HasIdCondition(has_id=sorted(surplus))])
                self._connection.delete(head.switched().chunk_collection, where)
            if head.chunks:
                keys = points.indexed_keys(self._connection, head.chunk_collection)
                points.index_fields(self._connection, head.switched().chunk_collection, keys, set())
            lease.renew()
            return lease.head.switched()

        done = self._writer.write(switched)
        if done and self._begun:
            self._binding.move(self._begun)
            points.remove_unused_chunks(self._connection, self._point.read())
        return done

    def drop(self) -> None:
        if self.fingerprint:
            self._writer.write(lambda lease: replace(lease.head, next_fingerprint=None, next_vectors=""))
        points.remove_unused_chunks(self._connection, self._point.read())

    def _checked(self, head: Head) -> Head:
        if head.next_fingerprint is None or head.next_fingerprint != self._begun:
            raise reindex_ended()
        return head

    def _counting(self, head: Head) -> set[int]:
        return _numbers(self._connection, head.chunk_collection, head.counting()) if head.chunks else set()

    def _collected(self, head: Head) -> set[int]:
        try:
            return _numbers(self._connection, head.switched().chunk_collection, None)
        except CollectionGone:
            # The process that called `begin` was killed before it created the collection.
            return set()


def _numbers(connection: Connection, collection: str, where: models.Filter | None) -> set[int]:
    return {int(found.id) for found in connection.scroll(collection, where, (VERSION,), _PAGE)}


def _with_vectors(record: models.Record, made: PassageVectors) -> models.PointStruct:
    sparse = record.vector.get(points.SPARSE) if isinstance(record.vector, dict) else None
    payload = {name: value for name, value in (record.payload or {}).items() if name != points.WAITS}
    return models.PointStruct(
        id=record.id,
        vector={points.DENSE: made.whole.tolist(), **({points.SPARSE: sparse} if sparse else {})},
        payload={**payload, "sentence_vectors": points.packed(made.spans)},
    )
