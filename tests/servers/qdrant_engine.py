"""Qdrant's own engine, Qdrant Edge, with the methods of Qdrant's client that the stand-in for a server calls.

Unlike the client's in-process mode it has indexes of payloads, so that large libraries can be searched many times.
Collections, their names and settings are kept by that mode; the points lie in shards of the engine, in a folder that
goes when the process ends. It knows what the store sends, no more: whatever else is asked for is a ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import qdrant_edge as edge
from qdrant_client import QdrantClient, models
from qdrant_client.http.models import QueryResponse

# A shard has a vector or more; a collection may have none.
_NO_VECTORS = {"none": edge.EdgeSparseVectorParams()}


class EdgeEngine:
    """Collections whose points lie in Qdrant Edge; methods of `QdrantClient`. Not safe to share between threads."""

    def __init__(self) -> None:
        self._described = QdrantClient(":memory:")
        self._folder = TemporaryDirectory(prefix="qdrant-edge-")
        self._shards: dict[str, Any] = {}

    def get_collections(self) -> models.CollectionsResponse:
        """The collections by name."""
        return self._described.get_collections()

    def collection_exists(self, collection_name: str) -> bool:
        """Whether there is a collection, or an alias, of this name."""
        return self._described.collection_exists(collection_name)

    def get_collection(self, collection_name: str) -> models.CollectionInfo:
        """What kinds of vectors a collection has; it tells of no points."""
        return self._described.get_collection(collection_name)

    def get_aliases(self) -> models.CollectionsAliasesResponse:
        """The aliases of all collections."""
        return self._described.get_aliases()

    def update_collection_aliases(self, change_aliases_operations: Sequence[models.AliasOperations]) -> bool:
        """Makes and removes aliases."""
        return self._described.update_collection_aliases(change_aliases_operations)

    def create_collection(
        self,
        collection_name: str,
        vectors_config: Any = None,
        sparse_vectors_config: Any = None,
    ) -> bool:
        """Makes an empty collection."""
        made = self._described.create_collection(collection_name, vectors_config, sparse_vectors_config)
        folder = Path(self._folder.name) / uuid4().hex
        folder.mkdir()
        dense = {
            name: edge.EdgeVectorParams(size=each.size, distance=getattr(edge.Distance, each.distance.name.title()))
            for name, each in (vectors_config or {}).items()
        }
        sparse = {name: edge.EdgeSparseVectorParams() for name in sparse_vectors_config or {}}
        config = edge.EdgeConfig(
            vectors=dense, sparse_vectors=sparse or ({} if dense else _NO_VECTORS), wal_enabled=False
        )
        self._shards[collection_name] = edge.EdgeShard.create(str(folder), config)
        return made

    def delete_collection(self, collection_name: str) -> bool:
        """Removes a collection with its points."""
        if shard := self._shards.pop(collection_name, None):
            shard.close()
        return self._described.delete_collection(collection_name)

    def create_payload_index(self, collection_name: str, field_name: str, field_schema: Any = None) -> Any:
        """Makes an index of a key of the payloads; `field_schema` is its type."""
        kind = getattr(edge.PayloadSchemaType, models.PayloadSchemaType(field_schema).name.title())
        return self._update(collection_name, edge.UpdateOperation.create_field_index(field_name, kind))

    def upsert(
        self,
        collection_name: str,
        points: Any,
        update_filter: models.Filter | None = None,
        update_mode: models.UpdateMode | None = None,
    ) -> models.UpdateResult:
        """Writes points; of those that are there already, only the ones that pass a filter."""
        if update_mode is not None:
            raise ValueError("Modes of updates aren't known here")
        made = [edge.Point(point.id, _vectors(point.vector), point.payload or {}) for point in points]
        return self._update(collection_name, edge.UpdateOperation.upsert_points(made, _filter(update_filter)))

    def delete(self, collection_name: str, points_selector: Any) -> models.UpdateResult:
        """Removes the points that are named, or pass a filter."""
        match points_selector:
            case models.FilterSelector(filter=where):
                return self._update(collection_name, edge.UpdateOperation.delete_points_by_filter(_filter(where)))
            case models.PointIdsList(points=ids):
                return self._update(collection_name, edge.UpdateOperation.delete_points(ids))
        raise ValueError(f"Unknown selector {points_selector!r}")

    def retrieve(
        self, collection_name: str, ids: Sequence[Any], with_payload: Any = True, with_vectors: Any = False, **_: Any
    ) -> list[models.Record]:
        """The points of these ids that there are."""
        found = self._shard(collection_name).retrieve(list(ids), _payload(with_payload), with_vectors)
        return [_record(point) for point in found]

    def scroll(
        self,
        collection_name: str,
        scroll_filter: models.Filter | None = None,
        limit: int = 10,
        order_by: Any = None,
        offset: Any = None,
        with_payload: Any = True,
        with_vectors: Any = False,
    ) -> tuple[list[models.Record], Any]:
        """A page of the points that pass a filter, by id, and where the next one starts."""
        if order_by is not None:
            raise ValueError("Orders aren't known here")
        found, following = self._shard(collection_name).scroll(
            edge.ScrollRequest(offset, limit, _filter(scroll_filter), _payload(with_payload), with_vectors)
        )
        return [_record(point) for point in found], None if following is None else _id(following)

    def count(
        self, collection_name: str, count_filter: models.Filter | None = None, exact: bool = True, **_: Any
    ) -> models.CountResult:
        """How many points pass a filter."""
        return models.CountResult(
            count=self._shard(collection_name).count(edge.CountRequest(exact, _filter(count_filter)))
        )

    def facet(
        self,
        collection_name: str,
        key: str,
        facet_filter: models.Filter | None = None,
        limit: int = 10,
        exact: bool = False,
    ) -> models.FacetResponse:
        """The values of a key with an index, most frequent first."""
        request = edge.FacetRequest(key=key, limit=limit, exact=exact, filter=_filter(facet_filter))
        hits = self._shard(collection_name).facet(request).hits
        return models.FacetResponse(hits=[models.FacetValueHit(value=hit.value, count=hit.count) for hit in hits])

    def query_points(
        self,
        collection_name: str,
        query: Any = None,
        using: str | None = None,
        query_filter: models.Filter | None = None,
        limit: int = 10,
        with_payload: Any = True,
    ) -> QueryResponse:
        """The points with the highest scores that pass a filter."""
        nearest = edge.Query.Nearest(_vector(query), using=using)
        request = edge.QueryRequest(
            limit=limit, query=nearest, filter=_filter(query_filter), with_payload=_payload(with_payload)
        )
        found = self._shard(collection_name).query(request)
        return QueryResponse(
            points=[
                models.ScoredPoint(id=_id(point.id), version=0, score=point.score, payload=point.payload)
                for point in found
            ]
        )

    def _shard(self, name: str) -> Any:
        aliases = {alias.alias_name: alias.collection_name for alias in self._described.get_aliases().aliases}
        name = aliases.get(name, name)
        if name not in self._shards:
            raise ValueError(f"Collection {name} not found")
        return self._shards[name]

    def _update(self, name: str, operation: Any) -> models.UpdateResult:
        self._shard(name).update(operation)
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)


def _filter(where: models.Filter | None) -> Any:
    if where is None:
        return None
    if where.min_should is not None:
        raise ValueError("Least numbers of conditions aren't known here")
    return edge.Filter(_conditions(where.must), _conditions(where.should), _conditions(where.must_not))


def _conditions(given: Any) -> list[Any] | None:
    if given is None:
        return None
    return [_condition(each) for each in (given if isinstance(given, list) else [given])]


def _condition(condition: Any) -> Any:
    match condition:
        case models.Filter():
            return _filter(condition)
        case models.IsEmptyCondition(is_empty=field):
            return edge.IsEmptyCondition(field.key)
        case models.HasIdCondition(has_id=ids):
            return edge.HasIdCondition(set(ids))
        case models.FieldCondition(key=key, match=models.MatchValue(value=value)):
            return edge.FieldCondition(key=key, match=edge.MatchValue(value))
        case models.FieldCondition(key=key, match=models.MatchAny(any=values)):
            return edge.FieldCondition(key=key, match=edge.MatchAny(values))
        case models.FieldCondition(key=key, match=None, range=models.Range(gte=gte, gt=gt, lte=lte, lt=lt)):
            return edge.FieldCondition(key=key, range=edge.RangeFloat(gte, gt, lte, lt))
    raise ValueError(f"Unknown condition {condition!r}")


def _payload(wanted: Any) -> Any:
    match wanted:
        case models.PayloadSelectorInclude(include=keys):
            return edge.PayloadSelector.Include(keys)
        case models.PayloadSelectorExclude(exclude=keys):
            return edge.PayloadSelector.Exclude(keys)
    return wanted


def _vectors(given: Any) -> dict[str, Any]:
    return {name: _vector(each) for name, each in (given or {}).items()}


def _vector(given: Any) -> Any:
    match given:
        case models.NearestQuery(nearest=vector):
            return _vector(vector)
        case models.SparseVector(indices=indices, values=values):
            return edge.SparseVector(indices, values)
        case list():
            return given
    raise ValueError(f"Unknown vector {given!r}")


def _record(point: Any) -> models.Record:
    vectors = {
        name: models.SparseVector(indices=each.indices, values=each.values)
        if isinstance(each, edge.SparseVector)
        else each
        for name, each in (point.vector or {}).items()
    }
    return models.Record(id=_id(point.id), payload=point.payload, vector=vectors or None)


def _id(given: Any) -> int | str:
    return given if isinstance(given, int) else str(given)
