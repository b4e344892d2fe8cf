"""The search index of an embedded library: Qdrant Edge, run in this process, derived from the database.

The index contains only numbers: vectors, hashed terms with their BM25 weights, hashed fields; no text. `state.json`
records which chunks of the database are indexed and the state of the index's files (see `state`); after any mismatch
the index is rebuilt.

With many chunks a search scans all vectors at 2 bits per dimension (TurboQuant, Zandieh et al. 2025, arXiv:2504.19874,
which needs no training) and rescores the best with the full vectors. That takes 9 ns a chunk and finds .997 of the ten
nearest of a million, filtered or not. A graph is faster for larger libraries, but it misses copies of a text, which
every archive has, takes far longer to build, and finds much less if few chunks pass a filter.
All large data is in files that are mapped into memory.
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
from answerable.disk.files import require_room, unwritable
from answerable.errors import DiskFull, LibraryError
from answerable.filters import Filter
from answerable.stores.embedded.database import Database, Entry
from answerable.stores.embedded.file import Version
from answerable.stores.embedded.state import EdgeState
from answerable.stores.exact import Scored
from answerable.stores.hashed import (
    USUAL_FIELDS,
    Conditions,
    equality_key,
    field_numbers,
    first_of_equals,
    hash_value,
    range_key,
    sparse_vector,
)
from answerable.text.indexed_text import TEXT_HASH
from answerable.text.terms import term_weights

# Since format 4, every chunk has the hash of its text.
FORMAT = 4
# Chunks per request to the engine: a round number, not measured.
_BATCH = 500
# Bytes for the terms and fields of a chunk: a generous guess, so that DiskFull is raised before the disk is full.
_ROOM_FOR_TERMS = 4_096


class EdgeIndex:
    """The index in `folder`, opened or rebuilt, and kept up to date with `database`.

    Only one process may open an index at a time, and a full disk may kill that process (see `process`). With more
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
        """Add chunks that the index lacks, delete removed ones, and erase their data once the database has done so."""
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
            # Whatever has failed in the engine, the index can be rebuilt from the database.
            self._build()

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first; approximate for many chunks."""
        nearest = edge.Query.Nearest(vector.tolist(), using="dense")
        return self._query(nearest, k, self._condition(where), search_params)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        nearest = edge.Query.Nearest(vector.tolist(), using="dense")
        these = edge.Filter(must=[edge.HasIdCondition(set(numbers))])
        return self._query(nearest, len(numbers), these, lambda _: EXACTLY) if numbers else []

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float]) -> Scored:
        """Return number and BM25 score of the k best chunks; `rarities` are the terms' inverse document frequencies."""
        asked = sparse({term: rarities[term] for term in terms})
        return self._query(edge.Query.Nearest(asked, using="terms"), k, self._condition(where)) if terms else []

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return, by hash of a text, how many chunks that pass `where` have this text (see `text.indexed_text`)."""
        assert self._shard is not None
        key = equality_key(TEXT_HASH)
        numbers = {each: hash_value(each) for each in hashes}
        needed: list[Any] = [edge.FieldCondition(key=key, match=edge.MatchAny(list(numbers.values())))]
        if where is not None:
            needed.append(self._condition(where))
        # With a low limit the engine counts in a sample, and may miss rare texts. With the highest possible limit it
        # counts all texts, much faster than with `exact`, which counts each text separately.
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

    def _condition(self, where: Filter | None) -> Any:
        translate = conditions(self._state.notes["fields"]).translate
        return None if where is None else edge.Filter(must=[translate(where)])

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
        with self._database.changes(*self._known()) as (version, added, removed):
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
                # Deletion only marks points as deleted: overwrite their vectors first.
                blank = [edge.Point(number, {"dense": [0.0] * self._dimension}, {}) for number in gone]
                self._shard.update(edge.UpdateOperation.upsert_points(blank))
                self._shard.update(edge.UpdateOperation.delete_points(list(gone)))
        waiting = self._state.notes["waiting"] + fresh
        if waiting > self._quantized_from:
            # The engine writes a new copy before it deletes the old one.
            self._require_room(version.chunks)
            self._shard.optimize()
            waiting = 0
        self._shard.flush()
        if self._shard.count(edge.CountRequest(exact=True)) != version.chunks:
            raise RuntimeError("the engine has lost or repeated points")
        taken_in = {"added": version.last_number, "removed": version.last_removal, "filled": version.last_filled}
        self._state.notes.update(library=version.identity, waiting=waiting, **taken_in)
        if self._state.notes.get("erased", 0) is None:
            # A new index never contained the chunks that were removed before.
            self._state.notes["erased"] = version.last_removal
        self._state.write(is_closed=False)

    def _erase(self, chunks: int) -> None:
        """Rewrite every segment that deleted chunks have left data in, if there is room, and delete the old files."""
        try:
            self._require_room(chunks)
        except DiskFull:
            # A full disk must not make searches fail: erase another time.
            return
        shard = self._reloaded(erases=True)
        shard.optimize()
        shard.flush()
        self._reloaded(erases=False)
        self._state.notes.update(erased=self._state.notes["removed"], waiting=0)
        self._state.write(is_closed=False)

    def _reloaded(self, erases: bool) -> Any:
        """Load the shard again with another configuration of its optimiser, and return it."""
        shard, self._shard = self._shard, None
        if shard is not None:
            shard.close()
        made = config(self._dimension, self._quantized_from, erases)
        self._shard = edge.EdgeShard.load(str(self._folder / "shard"), made)
        return self._shard

    def _has_taken_in(self, version: Version) -> bool:
        taken_in = self._state.notes["library"], *self._known()
        return taken_in == (version.identity, version.last_number, version.last_removal, version.last_filled)

    def _known(self) -> tuple[int, int, int]:
        """Return the last chunk, removal and filled chunk that are in the index. Earlier versions filled none."""
        notes = self._state.notes
        return notes["added"], notes["removed"], notes.get("filled", 0)

    def _has_erased(self, version: Version) -> bool:
        return bool(self._state.notes.get("erased", 0) >= version.erased)

    def _load(self) -> Any:
        try:
            shard = edge.EdgeShard.load(str(self._folder / "shard"))
        except Exception:
            return None
        try:
            # Loading the shard has changed its files.
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


# Chunks per optimisation: chunks not yet quantised are in memory, half a GB with 384 dimensions.
TOGETHER = 350_000
# Maximum number of indexed fields: metadata may have any number, and each index takes files and memory.
MOST_FIELDS = 64

_NOTHING = edge.HasIdCondition(set())
_EVERYTHING = edge.Filter(must_not=[_NOTHING])
# Vectors to rescore per segment (1,000 find .999 of the hundred nearest, benchmarks/RESULTS.md).
_SCORED_AGAIN = 500
# Least vectors to rescore, as a multiple of the number of results requested. A guess, not measured.
_AT_LEAST = 1.25
# Most segments: with more, the smallest are merged. A round number, not measured.
_SEGMENTS = 8
# Kilobytes; larger than any segment, so no limit applies.
_ANY_SIZE = 1_000_000_000


def conditions(known: Collection[str]) -> Conditions:
    """Return the filter syntax for an index with these indexed keys.

    As long as fewer than `MOST_FIELDS` keys are indexed, every key that a chunk has is indexed, so a condition on
    another key matches nothing. After that, each condition on a key without an index reads every chunk.
    """
    is_full = len(known) >= MOST_FIELDS
    return Conditions(
        one_of=lambda key, values: (
            edge.FieldCondition(key=key, match=edge.MatchAny(values)) if is_full or key in known else _NOTHING
        ),
        within=lambda key, bounds: (
            edge.FieldCondition(key=key, range=edge.RangeFloat(**bounds)) if is_full or key in known else _NOTHING
        ),
        lacks=lambda key: edge.IsEmptyCondition(key) if is_full or key in known else _EVERYTHING,
        all_of=lambda conditions: edge.Filter(must=conditions),
        any_of=lambda conditions: edge.Filter(should=conditions),
        none_of=lambda conditions: edge.Filter(must_not=conditions),
    )


def config(dimension: int, quantized_from: int, erases: bool = False) -> Any:
    """Return the configuration of an index; with `erases`, optimising rewrites every segment with a deleted chunk."""
    # By default, as in the engine, optimise a segment of at least 1,000 chunks once a fifth of them is deleted.
    share, fewest = (0.0, 0) if erases else (0.2, 1000)
    return edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={"terms": edge.EdgeSparseVectorParams(memory=edge.Memory.Cached)},
        quantization_config=edge.TurboQuantQuantizationConfig(
            bits=edge.TurboQuantBitSize.Bits2, memory=edge.Memory.Cached
        ),
        # Build no graph, however many chunks there are.
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=1, full_scan_threshold=_ANY_SIZE, payload_m=0),
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=quantized_from * dimension * 4 // 1024,
            max_segment_size=_ANY_SIZE,
            default_segment_number=_SEGMENTS,
            deleted_threshold=share,
            vacuum_min_vector_number=fewest,
        ),
        # No log is needed: whatever the index loses can be read from the database.
        wal_enabled=False,
    )


def field_index(key: str) -> Any:
    """Return the operation that indexes a key of `field_numbers` for filters."""
    if key.startswith("e"):
        kind: Any = edge.IntegerIndexParams(lookup=True, range=False, enable_hnsw=False, memory=edge.Memory.Cached)
    else:
        kind = edge.FloatIndexParams(enable_hnsw=False, memory=edge.Memory.Cached)
    return edge.UpdateOperation.create_field_index(key, kind)


def search_params(limit: int) -> Any:
    """Return the parameters of a search for the `limit` nearest vectors."""
    again = edge.QuantizationSearchParams(rescore=True, oversampling=max(_SCORED_AGAIN / limit, _AT_LEAST))
    return edge.SearchParams(quantization=again)


EXACTLY = edge.SearchParams(exact=True)
"""Search parameters that compare the full vectors of all chunks that pass the filter."""


def point(entry: Entry) -> Any:
    """Return a chunk in the engine's format."""
    vectors: dict[str, Any] = {"dense": entry.vector.tolist()}
    if entry.terms:
        vectors["terms"] = sparse(term_weights(entry.terms))
    return edge.Point(entry.number, vectors, field_numbers(entry.fields))


def sparse(weights: Mapping[str, float]) -> Any:
    """Return the weights of terms as a sparse vector in the engine's format."""
    hashed = sparse_vector(weights)
    return edge.SparseVector(list(hashed), list(hashed.values()))
