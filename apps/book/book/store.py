"""The collection in Qdrant: one point for each chunk, with its text and place as payload.

The point of a page's first chunk also says, under `page`, what the page was when all of it was stored: how many chunks
it has, of which site it is, and the validators to ask that site later whether it has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from answerable.errors import EmbedderMismatch
from answerable.sources import Validators
from book.connection import Opened, open_qdrant
from book.embedding import DIMENSION
from book.errors import QdrantConnectionError
from book.models import ContentChunk, RetrievalResult, point_id

COLLECTION = "book_embeddings"
_SCROLLED = 1000
_PAYLOAD = ["url", "chunk_index", "title", "content_hash", "page"]


@dataclass(slots=True)
class StoredPage:
    """What is stored of a page: the hashes of its chunks by index, and what was noted when all of it was stored."""

    title: str = ""
    hashes: dict[int, str] = field(default_factory=dict)
    note: dict[str, Any] = field(default_factory=dict)

    def validators(self, reader: str) -> Validators | None:
        """What to ask the site with; None unless all of the page is there as that reader reads it."""
        is_whole = self.note.get("reader") == reader and set(self.hashes) == set(range(len(self.hashes)))
        if not is_whole or self.note.get("chunks") != len(self.hashes):
            return None
        etag, modified = str(self.note.get("etag", "")), str(self.note.get("last_modified", ""))
        return Validators(str(self.note.get("fetched", "")), etag, modified)


class Collected:
    """The points of one collection. Every method raises QdrantConnectionError when Qdrant can't do it."""

    def __init__(self, opened: Opened, name: str) -> None:
        self._client = opened.client
        self._asking = opened.asking
        self._name = name

    def exists(self) -> bool:
        """Whether there is such a collection."""
        with self._asking():
            return self._client.collection_exists(self._name)

    def create(self) -> None:
        """Makes the collection where there is none. Raises EmbedderMismatch where it holds other vectors."""
        from qdrant_client.models import Distance, VectorParams

        if not self.exists():
            try:
                with self._asking():
                    self._client.create_collection(self._name, VectorParams(size=DIMENSION, distance=Distance.COSINE))
            except QdrantConnectionError:
                # Another process may have been first.
                if not self.exists():
                    raise
        with self._asking():
            vectors = self._client.get_collection(self._name).config.params.vectors
        if not isinstance(vectors, VectorParams) or (vectors.size, vectors.distance) != (DIMENSION, Distance.COSINE):
            raise EmbedderMismatch(
                f"The collection {self._name!r} holds vectors of another kind than {DIMENSION} numbers compared by "
                "cosine. Choose another one with --collection."
            )

    def pages(self) -> dict[str, StoredPage]:
        """What is stored, by address; nothing where there is no collection."""
        found: dict[str, StoredPage] = {}
        for payload in self._payloads() if self.exists() else ():
            page = found.setdefault(str(payload.get("url", "")), StoredPage(str(payload.get("title", ""))))
            index, note = payload.get("chunk_index"), payload.get("page")
            if isinstance(index, int):
                page.hashes[index] = str(payload.get("content_hash", ""))
            if isinstance(note, dict):
                page.note = note
        return found

    def hashes(self, ids: Collection[str]) -> dict[str, str]:
        """The content hashes of those of the points that are there."""
        with self._asking():
            records = self._client.retrieve(self._name, list(ids), with_payload=["content_hash"])
        return {str(record.id): str((record.payload or {}).get("content_hash", "")) for record in records}

    def put(self, chunks: Sequence[ContentChunk], vectors: Sequence[Sequence[float]]) -> None:
        """Stores chunks, in place of those that have their ids."""
        from qdrant_client.models import PointStruct

        points = [
            PointStruct(id=chunk.chunk_id, vector=list(vector), payload=_payload(chunk))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        with self._asking():
            self._client.upsert(self._name, points, wait=True)

    def note(self, url: str, note: dict[str, Any]) -> None:
        """Writes what is known of the page as a whole."""
        with self._asking():
            self._client.set_payload(self._name, {"page": note}, points=[point_id(url, 0)], wait=True)

    def remove(self, url: str, indexes: Collection[int]) -> None:
        """Removes chunks of a page."""
        with self._asking():
            self._client.delete(self._name, [point_id(url, index) for index in sorted(indexes)], wait=True)

    def search(self, vector: Sequence[float], limit: int, threshold: float) -> list[RetrievalResult]:
        """The chunks whose cosine with the vector is highest, and at least the threshold, best first."""
        with self._asking():
            found = self._client.query_points(
                self._name, list(vector), limit=limit, score_threshold=threshold, with_payload=True
            ).points
        results = [_result(point.payload or {}, point.score) for point in found if point.score >= threshold]
        return sorted(results, key=lambda result: -result.score)

    def _payloads(self) -> Iterator[dict[str, Any]]:
        offset: Any = None
        while True:
            with self._asking():
                records, offset = self._client.scroll(
                    self._name, limit=_SCROLLED, offset=offset, with_payload=_PAYLOAD, with_vectors=False
                )
            yield from (record.payload or {} for record in records)
            if offset is None:
                return


@contextmanager
def open_collection(name: str) -> Iterator[Collected]:
    """A collection, for one call. Raises what `open_qdrant` raises."""
    with open_qdrant() as opened:
        yield Collected(opened, name)


def _payload(chunk: ContentChunk) -> dict[str, Any]:
    return {
        "url": chunk.url,
        "title": chunk.title,
        "chunk_index": chunk.chunk_index,
        "text": chunk.text,
        "token_count": chunk.token_count,
        "section": chunk.section,
        "anchor": chunk.anchor,
        "content_hash": chunk.content_hash,
    }


def _result(payload: dict[str, Any], score: float) -> RetrievalResult:
    return RetrievalResult(
        text=str(payload.get("text", "")),
        url=str(payload.get("url", "")),
        title=str(payload.get("title", "")),
        chunk_index=int(payload.get("chunk_index", 0)),
        score=score,
    )
