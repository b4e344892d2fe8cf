"""How Qdrant Edge is told to keep chunks: numbers only, vectors, hashed terms with their BM25 weights, hashed fields.

Of many chunks, vectors are searched by looking at all of them at 2 bits a dimension (TurboQuant, Zandieh et al. 2025,
arXiv:2504.19874, which needs no training); what that finds is scored again with the whole vectors. That takes 9 ns a
chunk and finds .997 of the ten nearest of a million, filtered or not. A graph is quicker beyond that, but loses copies
of texts, which every archive has, takes far longer to build, and finds much less where few chunks pass a filter.
Everything large is in files that are mapped into memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import qdrant_edge as edge

from answerable.stores.embedded.database.database import Entry
from answerable.stores.qdrant.values import Conditions, field_numbers, sparse_vector
from answerable.text.bm25 import term_weights

# So many are taken in as one: what isn't quantised yet is in memory.
TOGETHER = 350_000
# More fields than that are filtered without an index: each takes files and memory, and metadata may have any.
MOST_FIELDS = 64

_NOTHING = edge.HasIdCondition(set())
_EVERYTHING = edge.Filter(must_not=[_NOTHING])
# So many of each segment are scored again, and at least so many times as many as are asked for.
_SCORED_AGAIN = 500
_AT_LEAST = 1.25
# More than so many are merged, the smallest first.
_SEGMENTS = 8
# In kilobytes.
_ANY_SIZE = 1_000_000_000


def conditions(known: Collection[str]) -> Conditions:
    """How filters are spelt for an index that has indexed these keys.

    What isn't indexed takes reading every chunk, for each condition. While there is room for more indexes, no chunk has
    a key that isn't known.
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


def config(dimension: int, quantized_from: int) -> Any:
    """What a new index of vectors of so many dimensions is made with."""
    return edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={"terms": edge.EdgeSparseVectorParams(memory=edge.Memory.Cached)},
        quantization_config=edge.TurboQuantQuantizationConfig(
            bits=edge.TurboQuantBitSize.Bits2, memory=edge.Memory.Cached
        ),
        # No graph, whatever the size.
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=1, full_scan_threshold=_ANY_SIZE, payload_m=0),
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=quantized_from * dimension * 4 // 1024,
            max_segment_size=_ANY_SIZE,
            default_segment_number=_SEGMENTS,
        ),
        # The database is the log: what an index loses, it takes in again.
        wal_enabled=False,
    )


def field_index(key: str) -> Any:
    """Makes an index for a key of `field_numbers`, so that filters needn't read every chunk."""
    if key.startswith("e"):
        kind: Any = edge.IntegerIndexParams(lookup=True, range=False, enable_hnsw=False, memory=edge.Memory.Cached)
    else:
        kind = edge.FloatIndexParams(enable_hnsw=False, memory=edge.Memory.Cached)
    return edge.UpdateOperation.create_field_index(key, kind)


def search_params(limit: int) -> Any:
    """How vectors are searched for so many."""
    again = edge.QuantizationSearchParams(rescore=True, oversampling=max(_SCORED_AGAIN / limit, _AT_LEAST))
    return edge.SearchParams(quantization=again)


EXACTLY = edge.SearchParams(exact=True)
"""The whole vectors of all that pass are looked at."""


def point(entry: Entry) -> Any:
    """A chunk as the engine takes it."""
    vectors: dict[str, Any] = {"dense": entry.vector.tolist()}
    if entry.terms:
        vectors["terms"] = sparse(term_weights(entry.terms))
    return edge.Point(entry.number, vectors, field_numbers(entry.fields))


def sparse(weights: Mapping[str, float]) -> Any:
    """Weights of terms as the engine takes them."""
    hashed = sparse_vector(weights)
    return edge.SparseVector(list(hashed), list(hashed.values()))
