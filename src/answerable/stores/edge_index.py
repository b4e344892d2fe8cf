"""The search index of an embedded library: Qdrant Edge, in process, derived from the database.

It holds numbers only: vectors, hashed terms with their BM25 weights, and hashed fields to filter by. `state.json`
says how much of the database it has taken in, and how its files were left; whatever doesn't fit together leads to
building it anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from answerable.analysis.bm25 import rarity, term_weights
from answerable.datatypes import FloatArray
from answerable.errors import LibraryError
from answerable.filters import Filter
from answerable.protocols import Flaw
from answerable.stores import edge_audit
from answerable.stores.database import Database, Entry, Version
from answerable.stores.keywords import Scored
from answerable.stores.qdrant_values import (
    USUAL_FIELDS,
    Conditions,
    equality_key,
    field_numbers,
    first_of_equals,
    range_key,
    sparse_vector,
)

__all__ = ["EdgeIndex", "Scored"]

FORMAT = 2
_BATCH = 500
_BLOCK = 65_536
# Below this many chunks a scan of all vectors takes a few milliseconds; building the graph takes a minute.
_GRAPH_FROM = 20_000
# The engine writes through memory: where the disk has no room for what it wrote, the system ends the process.
_ROOM = 32_000_000
_ROOM_FOR_TERMS = 4_096

_CONDITIONS = Conditions(
    one_of=lambda key, values: edge.FieldCondition(key=key, match=edge.MatchAny(values)),
    within=lambda key, bounds: edge.FieldCondition(key=key, range=edge.RangeFloat(**bounds)),
    lacks=lambda key: edge.IsEmptyCondition(key),
    all_of=lambda conditions: edge.Filter(must=conditions),
    any_of=lambda conditions: edge.Filter(should=conditions),
    none_of=lambda conditions: edge.Filter(must_not=conditions),
)


class EdgeIndex:
    """Opens the index in `folder`, builds it anew where need be, and keeps it up to date with `database`.

    Only one process may hold it at a time; the caller sees to that. Raises LibraryError when even a new one fails.
    """

    def __init__(self, folder: Path, database: Database, dimension: int) -> None:
        self._folder = folder
        self._database = database
        self._dimension = dimension
        self._require_room(0)
        self._state = self._read_state()
        self._shard = self._load() if self._state else None
        if self._shard is None:
            self._build()

    def catch_up(self) -> None:
        """Takes in what the database has and the index hasn't, and drops what is gone."""
        version = self._database.version()
        if self._has_taken_in(version):
            return
        try:
            if version.identity == self._state["library"]:
                self._take_in()
            else:
                self._build()
        except LibraryError:
            raise
        except Exception:
            # Whatever the engine stumbles over, the database has everything.
            self._build()

    def audit(self) -> list[Flaw]:
        """Where it differs from the database (see `edge_audit`)."""
        return edge_audit.flaws(self._shard, self._database)

    def rebuild(self) -> None:
        """Makes it anew from the database."""
        self._build()

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
            # Left as it was, the state says that the index was not closed: that is checked less strictly, that is all.
            with contextlib.suppress(OSError):
                self._write_state(is_closed=True)

    def _query(self, vector: Any, using: str, k: int, where: Filter | None) -> Scored:
        assert self._shard is not None
        shard = self._shard
        condition = edge.Filter(must=[_CONDITIONS.spell(where)]) if where is not None else None

        def search(limit: int) -> list[tuple[int, float]]:
            request = edge.QueryRequest(limit=limit, query=edge.Query.Nearest(vector, using=using), filter=condition)
            return [(int(point.id), float(point.score)) for point in shard.query(request)]

        return first_of_equals(k, search)

    def _build(self) -> None:
        try:
            self._create()
            self._take_in()
        except LibraryError:
            raise
        except Exception as error:
            raise self._unwritable(str(error)) from error

    def _require_room(self, chunks: int) -> None:
        """Raises LibraryError where the disk hasn't room for so many more chunks, and some to spare."""
        needed = _ROOM + chunks * (self._dimension * 4 + _ROOM_FOR_TERMS)
        if shutil.disk_usage(self._database.path.parent).free < needed:
            raise self._unwritable(f"the disk has less than {needed / 1e6:,.0f} MB free")

    def _unwritable(self, reason: str) -> LibraryError:
        return LibraryError(
            f"The index {self._folder} can't be written ({reason}). The documents are safe in the database: "
            "free some space on the disk and try again."
        )

    def _take_in(self) -> None:
        assert self._shard is not None
        with self._database.changes(self._state["added"], self._state["removed"]) as (version, added, removed):
            batch: list[Any] = []
            fresh = 0
            for entry in added:
                batch.append(_point(entry))
                fresh += 1
                if len(batch) == _BATCH:
                    self._require_room(_BATCH)
                    self._shard.update(edge.UpdateOperation.upsert_points(batch))
                    batch = []
            if batch:
                self._shard.update(edge.UpdateOperation.upsert_points(batch))
            self._require_room(_BATCH)
            for start in range(0, len(removed), _BATCH):
                gone = removed[start : start + _BATCH]
                # Deleting only marks them: what the vector said has to be written over.
                blank = [edge.Point(number, {"dense": [0.0] * self._dimension}, {}) for number in gone]
                self._shard.update(edge.UpdateOperation.upsert_points(blank))
                self._shard.update(edge.UpdateOperation.delete_points(list(gone)))
        waiting = self._state["waiting"] + fresh + len(removed)
        if waiting > _GRAPH_FROM:
            # It is written anew beside what is there.
            self._require_room(version.chunks)
            self._shard.optimize()
            waiting = 0
        self._shard.flush()
        if self._count() != version.chunks:
            raise RuntimeError("the engine has lost or repeated points")
        self._state.update(
            library=version.identity, added=version.last_number, removed=version.last_removal, waiting=waiting
        )
        self._write_state(is_closed=False)

    def _has_taken_in(self, version: Version) -> bool:
        taken_in = (self._state["library"], self._state["added"], self._state["removed"])
        return taken_in == (version.identity, version.last_number, version.last_removal)

    def _count(self) -> int:
        assert self._shard is not None
        return int(self._shard.count(edge.CountRequest(exact=True)))

    def _load(self) -> Any:
        try:
            shard = edge.EdgeShard.load(str(self._folder / "shard"))
            # Loading alone changes files.
            self._write_state(is_closed=False)
            return shard
        except Exception:
            return None

    def _create(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard = None
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
        for field in USUAL_FIELDS:
            self._shard.update(
                edge.UpdateOperation.create_field_index(equality_key(field), edge.PayloadSchemaType.Integer)
            )
        for key in (range_key("date", datetime.min), range_key("page", 0.0)):
            self._shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Float))
        self._state = {"library": "", "added": 0, "removed": 0, "waiting": 0, "files": {}}

    def _read_state(self) -> dict[str, Any]:
        try:
            state: dict[str, Any] = json.loads((self._folder / "state.json").read_text("utf-8"))
            belongs = (
                state["format"] == FORMAT
                and state["engine"] == _engine_version()
                and state["library"] == self._database.identity
                and state["dimension"] == self._dimension
            )
            whole = belongs and all(
                self._is_whole(self._folder / name, known, state["is_closed"]) for name, known in state["files"].items()
            )
            return state if whole else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _is_whole(self, path: Path, known: Sequence[Any], is_closed: bool) -> bool:
        # The engine maps its files into memory: a damaged one would kill the process or give wrong results.
        size, changed, checksum = known
        found = path.stat()
        if not is_closed:
            return bool(found.st_size >= size)
        return bool(found.st_size == size and (found.st_mtime_ns == changed or _checksum(path) == checksum))

    def _write_state(self, is_closed: bool) -> None:
        """Notes each file's size, time of change and, once nothing changes any more, checksum."""
        before = self._state["files"]
        files: dict[str, tuple[int, int, int | None]] = {}
        for path in (self._folder / "shard").rglob("*"):
            if path.is_file():
                name, found = path.relative_to(self._folder).as_posix(), path.stat()
                size, changed, checksum = before.get(name, (0, 0, None))
                if (size, changed) != (found.st_size, found.st_mtime_ns):
                    checksum = None
                if checksum is None and is_closed:
                    checksum = _checksum(path)
                files[name] = found.st_size, found.st_mtime_ns, checksum
        self._state.update(
            format=FORMAT,
            engine=_engine_version(),
            dimension=self._dimension,
            is_closed=is_closed,
            files=files,
        )
        draft = self._folder / "state.json.new"
        draft.write_text(json.dumps(self._state), "utf-8")
        os.replace(draft, self._folder / "state.json")


