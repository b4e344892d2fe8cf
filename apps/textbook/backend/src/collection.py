"""The collection in Qdrant: one point for each passage, with its text and place as payload.

`physical_ai_textbook` is an alias. What it stands for is never changed: a new version of the book is built beside the
old one, and the alias switched to it in one step.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from qdrant_client import models

from answerable.protocols import Fingerprint
from src.errors import QdrantOperationError
from src.passages import KEYS, PLACE, Passage, Place, Row
from src.qdrant import NotThere, Opened
from src.settings import COLLECTION

_BATCH = 100
_SCROLLED = 1000
# Longer than any ingestion takes: what has been left standing for so long was left by one that was killed.
_ABANDONED = 86_400
_VERSION = re.compile(rf"{re.escape(COLLECTION)}\.(\d{{1,18}})")

Vectors = Mapping[str, list[float]]


class Collected:
    """The book in an opened Qdrant. Every method raises QdrantOperationError when Qdrant can't do it."""

    def __init__(self, opened: Opened) -> None:
        self._client = opened.client
        self._asking = opened.asking
        self._is_server = opened.is_server

    def version(self) -> str:
        """What the alias stands for; empty where there is none."""
        with self._asking():
            aliases = self._client.get_aliases().aliases
        return next((alias.collection_name for alias in aliases if alias.alias_name == COLLECTION), "")

    def check_embedder(self, fingerprint: Fingerprint) -> None:
        """Raises QdrantOperationError where vectors are of another length, NotThere where there is no collection."""
        with self._asking():
            vectors = self._client.get_collection(COLLECTION).config.params.vectors
        if not isinstance(vectors, models.VectorParams) or vectors.size != fingerprint.dimension:
            raise _other_embedder(f"vectors of another kind than the {fingerprint.dimension} numbers", fingerprint)

    def search(self, vector: Sequence[float], limit: int, places: Collection[Place], by: Fingerprint) -> list[Passage]:
        """The passages nearest to a vector, best first; of these places only, unless there are none.

        Raises QdrantOperationError too where another embedder than `by` made their vectors.
        """
        with self._asking():
            points = self._client.query_points(
                COLLECTION, list(vector), query_filter=_within(places), limit=limit, with_payload=True
            ).points
        for point in points:
            maker = str((point.payload or {}).get("embedder", by))
            if maker != str(by):
                raise _other_embedder(f"vectors of {maker}", by)
        return [Passage.of(point.payload or {}) for point in sorted(points, key=lambda point: -point.score)]

    def passages(self) -> Iterator[Passage]:
        """The whole book, in no order."""
        for _, payload in self._payloads(KEYS):
            yield Passage.of(payload)

    def hashes(self) -> dict[str, str]:
        """The hash of each point by its id; nothing where there is no collection."""
        with suppress(NotThere):
            return {point: str(payload.get("hash", "")) for point, payload in self._payloads(("hash",))}
        return {}

    def vectors(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """The vectors of points, by the hash of what they were made of."""
        found: dict[str, list[float]] = {}
        for start in range(0, len(ids), _BATCH):
            with self._asking():
                some = self._client.retrieve(
                    COLLECTION, ids[start : start + _BATCH], with_payload=["hash"], with_vectors=True
                )
            for record in some:
                if isinstance(record.vector, list):
                    found[str((record.payload or {}).get("hash"))] = [float(str(value)) for value in record.vector]
        return found

    def replace(self, rows: Sequence[Row], vectors: Vectors, dimension: int) -> None:
        """Builds a version of these rows beside the present one, switches to it, and removes that."""
        new = f"{COLLECTION}.{time.time_ns()}"
        try:
            self._build(new, rows, vectors, dimension)
        except BaseException:
            self._remove(new)
            raise
        before = self.version()
        # When this fails it may have been done all the same: the new version stays until it is known to be abandoned.
        self._switch(before, new)
        for name in (before, *self._abandoned()):
            self._remove(name)

    def _build(self, name: str, rows: Sequence[Row], vectors: Vectors, dimension: int) -> None:
        with self._asking():
            self._client.create_collection(name, models.VectorParams(size=dimension, distance=models.Distance.COSINE))
        # In process all payloads are looked through.
        for key in PLACE if self._is_server else ():
            with self._asking():
                self._client.create_payload_index(name, key, models.PayloadSchemaType.KEYWORD, wait=True)
        for start in range(0, len(rows), _BATCH):
            points = [
                models.PointStruct(id=row.id, vector=vectors[row.hash], payload=row.payload())
                for row in rows[start : start + _BATCH]
            ]
            with self._asking():
                self._client.upsert(name, points, wait=True)

    def _switch(self, before: str, new: str) -> None:
        created = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=new, alias_name=COLLECTION)
        )
        deleted = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=COLLECTION))
        with self._asking():
            if not before and self._client.collection_exists(COLLECTION):
                # A collection of that name, made by something else, stands where the alias must.
                self._client.delete_collection(COLLECTION)
            self._client.update_collection_aliases([deleted, created] if before else [created])

    def _abandoned(self) -> list[str]:
        """Versions that nobody uses or builds any more."""
        with self._asking():
            used = {alias.collection_name for alias in self._client.get_aliases().aliases}
            names = [found.name for found in self._client.get_collections().collections if found.name not in used]
        made = {name: match for name in names if (match := _VERSION.fullmatch(name))}
        return [name for name, match in made.items() if time.time() - int(match[1]) / 1e9 > _ABANDONED]

    def _remove(self, name: str) -> None:
        """Removes a version. What can't be removed now will be later, as abandoned."""
        if name:
            with suppress(QdrantOperationError), self._asking():
                self._client.delete_collection(name)

    def _payloads(self, keys: Sequence[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
        offset: models.ExtendedPointId | None = None
        while True:
            with self._asking():
                records, offset = self._client.scroll(
                    COLLECTION, limit=_SCROLLED, offset=offset, with_payload=list(keys), with_vectors=False
                )
            yield from ((str(record.id), record.payload or {}) for record in records)
            if offset is None:
                return


def _within(places: Collection[Place]) -> models.Filter | None:
    """The filter that lets these places through."""
    alternatives: list[models.Condition] = [
        models.Filter(
            must=[
                models.FieldCondition(key=key, match=models.MatchValue(value=value))
                for key, value in zip(PLACE, place, strict=True)
            ]
        )
        for place in places
    ]
    return models.Filter(should=alternatives) if alternatives else None


def _other_embedder(held: str, wanted: Fingerprint) -> QdrantOperationError:
    return QdrantOperationError(
        f"The collection {COLLECTION!r} holds {held}, and questions are embedded by {wanted}. Set "
        "OPENAI_EMBEDDING_MODEL to the model that made it, or ingest the book again."
    )
