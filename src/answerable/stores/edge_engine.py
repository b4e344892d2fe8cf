"""How Qdrant Edge is told to keep chunks: numbers only, vectors, hashed terms with their BM25 weights, hashed fields.

Vectors are searched by a graph (HNSW, Malkov & Yashunin 2018) over 8-bit numbers, a quarter of the size; what that
finds is scored again with the whole vectors. Everything large is in files that are mapped into memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import qdrant_edge as edge

from answerable.analysis.bm25 import term_weights
from answerable.stores.database import Entry
from answerable.stores.qdrant_values import Conditions, field_numbers, sparse_vector

# Below this many chunks a scan of all vectors takes a few milliseconds; building the graph takes a minute.
GRAPH_FROM = 20_000
# So many are taken in, and searched, as one: what isn't in the graph yet is in memory, and so is a graph being built.
TOGETHER = 200_000
# More fields than that are filtered without an index: each takes files and memory, and metadata may have any.
MOST_FIELDS = 64

CONDITIONS = Conditions(
    one_of=lambda key, values: edge.FieldCondition(key=key, match=edge.MatchAny(values)),
    within=lambda key, bounds: edge.FieldCondition(key=key, range=edge.RangeFloat(**bounds)),
    lacks=lambda key: edge.IsEmptyCondition(key),
    all_of=lambda conditions: edge.Filter(must=conditions),
    any_of=lambda conditions: edge.Filter(should=conditions),
    none_of=lambda conditions: edge.Filter(must_not=conditions),
)
# Copies of a text are neighbours only of each other, and a graph loses sight of them: each chunk has links among those
# of its block too, where its copies are few.
_BLOCK = "block"
# Blocks of 3,000 were best; neighbouring chunks, which are often alike, are of different ones.
_BLOCKS = 32
_BLOCKS_FILL = _BLOCKS * 3000
_LINKS = 32
_CARE = 128
# In kilobytes of vectors: smaller blocks get no links of their own.
_LEAST_BLOCK = 100
# How many chunks a search by the graph keeps in sight; under a filter it looks at the neighbours' neighbours of each.
_IN_SIGHT = 768
_IN_SIGHT_FILTERED = 256
# So many are sooner scored than found by the graph.
_EXACT_UP_TO = 20_000
# From this share on, enough neighbours pass a filter for the graph to be walked as without one.
_MOST_PASS = 0.4


def config(dimension: int, graph_from: int) -> Any:
    """What a new index of vectors of so many dimensions is made with."""
    return edge.EdgeConfig(
        vectors={"dense": edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={"terms": edge.EdgeSparseVectorParams(memory=edge.Memory.Cached)},
        quantization_config=edge.ScalarQuantizationConfig(edge.ScalarType.Int8, memory=edge.Memory.Cached),
        hnsw_config=edge.HnswIndexConfig(
            m=_LINKS, ef_construct=_CARE, full_scan_threshold=_LEAST_BLOCK, payload_m=_LINKS
        ),
        optimizers=edge.EdgeOptimizersConfig(
            indexing_threshold=graph_from * dimension * 4 // 1024,
            max_segment_size=TOGETHER * dimension * 5 // 1024,
        ),
        # The database is the log: what an index loses, it takes in again.
        wal_enabled=False,
    )


def block_index() -> Any:
    """Makes an index of blocks."""
    kind = edge.IntegerIndexParams(lookup=True, range=False, enable_hnsw=True, memory=edge.Memory.Cached)
    return edge.UpdateOperation.create_field_index(_BLOCK, kind)


def field_index(key: str) -> Any:
    """Makes an index for a key of `field_numbers`, so that filters needn't read every chunk."""
    if key.startswith("e"):
        kind: Any = edge.IntegerIndexParams(lookup=True, range=False, enable_hnsw=False, memory=edge.Memory.Cached)
    else:
        kind = edge.FloatIndexParams(enable_hnsw=False, memory=edge.Memory.Cached)
    return edge.UpdateOperation.create_field_index(key, kind)


def search_params(passing: int, chunks: int) -> Any:
    """How vectors are searched where about so many of the chunks pass a filter, or all."""
    is_hard = passing < _MOST_PASS * chunks
    return edge.SearchParams(
        hnsw_ef=_IN_SIGHT_FILTERED if is_hard else _IN_SIGHT,
        exact=is_hard and passing <= _EXACT_UP_TO,
        # Unless told to, the engine gives the scores of the 8-bit numbers.
        quantization=edge.QuantizationSearchParams(rescore=True),
        acorn=edge.AcornSearchParams(enable=is_hard, max_selectivity=_MOST_PASS),
    )


EXACTLY = edge.SearchParams(exact=True)
"""All that pass are scored."""


def point(entry: Entry) -> Any:
    """A chunk as the engine takes it."""
    vectors: dict[str, Any] = {"dense": entry.vector.tolist()}
    if entry.terms:
        vectors["terms"] = sparse(term_weights(entry.terms))
    return edge.Point(entry.number, vectors, payload(entry))


def payload(entry: Entry) -> dict[str, list[Any]]:
    """What is kept of a chunk beside its vectors."""
    return {**field_numbers(entry.fields), _BLOCK: [_block(entry.number)]}


def _block(number: int) -> int:
    return number // _BLOCKS_FILL * _BLOCKS + number % _BLOCKS


def sparse(weights: Mapping[str, float]) -> Any:
    """Weights of terms as the engine takes them."""
    hashed = sparse_vector(weights)
    return edge.SparseVector(list(hashed), list(hashed.values()))
