"""Compares the search index of an embedded library with its database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import qdrant_edge as edge

from answerable.protocols import Difference, Issue
from answerable.stores.embedded.database.database import Database, Entry
from answerable.stores.hashed import field_numbers, sparse_vector
from answerable.text.bm25 import term_weights

_BATCH = 500
_SAME = 0.9999
_WHERE = "index"


def issues(shard: Any, database: Database) -> list[Issue]:
    """Return the faults of the index: chunks that are missing, differ from the database, or were removed."""
    missing = wrong = found = 0
    with database.changes(0, 0) as (_, entries, _):
        for batch in _batches(entries):
            points = {int(point.id): point for point in shard.retrieve([entry.number for entry in batch], True, True)}
            found += len(points)
            missing += len(batch) - len(points)
            wrong += sum(not _agrees(points[entry.number], entry) for entry in batch if entry.number in points)
        extra = int(shard.count(edge.CountRequest(exact=True))) - found
    counted = (
        (Difference.MISSING, missing, "passages aren't in the index"),
        (Difference.VECTORS, wrong, "passages are in the index with other vectors, terms or fields"),
        (Difference.ORPHANED, extra, "index entries belong to no passage"),
    )
    return [Issue(kind, _WHERE, f"{count:,} {what}") for kind, count, what in counted if count]


def _batches(entries: Iterable[Entry]) -> Iterator[Sequence[Entry]]:
    waiting = iter(entries)
    while batch := list(islice(waiting, _BATCH)):
        yield batch


def _agrees(point: Any, entry: Entry) -> bool:
    dense = np.asarray(point.vector.get("dense", ()), np.float32)
    # The engine normalises vectors.
    if dense.shape != entry.vector.shape or float(dense @ entry.vector) < _SAME * float(np.linalg.norm(entry.vector)):
        return False
    sparse = point.vector.get("terms")
    weights = dict(zip(sparse.indices, sparse.values, strict=True)) if sparse is not None else {}
    expected = sparse_vector(term_weights(entry.terms))
    same_terms = weights.keys() == expected.keys() and all(
        math.isclose(weights[term], weight, rel_tol=1e-5) for term, weight in expected.items()
    )
    return same_terms and (point.payload or {}) == field_numbers(entry.fields)
