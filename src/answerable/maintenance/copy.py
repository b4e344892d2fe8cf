"""Copies a library to another store without embedding again; reads a document consistently while others write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.datatypes import Document
from answerable.errors import EmbedderMismatch
from answerable.protocols import Fingerprint, IndexedChunk, Store, StoredDocument

# Chunks per request; also the numbers without a chunk after which skipped numbers are tried again. A round number.
WINDOW = 500
_FAR = 10 * WINDOW


@dataclass(frozen=True, slots=True)
class CopyReport:
    """Progress of copying: documents by outcome and in total, and the chunks of the copied documents."""

    copied: int = 0
    unchanged: int = 0
    documents: int = 0
    chunks: int = 0


Whole = tuple[StoredDocument, Document, list[IndexedChunk]]
OnCopied = Callable[[CopyReport], None]


def copy_store(source: Store, target: Store, on_progress: OnCopied | None = None) -> CopyReport:
    """Copy every document that the target lacks, one by one, then the sync records.

    After an interruption, the same call copies the rest. Raise EmbedderMismatch if the target's vectors come from
    another embedder, and LibraryError.
    """
    share_fingerprint(source.fingerprint, target)
    listed = list(source.documents())
    missing = {stored.id: stored for stored in listed if not _is_there(stored, source, target)}
    report = CopyReport(unchanged=len(listed) - len(missing), documents=len(listed))
    try:
        for document, chunks in _whole_documents(source, missing):
            _put(target, document, chunks)
            report = replace(report, copied=report.copied + 1, chunks=report.chunks + len(chunks))
            if on_progress:
                on_progress(report)
        target.remember(source.records())
    finally:
        target.refresh()
    return report


def put_unless_there(target: Store, document: Document, chunks: Sequence[IndexedChunk]) -> bool:
    """Put a document unless the target has it, replacing others with its id or source; return whether it was put."""
    for other in target.lookup(document.id, ""):
        if (other.id, other.content_hash, other.chunks) == (document.id, document.content_hash, len(chunks)):
            return False
    _put(target, document, chunks)
    return True


def _put(target: Store, document: Document, chunks: Sequence[IndexedChunk]) -> None:
    target.put(document, chunks, [stored.id for stored in target.lookup(document.id, document.source)])


def share_fingerprint(made_by: Fingerprint | None, target: Store) -> None:
    """Bind the target to the embedder of the copied vectors. Raise EmbedderMismatch if it has another embedder."""
    if made_by is None:
        return
    if target.fingerprint is None:
        target.bind_embedder(made_by)
    if target.fingerprint != made_by:
        raise EmbedderMismatch(
            f"The vectors to copy were made with the embedder {made_by}, the target's with {target.fingerprint}: "
            "the two can't be compared. Copy to a new library."
        )


def _is_there(stored: StoredDocument, source: Store, target: Store) -> bool:
    for other in target.lookup(stored.id, ""):
        if (other.id, other.chunks) == (stored.id, stored.chunks):
            if other.content_hash == stored.content_hash:
                return True
            # The store returns a tuple or date of the metadata as a list or string, which changes the hash.
            document = source.document(stored.id)
            return document is not None and document.content_hash == other.content_hash
    return False


def _whole_documents(
    source: Store, missing: dict[str, StoredDocument]
) -> Iterator[tuple[Document, list[IndexedChunk]]]:
    """Yield the missing documents with all their chunks, in the order of the chunks' numbers."""
    collected: dict[tuple[str, str], list[IndexedChunk]] = {}
    for found in _windows(source, missing):
        # If a document changes meanwhile, chunks of both versions may be read: compare the hashes of their documents.
        hashes = {owner.id: owner.content_hash for _, owner in found.values() if owner.id in missing}
        for chunk, owner in found.values():
            if owner.id in missing:
                collected.setdefault((owner.id, hashes[owner.id]), []).append(chunk)
        for document_id, content_hash in list(collected):
            chunks = collected[document_id, content_hash]
            if document_id in missing and len(chunks) == missing[document_id].chunks:
                del collected[document_id, content_hash]
                document = source.document(document_id)
                if document is not None and document.content_hash == content_hash:
                    del missing[document_id]
                    yield document, chunks


def _windows(source: Store, missing: dict[str, StoredDocument]) -> Iterator[dict[int, tuple[IndexedChunk, Document]]]:
    """Yield the source's chunks in batches, by number, until no document is missing."""
    first, skipped, far = 1, 0, _FAR
    while missing:
        found = source.fetch(range(first + skipped, first + skipped + WINDOW))
        if found:
            first, skipped, far = max(found) + 1, 0, _FAR
        else:
            skipped += WINDOW
            _forget_removed(source, missing)
        if skipped >= far:
            # Chunks that were added meanwhile may have numbers that were skipped: start again.
            skipped, far = 0, 2 * far
        yield found


def _forget_removed(source: Store, missing: dict[str, StoredDocument]) -> None:
    """Look up the missing documents again: drop removed documents, and replace the entries of changed ones."""
    for document_id in list(missing):
        now = [stored for stored in source.lookup(document_id, "") if stored.id == document_id]
        if now:
            missing[document_id] = now[0]
        else:
            del missing[document_id]


def whole_document(store: Store, listed: StoredDocument) -> Whole | None:
    """Return a listed document as it is now, with its chunks; None if it has been removed."""
    now: StoredDocument | None = listed
    while now is not None:
        before, document, chunks = now, store.document(now.id), store.indexed_chunks(now.id)
        now = next((stored for stored in store.lookup(listed.id, "") if stored.id == listed.id), None)
        if now and document and (now.content_hash, now.chunks) == (before.content_hash, before.chunks):
            return now, document, chunks
    return None
