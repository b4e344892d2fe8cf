"""The search index of an embedded library: Qdrant Edge, run in this process, derived from the database.

The index holds numbers only (see `index.engine`). `state.json` records which chunks of the database are indexed and
the state of the index's files (see `index.state`); any mismatch leads to a rebuild.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from answerable.datatypes import FloatArray
from answerable.disk.free_space import require_room, unwritable
from answerable.errors import DiskFull, LibraryError
from answerable.filters import Filter
from answerable.protocols import Issue
from answerable.stores.embedded.database.database import Database, Version
from answerable.stores.embedded.index import audit as edge_audit
from answerable.stores.embedded.index.engine import (
    EXACTLY,
    MOST_FIELDS,
    TOGETHER,
    conditions,
    config,
    field_index,
    point,
    search_params,
    sparse,
)
from answerable.stores.embedded.index.state import EdgeState
from answerable.stores.hashed import USUAL_FIELDS, equality_key, first_of_equals, hash_value, range_key
from answerable.stores.memory.keywords import Scored
from answerable.text.places import TEXT_HASH

__all__ = ["EdgeIndex", "Scored"]

# Since 4, every chunk has the hash of its text.
FORMAT = 4
_BATCH = 500
_ROOM_FOR_TERMS = 4_096


class EdgeIndex:
    """The index in `folder`, opened or rebuilt, and kept up to date with `database`.

    Only one process may open an index at a time, and a full disk may kill that process (see `index.process`). With more
    than `quantized_from` chunks vectors are quantised. Raises LibraryError if a rebuild fails.
    """

    def __init__(self, folder: Path, database: Database, dimension: int, quantized_from: int) -> None:
        self._folder = folder
        self._database = database
        self._dimension = dimension
        self._quantized_from = quantized_from
        self._require_room(0)
        made = {"format": FORMAT, "dimension": dimension, "quantized_from": quantized_from}
        self._state = EdgeState(folder, made)
        self._shard = self._load() if self._state.notes.get("library") == database.identity else None
        if self._shard is None:
            self._build()

    def catch_up(self) -> None:
        """Add the chunks that the index lacks, delete removed ones, and erase them once the database has."""
        version = self._database.version()
        if self._has_taken_in(version) and self._has_erased(version):
            return
        try:
            if version.identity != self._state.notes["library"]:
                self._build()
            elif not self._has_taken_in(version):
                self._take_in()
            if not self._has_erased(version):
                self._erase(version.chunks)
        except LibraryError:
            raise
        except Exception:
            # Whatever fails in the engine, the database has everything.
            self._build()

    def audit(self) -> list[Issue]:
        """Catch up, then return the differences from the database (see `index.audit`)."""
        # From one snapshot, or writes by others would show as differences.
        with self._database.snapshot():
            self.catch_up()
            return edge_audit.issues(self._shard, self._database)

    def rebuild(self) -> None:
        """Rebuild the index from the database."""
        self._build()

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first; approximate for many chunks."""
        nearest = edge.Query.Nearest(vector.tolist(), using="dense")
        return self._query(nearest, k, self._spelt(where), search_params)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        nearest = edge.Query.Nearest(vector.tolist(), using="dense")
        these = edge.Filter(must=[edge.HasIdCondition(set(numbers))])
        return self._query(nearest, len(numbers), these, lambda _: EXACTLY) if numbers else []

    def search_terms(self, rarities: Mapping[str, float], k: int, where: Filter | None) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score for terms of these rarities."""
        if not rarities:
            return []
        return self._query(edge.Query.Nearest(sparse(rarities), using="terms"), k, self._spelt(where))

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        assert self._shard is not None
        key = equality_key(TEXT_HASH)
        numbers = {each: hash_value(each) for each in hashes}
        needed: list[Any] = [edge.FieldCondition(key=key, match=edge.MatchAny(list(numbers.values())))]
        if where is not None:
            needed.append(self._spelt(where))
        # Asked for few of many texts, the engine looks at a sample and may miss rare ones. Asked for as many as there
        # can be, it counts all, and much faster than with `exact`, by which it counts each by itself.
        most = max(1, self._state.notes["added"])
        request = edge.FacetRequest(key=key, limit=most, filter=edge.Filter(must=needed))
        counts = {hit.value: int(hit.count) for hit in self._shard.facet(request).hits}
        return {each: counts.get(number, 0) for each, number in numbers.items()}

    def close(self) -> None:
        """Write everything to disk and close the files."""
        if self._shard is not None:
            self._shard.close()
            self._shard = None
            # If this fails, the index counts as not closed, and its files are checked less strictly.
            with contextlib.suppress(OSError):
                self._state.write(is_closed=True)

    def _query(self, nearest: Any, k: int, condition: Any, params: Callable[[int], Any] = lambda limit: None) -> Scored:
        assert self._shard is not None
        shard = self._shard

        def search(limit: int) -> list[tuple[int, float]]:
            request = edge.QueryRequest(limit=limit, query=nearest, filter=condition, params=params(limit))
            return [(int(point.id), float(point.score)) for point in shard.query(request)]

        return first_of_equals(k, search)

    def _spelt(self, where: Filter | None) -> Any:
        spell = conditions(self._state.notes["fields"]).spell
        return None if where is None else edge.Filter(must=[spell(where)])

    def _build(self) -> None:
        try:
            self._create()
            self._take_in()
        except LibraryError:
            raise
        except Exception as error:
            raise unwritable(self._folder, str(error)) from error

    def _require_room(self, chunks: int) -> None:
        """Raise DiskFull unless the disk has room for this many more chunks, and a reserve."""
        require_room(self._folder, chunks * (self._dimension * 4 + _ROOM_FOR_TERMS))

    def _take_in(self) -> None:
        assert self._shard is not None
        with self._database.changes(self._state.notes["added"], self._state.notes["removed"]) as (
            version,
            added,
            removed,
        ):
            fresh = len(removed)
            while batch := [point(entry) for entry in islice(added, _BATCH)]:
                fresh += len(batch)
                self._require_room(_BATCH)
                self._index_fields(key for each in batch for key in each.payload or ())
                self._shard.update(edge.UpdateOperation.upsert_points(batch))
                if fresh >= TOGETHER:
                    self._require_room(version.chunks)
                    self._shard.optimize()
                    # The engine keeps replaced segments in memory and on disk until it is flushed.
                    self._shard.flush()
                    fresh = 0
            self._require_room(_BATCH)
            for start in range(0, len(removed), _BATCH):
                gone = removed[start : start + _BATCH]
                # Deleting only marks them: overwrite the vectors.
                blank = [edge.Point(number, {"dense": [0.0] * self._dimension}, {}) for number in gone]
                self._shard.update(edge.UpdateOperation.upsert_points(blank))
                self._shard.update(edge.UpdateOperation.delete_points(list(gone)))
        waiting = self._state.notes["waiting"] + fresh
        if waiting > self._quantized_from:
            # A new copy is written beside the old one.
            self._require_room(version.chunks)
            self._shard.optimize()
            waiting = 0
        self._shard.flush()
        if self._shard.count(edge.CountRequest(exact=True)) != version.chunks:
            raise RuntimeError("the engine has lost or repeated points")
        self._state.notes.update(
            library=version.identity, added=version.last_number, removed=version.last_removal, waiting=waiting
        )
        if self._state.notes.get("erased", 0) is None:
            # A new index never had what was removed before.
            self._state.notes["erased"] = version.last_removal
        self._state.write(is_closed=False)

    def _erase(self, chunks: int) -> None:
        """Rewrite every segment that deleted chunks have left data in, if there is room, and delete the old files."""
        try:
            self._require_room(chunks)
        except DiskFull:
            # Nobody who searches should have to wait for it.
            return
        shard = self._reloaded(erases=True)
        shard.optimize()
        shard.flush()
        self._reloaded(erases=False)
        self._state.notes.update(erased=self._state.notes["removed"], waiting=0)
        self._state.write(is_closed=False)

    def _reloaded(self, erases: bool) -> Any:
        """Return the shard, loaded again to be optimised in another way."""
        shard, self._shard = self._shard, None
        if shard is not None:
            shard.close()
        made = config(self._dimension, self._quantized_from, erases)
        self._shard = edge.EdgeShard.load(str(self._folder / "shard"), made)
        return self._shard

    def _has_taken_in(self, version: Version) -> bool:
        taken_in = (self._state.notes["library"], self._state.notes["added"], self._state.notes["removed"])
        return taken_in == (version.identity, version.last_number, version.last_removal)

    def _has_erased(self, version: Version) -> bool:
        return bool(self._state.notes.get("erased", 0) >= version.erased)

    def _load(self) -> Any:
        try:
            shard = edge.EdgeShard.load(str(self._folder / "shard"))
        except Exception:
            return None
        try:
            # Loading alone changes files.
            self._state.write(is_closed=False)
        except OSError as error:
            raise unwritable(self._folder, str(error)) from error
        return shard

    def _create(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard = None
        shutil.rmtree(self._folder, ignore_errors=True)
        (self._folder / "shard").mkdir(parents=True)
        self._shard = edge.EdgeShard.create(str(self._folder / "shard"), config(self._dimension, self._quantized_from))
        self._state.begin()
        self._index_fields([*map(equality_key, USUAL_FIELDS), range_key("date", datetime.min), range_key("page", 0.0)])

    def _index_fields(self, keys: Iterable[str]) -> None:
        """Create missing indexes for these filter keys; without one, a filter reads every chunk."""
        assert self._shard is not None
        known = self._state.notes["fields"]
        for key in sorted(set(keys).difference(known))[: max(0, MOST_FIELDS - len(known))]:
            self._shard.update(field_index(key))
            known.append(key)
