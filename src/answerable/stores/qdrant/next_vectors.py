"""Vectors of another embedder, collected in a second collection of chunks that replaces the first in one step.

A chunk has the same number and version in both collections. The switch takes the lease, so that no chunk is added or
removed meanwhile, checks that the new collection has every chunk, deletes the chunks that the library no longer has,
and publishes a head that names the new collection. Collections left by a killed process are deleted by the next call of
`begin` or `drop`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace

from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores.binding import Binding, not_gathering, other_gathering
from answerable.stores.qdrant import schema
from answerable.stores.qdrant.connection import CollectionGone, models
from answerable.stores.qdrant.head import VERSION, Head, HeadPoint
from answerable.stores.qdrant.points import DENSE, SPARSE, packed
from answerable.stores.qdrant.writing import Lease, Writer, batches

_PAGE = 10_000


class QdrantNextVectors:
    """Collected vectors of a library. Follows `protocols.NextVectors`."""

    def __init__(self, point: HeadPoint, writer: Writer, binding: Binding) -> None:
        self._point = point
        self._connection = point.connection
        self._writer = writer
        self._binding = binding
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being collected, None if there are none."""
        return self._point.read().next_fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begin or resume collecting. Raise EmbedderMismatch if vectors of another embedder are being collected."""

        def begun(lease: Lease) -> Head | None:
            new = replace(lease.head, next_fingerprint=fingerprint, next_vectors=secrets.token_hex(4))
            return None if lease.head.next_fingerprint else new

        if self.fingerprint is None:
            self._writer.write(begun)
        head = self._point.read()
        if head.next_fingerprint not in (None, fingerprint):
            raise other_gathering(head.next_fingerprint, fingerprint)
        self._begun = fingerprint
        schema.remove_unused_chunks(self._connection, self._checked(head))
        schema.make_chunks(self._connection, head.switched())

    def missing(self) -> list[int]:
        """Return the numbers of the chunks without a collected vector, in order."""
        head = self._point.read()
        return sorted(self._counting(head) - (self._gathered(head) if head.next_fingerprint else set()))

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Write vectors, given by chunk number, to the new collection, with the rest of each chunk's point."""
        head = self._checked(self._point.read())
        found = self._connection.retrieve(head.chunk_collection, list(vectors), vectors=[SPARSE])
        for batch in batches(_point(record, vectors[int(record.id)]) for record in found):
            self._connection.upsert(head.switched().chunk_collection, batch)

    def switch(self) -> bool:
        """Replace the library's vectors in one step; return False if some are missing."""

        def switched(lease: Lease) -> Head | None:
            head = self._checked(lease.head)
            counting, gathered = self._counting(head), self._gathered(head)
            if counting - gathered:
                return None
            if surplus := gathered - counting:
                where = models.Filter(must=[models.HasIdCondition(has_id=sorted(surplus))])
                self._connection.delete(head.switched().chunk_collection, where)
            if head.chunks:
                schema.copy_indexes(self._connection, head.chunk_collection, head.switched().chunk_collection)
            lease.renew()
            return lease.head.switched()

        done = self._writer.write(switched)
        if done and self._begun:
            self._binding.move(self._begun)
            schema.remove_unused_chunks(self._connection, self._point.read())
        return done

    def drop(self) -> None:
        """Delete all collected vectors, and a collection left by an interrupted switch."""
        if self.fingerprint:
            self._writer.write(lambda lease: replace(lease.head, next_fingerprint=None, next_vectors=""))
        schema.remove_unused_chunks(self._connection, self._point.read())

    def _checked(self, head: Head) -> Head:
        if head.next_fingerprint is None or head.next_fingerprint != self._begun:
            raise not_gathering()
        return head

    def _counting(self, head: Head) -> set[int]:
        return self._numbers(head.chunk_collection, head.counting()) if head.chunks else set()

    def _gathered(self, head: Head) -> set[int]:
        try:
            return self._numbers(head.switched().chunk_collection, None)
        except CollectionGone:
            # The process that called `begin` was killed before it created the collection.
            return set()

    def _numbers(self, collection: str, where: models.Filter | None) -> set[int]:
        return {int(found.id) for found in self._connection.scroll(collection, where, (VERSION,), _PAGE)}


def _point(record: models.Record, made: PassageVectors) -> models.PointStruct:
    sparse = record.vector.get(SPARSE) if isinstance(record.vector, dict) else None
    return models.PointStruct(
        id=record.id,
        vector={DENSE: made.whole.tolist(), **({SPARSE: sparse} if sparse else {})},
        payload={**(record.payload or {}), "sentence_vectors": packed(made.spans)},
    )