def _checksum(path: Path) -> int:
    """A checksum of a file's blocks that aren't all zeros: most of the engine's files are holes."""
    checksum = position = 0
    zeros = bytes(_BLOCK)
    with path.open("rb", buffering=0) as file:
        while True:
            if hasattr(os, "SEEK_DATA"):
                try:
                    position = max(position, os.lseek(file.fileno(), position, os.SEEK_DATA) // _BLOCK * _BLOCK)
                except OSError:
                    return checksum
            file.seek(position)
            block = file.read(_BLOCK)
            if not block:
                return checksum
            if block != zeros[: len(block)]:
                checksum = zlib.crc32(block, zlib.crc32(position.to_bytes(8, "little"), checksum))
            position += _BLOCK


def _engine_version() -> str:
    from importlib.metadata import version

    return version("qdrant-edge-py")


def _point(entry: Entry) -> Any:
    vectors: dict[str, Any] = {"dense": entry.vector.tolist()}
    if entry.terms:
        vectors["terms"] = _sparse(term_weights(entry.terms))
    return edge.Point(entry.number, vectors, field_numbers(entry.fields))


def _sparse(weights: Mapping[str, float]) -> Any:
    hashed = sparse_vector(weights)
    return edge.SparseVector(list(hashed), list(hashed.values()))
