"""Completes third-party stores: derives the missing methods of a `CoreStore` from its existing methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import cast

import numpy as np

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import LibraryError
from answerable.filters import Filter, OneOf, normalize
from answerable.protocols import (
    CoreStore,
    Fingerprint,
    IndexedChunk,
    Issue,
    NextVectors,
    PassageVectors,
    ReindexableStore,
    RepairableStore,
    Store,
    StoredDocument,
    SyncRecord,
    SyncStore,
)
from answerable.stores.exact import Scored
from answerable.text.terms import score


class Capability(str, Enum):
    """Optional capabilities of a store, beyond adding, searching, answering and removing."""

    SYNC = "sync"
    REPAIR = "verify --repair"
    REINDEX = "reindex"


_PROTOCOLS = {
    Capability.SYNC: SyncStore,
    Capability.REPAIR: RepairableStore,
    Capability.REINDEX: ReindexableStore,
}


def completed(store: Store | CoreStore) -> Store:
    """Return the store itself if it implements `Store`, otherwise a wrapper that derives the missing methods."""
    # Only a full `Store` has this method; a `CoreStore` has an attribute to set instead.
    return cast(Store, store if hasattr(store, "bind_embedder") else _CompletedStore(store))


def takes_words_first(store: Store) -> bool:
    """Return whether documents may be stored before their vectors are made."""
    return not isinstance(store, _CompletedStore)


def capabilities(store: Store | CoreStore) -> frozenset[Capability]:
    """Return the capabilities that a store implements itself, without those that `completed` derives."""
    own = store.core if isinstance(store, _CompletedStore) else store
    return frozenset(each for each, protocol in _PROTOCOLS.items() if isinstance(own, protocol))


def require(store: Store, capability: Capability) -> None:
    """Raise LibraryError unless the store has the capability."""
    if capability not in capabilities(store):
        raise _unsupported(store, capability)


def _unsupported(store: Store | _CompletedStore, capability: Capability) -> LibraryError:
    name = type(store.core if isinstance(store, _CompletedStore) else store).__name__
    methods = ", ".join(each for each in vars(_PROTOCOLS[capability]) if not each.startswith("_"))
    return LibraryError(
        f"The store {name} doesn't support {capability.value}. Implement {methods} in it, or use a library in a "
        "folder, on PostgreSQL or on Qdrant."
    )


class _CompletedStore:
    """A wrapper that makes a `CoreStore` a `Store`: the `CoreStore`'s own methods, and others derived from them."""

    is_writable = True

    def __init__(self, core: CoreStore) -> None:
        self.core = core
        # Don't copy these three: a `Store`'s `put` and `search_terms` take more arguments; `fingerprint` may change.
        for name in dir(core):
            if not name.startswith("_") and name not in ("fingerprint", "put", "search_terms"):
                setattr(self, name, getattr(core, name))

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self.core.fingerprint

    def bind_embedder(self, fingerprint: Fingerprint) -> None:
        self.core.fingerprint = self.core.fingerprint or fingerprint

    def put(
        self,
        document: Document,
        chunks: Sequence[IndexedChunk],
        replaces: Collection[str] = (),
        record: SyncRecord | None = None,
    ) -> None:
        self.core.put(document, chunks, replaces)
        if record is not None:
            self.remember([record])

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        return [each for each in self.core.documents() if each.id == document_id or (source and each.source == source)]

    def chunks(self, document_id: str) -> list[Chunk]:
        return [indexed.chunk for indexed in self.indexed_chunks(document_id)]

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        fingerprint, (stored, *_) = self.fingerprint, (*self.lookup(document_id, ""), None)
        if fingerprint is None or stored is None:
            return []
        # Any vector will do, since all chunks are requested.
        vector = np.full(fingerprint.dimension, fingerprint.dimension**-0.5, np.float32)
        found: list[IndexedChunk] = []
        # If chunks were added without the field `document_id`, search all chunks.
        for where in (OneOf("document_id", (normalize(document_id),)), None):
            numbers = [number for number, _ in self.core.search_vectors(vector, self.count()[1], where)]
            chunks = (indexed for indexed, _ in self.core.fetch(numbers).values())
            found = [indexed for indexed in chunks if indexed.chunk.document_id == document_id]
            if len(found) == stored.chunks:
                break
        return sorted(found, key=lambda indexed: indexed.chunk.sequence)

    def refresh(self) -> None:
        """Do nothing: a `CoreStore` writes everything at once."""

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        found = self.core.search_terms(terms, k, where)
        if rarities is None:
            return found
        chunks = self.core.fetch([number for number, _ in found])
        scores = {number: score(indexed.terms, rarities) for number, (indexed, _) in chunks.items()}
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        found = {number: float(indexed.vector @ vector) for number, (indexed, _) in self.core.fetch(numbers).items()}
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        chunks = self.count()[1]
        return {term: len(self.search_terms([term], chunks, None)) for term in terms}

    def count(self) -> tuple[int, int]:
        sizes = [stored.chunks for stored in self.core.documents()]
        return len(sizes), sum(sizes)

    def languages(self) -> list[str]:
        return sorted({stored.language for stored in self.core.documents()})

    def waiting(self) -> list[int]:
        """Return []: a `CoreStore` gets documents with their vectors."""
        return []

    def fill(self, vectors: Mapping[int, PassageVectors]) -> None:
        """Do nothing: no chunk waits."""

    def records(self, origin: str = "") -> list[SyncRecord]:
        return []

    def remember(self, records: Sequence[SyncRecord]) -> None:
        """Do nothing: without sync records, adding a source again reads the whole source."""

    def forget(self, origin: str, sources: Collection[str]) -> None:
        """Do nothing: there are no sync records."""

    def audit(self) -> list[Issue]:
        return []

    def repair(self, rebuild: bool = True) -> None:
        raise _unsupported(self, Capability.REPAIR)

    def next_vectors(self) -> NextVectors:
        raise _unsupported(self, Capability.REINDEX)

    def close(self) -> None:
        """Do nothing: the caller closes the `CoreStore`."""
