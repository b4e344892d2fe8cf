"""The search index of an embedded library: Qdrant Edge, in process, derived from the database.

It holds numbers only: vectors, hashed terms with their BM25 weights, and hashed fields to filter by. `state.json`
says how much of the database it has taken in; whatever doesn't fit together leads to building it anew.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from answerable.analysis.bm25 import rarity, term_weights
from answerable.datatypes import FloatArray
from answerable.errors import LibraryDamaged
from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, Scalar
from answerable.stores import records
from answerable.stores.database import Database

FORMAT = 1
_BATCH = 500
# Below this many chunks a scan of all vectors takes a few milliseconds; building the graph takes a minute.
_GRAPH_FROM = 20_000
_INDEXED_FIELDS = ("source", "type", "language", "document_id", "date", "sender", "page", "heading")

Scored = list[tuple[int, float]]


class EdgeIndex:
    """Opens the index in `folder`, builds it anew where need be, and keeps it up to date with `database`.

    Only one process may hold it at a time; the caller sees to that. Raises LibraryDamaged when even a new one fails.
    """

    def __init__(self, folder: Path, database: Database, dimension: int) -> None:
        self._folder = folder
        self._database = database
        self._dimension = dimension
        self._state = self._read_state()
        self._shard = self._load() if self._state else None
        if self._shard is None:
            self._create()

    def catch_up(self) -> None:
        """Takes in what the database has and the index hasn't, and drops what is gone."""
        version = self._database.version()
        if self._is_current(version.last_number, version.last_removal):
            return
        try:
            self._take_in()
            sound = self._count() == self._state["chunks"]
        except Exception:
            # Whatever the engine stumbles over, the database has everything.
            sound = False
        if not sound:
            self._create()
            self._take_in()
            if self._count() != self._state["chunks"]:
                raise LibraryDamaged(
                    f"The index {self._folder} can't be built. "
                    "Delete that folder and try again; nothing is lost with it."
                )

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first."""
        return self._query(vector.tolist(), "dense", k, where)

    def search_terms(self, frequencies: Mapping[str, int], chunks: int, k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first, given in how many of the chunks each term stands."""
        weights = {term: rarity(chunks, count) for term, count in frequencies.items() if count}
        return self._query(_sparse(weights), "terms", k, where) if weights else []

    def close(self) -> None:
        """Writes everything out and frees the files."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None

    def _query(self, vector: Any, using: str, k: int, where: Filter | None) -> Scored:
        request = edge.QueryRequest(
            limit=k,
            query=edge.Query.Nearest(vector, using=using),
            filter=edge.Filter(must=[_condition(where)]) if where is not None else None,
        )
        assert self._shard is not None
        found = ((int(point.id), float(point.score)) for point in self._shard.query(request))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _take_in(self) -> None:
        assert self._shard is not None
        with self._database.changes(self._state["added"], self._state["removed"]) as (version, added, removed):
            batch: list[Any] = []
            fresh = 0
            for row in added:
                batch.append(_point(row["number"], row["vector"], json.loads(row["terms"]), json.loads(row["fields"])))
                fresh += 1
                if len(batch) == _BATCH:
                    self._shard.update(edge.UpdateOperation.upsert_points(batch))
                    batch = []
            if batch:
                self._shard.update(edge.UpdateOperation.upsert_points(batch))
            for start in range(0, len(removed), _BATCH):
                self._shard.update(edge.UpdateOperation.delete_points(list(removed[start : start + _BATCH])))
        waiting = self._state["waiting"] + fresh + len(removed)
        if waiting > _GRAPH_FROM:
            self._shard.optimize()
            waiting = 0
        self._shard.flush()
        self._state.update(
            added=version.last_number, removed=version.last_removal, chunks=version.chunks, waiting=waiting
        )
        self._write_state()

    def _is_current(self, last_number: int, last_removal: int) -> bool:
        return bool(self._state["added"] == last_number and self._state["removed"] == last_removal)

    def _count(self) -> int:
        assert self._shard is not None
        return int(self._shard.count(edge.CountRequest(exact=True)))

    def _load(self) -> Any:
        try:
            return edge.EdgeShard.load(str(self._folder / "shard"))
        except Exception:
            return None

    def _create(self) -> None:
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._folder / "shard").mkdir(parents=True)
        config = edge.EdgeConfig(
            vectors={"dense": edge.EdgeVectorParams(size=self._dimension, distance=edge.Distance.Cosine)},
            sparse_vectors={"terms": edge.EdgeSparseVectorParams()},
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_GRAPH_FROM * self._dimension * 4 // 1024),
            # The database is the log: what an index loses, it takes in again.
            wal_enabled=False,
        )
        self._shard = edge.EdgeShard.create(str(self._folder / "shard"), config)
        for field in _INDEXED_FIELDS:
            self._shard.update(
                edge.UpdateOperation.create_field_index(_equality_key(field), edge.PayloadSchemaType.Integer)
            )
        for field in ("date", "page"):
            self._shard.update(edge.UpdateOperation.create_field_index(_range_key(field), edge.PayloadSchemaType.Float))
        self._state = {"added": 0, "removed": 0, "chunks": 0, "waiting": 0}

    def _read_state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = json.loads((self._folder / "state.json").read_text("utf-8"))
            belongs = (
                state["format"] == FORMAT
                and state["engine"] == _engine_version()
                and state["library"] == self._database.identity
                and state["dimension"] == self._dimension
            )
            # A file that shrank would not raise an error but kill the process: the engine maps it into memory.
            whole = all((self._folder / name).stat().st_size >= size for name, size in state["files"].items())
            return state if belongs and whole else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _write_state(self) -> None:
        files = {
            str(path.relative_to(self._folder)): path.stat().st_size
            for path in (self._folder / "shard").rglob("*")
            if path.is_file()
        }
        self._state.update(
            format=FORMAT,
            engine=_engine_version(),
            library=self._database.identity,
            dimension=self._dimension,
            files=files,
        )
        draft = self._folder / "state.json.new"
        draft.write_text(json.dumps(self._state), "utf-8")
        os.replace(draft, self._folder / "state.json")


def _engine_version() -> str:
    from importlib.metadata import version

    return version("qdrant-edge-py")


def _point(number: int, vector: bytes, terms: Mapping[str, int], fields: Mapping[str, Any]) -> Any:
    vectors: dict[str, Any] = {"dense": records.vector_from_bytes(vector).tolist()}
    if terms:
        vectors["terms"] = _sparse(term_weights(terms))
    return edge.Point(number, vectors, _payload(fields))


def _sparse(weights: Mapping[str, float]) -> Any:
    hashed: dict[int, float] = {}
    for term, weight in weights.items():
        key = zlib.crc32(term.encode("utf-8", "replace"))
        hashed[key] = hashed.get(key, 0.0) + weight
    return edge.SparseVector(list(hashed), list(hashed.values()))


def _payload(fields: Mapping[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for name, values in fields.items():
        payload[_equality_key(name)] = [_hash_value(value) for value in values]
        comparable = [number for value in values if (number := _comparable(value)) is not None]
        if comparable:
            payload[_range_key(name)] = comparable
    return payload


def _condition(where: Filter) -> Any:
    """A filter in the engine's own form. Names and values go in as hashes: nothing of them is ever parsed."""
    match where:
        case OneOf(field, values):
            return edge.FieldCondition(
                key=_equality_key(field), match=edge.MatchAny([_hash_value(value) for value in values])
            )
        case Between(field, gt, gte, lt, lte):
            bounds = edge.RangeFloat(gt=_bound(gt), gte=_bound(gte), lt=_bound(lt), lte=_bound(lte))
            return edge.FieldCondition(key=_range_key(field), range=bounds)
        case Exists(field):
            return edge.Filter(must_not=[edge.IsEmptyCondition(_equality_key(field))])
        case AllOf(filters):
            return edge.Filter(must=_conditions(filters))
        case AnyOf(filters):
            return edge.Filter(should=_conditions(filters))
        case Not(inner):
            return edge.Filter(must_not=[_condition(inner)])


def _conditions(filters: Iterable[Filter]) -> list[Any]:
    return [_condition(inner) for inner in filters]


def _equality_key(field: str) -> str:
    return f"e{_digest(field) & (2**63 - 1):x}"


def _range_key(field: str) -> str:
    return f"r{_digest(field) & (2**63 - 1):x}"


def _hash_value(value: Scalar) -> int:
    # 1 and 1.0 are equal, True isn't: as in `filters.matches`.
    kind = "bool" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
    return _digest(f"{kind}\0{float(value) if kind == 'number' else value}")


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little", signed=True)


def _comparable(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            return _bound(datetime.fromisoformat(value.upper()))
        except ValueError:
            return None
    return float(value)


def _bound(value: float | datetime | None) -> float | None:
    return value.replace(tzinfo=timezone.utc).timestamp() if isinstance(value, datetime) else value
