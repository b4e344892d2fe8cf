"""How Qdrant Edge stores chunks: vectors, hashed terms with their BM25 weights, hashed fields; no texts.

With many chunks a search scans all vectors at 2 bits a dimension (TurboQuant, Zandieh et al. 2025, arXiv:2504.19874,
which needs no training) and rescores the best with the full vectors. That takes 9 ns a chunk and finds .997 of the ten
nearest of a million, filtered or not. A graph is faster for larger libraries, but it misses copies of a text, which
every archive has, takes far longer to build, and finds much less if few chunks pass a filter.
All large data is in files that are mapped into memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import qdrant_edge as edge

from answerable.stores.embedded.database.database import Entry
from answerable.stores.hashed import Conditions, field_numbers, sparse_vector
from answerable.text.bm25 import term_weights

# Chunks per optimisation: those not yet quantised are in memory.
TOGETHER = 350_000
# Further fields are filtered without an index: each index takes files and memory, and metadata may have any field.
MOST_FIELDS = 64

_NOTHING = edge.HasIdCondition(set())
_EVERYTHING = edge.Filter(must_not=[_NOTHING])
# Rescored vectors per segment, and their minimum as a multiple of the number requested.
_SCORED_AGAIN = 500
_AT_LEAST = 1.25
# Above this number segments are merged, the smallest first.
_SEGMENTS = 8
# In kilobytes.
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
    # The engine's defaults: a fifth of a segment, of at least a thousand chunks.
    share, fewest = (0.0, 0) if erases else (0.2, 1000)
    return edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={"terms": edge.EdgeSparseVectorParams(memory=edge.Memory.Cached)},
        quantization_config=edge.TurboQuantQuantizationConfig(
            bits=edge.TurboQuantBitSize.Bits2, memory=edge.Memory.Cached
        ),
        # No graph at any size.
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=1, full_scan_threshold=_ANY_SIZE, payload_m=0),
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=quantized_from * dimension * 4 // 1024,
            max_segment_size=_ANY_SIZE,
            default_segment_number=_SEGMENTS,
            deleted_threshold=share,
            vacuum_min_vector_number=fewest,
        ),
        # No log is needed: the database has everything that an index may lose.
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
    """Return the parameters for searching the `limit` best vectors."""
    again = edge.QuantizationSearchParams(rescore=True, oversampling=max(_SCORED_AGAIN / limit, _AT_LEAST))
    return edge.SearchParams(quantization=again)


EXACTLY = edge.SearchParams(exact=True)
"""Compare the whole vectors of all chunks that pass."""


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
