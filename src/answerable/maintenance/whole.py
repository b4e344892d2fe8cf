"""Reads a document and its chunks consistently while others write."""

from __future__ import annotations

from answerable.datatypes import Document
from answerable.protocols import IndexedChunk, Store, StoredDocument

Whole = tuple[StoredDocument, Document, list[IndexedChunk]]


def whole_document(store: Store, listed: StoredDocument) -> Whole | None:
    """Return a listed document as it is now, with its chunks; None if it has been removed."""
    now: StoredDocument | None = listed
    while now is not None:
        before, document, chunks = now, store.document(now.id), store.indexed_chunks(now.id)
        now = next((stored for stored in store.lookup(listed.id, "") if stored.id == listed.id), None)
        if now and document and (now.content_hash, now.chunks) == (before.content_hash, before.chunks):
            return now, document, chunks
    return None
