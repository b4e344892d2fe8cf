"""Vectors and their chunks → Qdrant."""

from __future__ import annotations

from collections.abc import Sequence

from book.errors import QdrantConnectionError
from book.models import ContentChunk, StorageResult, VectorEmbedding
from book.store import Collected, open_collection

BATCH = 96


def store_vectors(
    embeddings: Sequence[VectorEmbedding], chunks: Sequence[ContentChunk], collection_name: str
) -> StorageResult:
    """Stores chunks with their vectors; the collection is made where there is none.

    A chunk of the same URL, index and content is skipped as a duplicate; one of other content is replaced. What can't
    be stored is in the result's errors. Raises QdrantConnectionError when Qdrant can't be asked at all,
    EmbedderMismatch for a collection of other vectors.
    """
    result = StorageResult(0, 0, [])
    vectors = {embedding.chunk_id: embedding.vector for embedding in embeddings}
    unique = {chunk.chunk_id: chunk for chunk in chunks}
    for chunk in unique.values():
        if chunk.chunk_id not in vectors:
            result.errors.append(f"chunk {chunk.chunk_index} of {chunk.url} has no vector: embed it first")
    known = {chunk.chunk_id for chunk in chunks}
    for embedding in embeddings:
        if embedding.chunk_id not in known:
            result.errors.append(f"the vector {embedding.chunk_id} has no chunk: hand it over too")
    ready = [chunk for chunk in unique.values() if chunk.chunk_id in vectors]
    if ready:
        with open_collection(collection_name) as collection:
            collection.create()
            for start in range(0, len(ready), BATCH):
                _store(collection, ready[start : start + BATCH], vectors, result)
    return result


def _store(
    collection: Collected,
    chunks: Sequence[ContentChunk],
    vectors: dict[str, list[float]],
    result: StorageResult,
) -> None:
    try:
        hashes = collection.hashes([chunk.chunk_id for chunk in chunks])
        new = [chunk for chunk in chunks if hashes.get(chunk.chunk_id) != chunk.content_hash]
        if new:
            collection.put(new, [vectors[chunk.chunk_id] for chunk in new])
    except QdrantConnectionError as error:
        result.errors.append(str(error))
        return
    result.stored += len(new)
    result.skipped_duplicates += len(chunks) - len(new)
