"""Vectors of another embedder, gathered in a collection of chunks beside that of a library on a Qdrant server.

Points have the same numbers and generations in both: when every chunk that counts is there and nothing else is, one
change of the state (see `qdrant_state`) puts the one in the place of the other. Documents and records stay where they
are. What is left over after a kill is removed by the next who begins or drops.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from answerable.errors import LibraryBusy
from answerable.protocols import Fingerprint, PassageVectors
from answerable.stores import records
from answerable.stores.binding import Binding, not_gathering, other_gathering
from answerable.stores.qdrant import schema as qdrant_schema
from answerable.stores.qdrant.connection import CollectionGone, models
from answerable.stores.qdrant.rows import DENSE, SPARSE
from answerable.stores.qdrant.state import Root, State

_ATTEMPTS = 20
_PAGE = 10_000

Send = Callable[[str, Iterable[models.PointStruct]], None]


class QdrantNextVectors:
    """What is gathered beside a library. `send` writes points in requests of a fit size. As `protocols.NextVectors`."""

    def __init__(self, root: Root, binding: Binding, send: Send) -> None:
        self._root = root
        self._connection = root.connection
        self._binding = binding
        self._send = send
        self._begun: Fingerprint | None = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder whose vectors are being gathered, None where none are."""
        return self._root.read().next_fingerprint

    def begin(self, fingerprint: Fingerprint) -> None:
        """Begins, or goes on with what is there. Raises EmbedderMismatch where that is another embedder's."""

        def begun(state: State) -> State | None:
            if state.next_fingerprint is None:
                return replace(state, next_fingerprint=fingerprint, next_vectors=secrets.token_hex(4))
            if state.next_fingerprint != fingerprint:
                raise other_gathering(state.next_fingerprint, fingerprint)
            return None

        state = self._root.change(begun)
        qdrant_schema.remove_chunks(self._connection, state, keep=(state.vectors, state.next_vectors))
        qdrant_schema.make_chunks(self._connection, state.switched())
        self._begun = fingerprint

    def missing(self) -> list[int]:
        """The numbers of the chunks whose vectors haven't been gathered yet, in order."""
        state = self._root.read()
        return sorted(self._counting(state) - (self._gathered(state) if state.next_fingerprint else set()))

    def keep(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Writes vectors of chunks, by number, with everything else that their points have."""
        state = self._still_gathering()
        found = self._connection.call(
            lambda client: client.retrieve(
                state.chunk_collection, list(vectors), with_payload=True, with_vectors=[SPARSE]
            )
        )
        self._send(state.switched().chunk_collection, (_point(record, vectors[int(record.id)]) for record in found))

    def switch(self) -> bool:
        """Puts them in the place of the library's by one change of the state; False where some are missing."""
        for _ in range(_ATTEMPTS):
            state = self._still_gathering()
            counting, gathered = self._counting(state), self._gathered(state)
            if counting - gathered:
                return False
            # What was dropped meanwhile would count again: nobody erases it here.
            self._erase(state.switched().chunk_collection, gathered - counting)
            self._index_as_before(state)
            done = self._root.change(
                lambda now, version=state.version: now.switched() if now.version == version else None,  # type: ignore[misc]
                state,
            )
            if done.vectors == state.next_vectors:
                assert done.fingerprint is not None
                self._binding.move(done.fingerprint)
                qdrant_schema.remove_chunks(self._connection, done, keep=(done.vectors,))
                return True
        raise LibraryBusy(
            f"{self._connection.address.shown} is changed all the time by others, so that the new vectors can't take "
            "their place. They are kept: run the same again when the others are done."
        )

    def drop(self) -> None:
        """Forgets what was gathered, and removes what an earlier switch has left behind."""
        state = self._root.change(
            lambda now: replace(now, next_fingerprint=None, next_vectors="") if now.next_fingerprint else None
        )
        qdrant_schema.remove_chunks(self._connection, state, keep=(state.vectors,))

    def _still_gathering(self) -> State:
        state = self._root.read()
        if state.next_fingerprint is None or state.next_fingerprint != self._begun:
            raise not_gathering()
        return state

    def _counting(self, state: State) -> set[int]:
        """The numbers of the library's chunks."""
        return self._numbers(state.chunk_collection, state.counting()) if state.chunks else set()

    def _gathered(self, state: State) -> set[int]:
        """The numbers of the chunks whose vectors are there."""
        try:
            return self._numbers(state.switched().chunk_collection, None)
        except CollectionGone:
            # Who began was killed before making it.
            return set()

    def _numbers(self, collection: str, where: models.Filter | None) -> set[int]:
        return {int(found.id) for found in self._connection.records(collection, where, ("generation",), _PAGE)}

    def _erase(self, collection: str, numbers: set[int]) -> None:
        if numbers:
            self._connection.delete(collection, models.Filter(must=[models.HasIdCondition(has_id=sorted(numbers))]))

    def _index_as_before(self, state: State) -> None:
        """The indexes that filters have on the library's chunks, for those that take their place."""
        if state.chunks:
            before = self._connection.call(lambda client: client.get_collection(state.chunk_collection))
            collection = state.switched().chunk_collection
            qdrant_schema.index_fields(self._connection, collection, before.payload_schema, set())


def _point(record: models.Record, made: PassageVectors) -> models.PointStruct:
    sparse = record.vector.get(SPARSE) if isinstance(record.vector, dict) else None
    sentences = b64encode(records.quantize(made.spans)).decode("ascii")
    return models.PointStruct(
        id=record.id,
        vector={DENSE: made.whole.tolist(), **({SPARSE: sparse} if sparse else {})},
        payload={**(record.payload or {}), "sentence_vectors": sentences},
    )
