"""Searching the chunks of a library on a Qdrant server: vectors exactly or by graph (HNSW), terms by BM25.

Term weights lie in a sparse vector; the question's holds the rarity of its terms, so that their product is the engine's
own BM25. Qdrant's own rarity (its modifier `idf`) isn't used: it also counts what doesn't count any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from answerable.datatypes import FloatArray
from answerable.errors import LibraryError
from answerable.filters import Filter
from answerable.stores.memory.keywords import Scored
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.qdrant.rows import DENSE, SPARSE
from answerable.stores.qdrant.state import State, matches
from answerable.stores.qdrant.values import Conditions, digest, first_of_equals, sparse_vector
from answerable.text.bm25 import rarity

# Up to so many chunks all are scored; with more the server walks its graph, or scores all that pass a narrow filter.
EXACT_UP_TO = 10_000
_MOST_FROM_GRAPH = 1000
_SEARCH_WIDTH = 128
_AT_ONCE = 8
_MOST_KNOWN = 50_000

_CONDITIONS = Conditions(
    one_of=lambda key, values: models.FieldCondition(key=key, match=models.MatchAny(any=values)),
    within=lambda key, bounds: models.FieldCondition(key=key, range=models.Range(**bounds)),
    lacks=lambda key: models.IsEmptyCondition(is_empty=models.PayloadField(key=key)),
    all_of=lambda conditions: models.Filter(must=conditions),
    any_of=lambda conditions: models.Filter(should=conditions),
    none_of=lambda conditions: models.Filter(must_not=conditions),
)


class Search:
    """Searches of one library, each in a state that it is given. Safe to share between threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._frequencies: tuple[tuple[str, int], dict[str, int]] = ("", 0), {}

    def vectors(self, state: State, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """The k highest cosines, best first, ties by number. Raises LibraryError for a vector of another length."""
        check_dimension(state, vector)

        def search(limit: int) -> Iterable[tuple[int, float]]:
            exact = state.chunks <= EXACT_UP_TO or limit > _MOST_FROM_GRAPH
            params = models.SearchParams(exact=exact, hnsw_ef=max(_SEARCH_WIDTH, limit))
            return self._query(state, vector.tolist(), DENSE, limit, _spelt(where), params)

        return first_of_equals(k, search) if state.chunks else []

    def cosines(self, state: State, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """The cosines of these chunks, best first, ties by number."""
        check_dimension(state, vector)
        if not numbers:
            return []
        these, params = models.HasIdCondition(has_id=list(numbers)), models.SearchParams(exact=True)
        found = self._query(state, vector.tolist(), DENSE, len(numbers), [these], params)
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def terms(self, state: State, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """The k highest BM25 scores, best first, ties by number."""
        frequencies = self.frequencies(state, set(terms))
        weights = sparse_vector({term: rarity(state.chunks, count) for term, count in frequencies.items() if count})
        if not weights:
            return []
        question = models.SparseVector(indices=list(weights), values=list(weights.values()))
        return first_of_equals(k, lambda limit: self._query(state, question, SPARSE, limit, _spelt(where), None))

    def frequencies(self, state: State, terms: Collection[str]) -> dict[str, int]:
        """In how many of the chunks that count each term stands. They are counted once for a version of the state."""
        if not state.chunks:
            return dict.fromkeys(terms, 0)
        version = state.identity, state.version
        of, known = self._frequencies
        if of != version or len(known) > _MOST_KNOWN:
            known = {}
        missing = [term for term in terms if term not in known]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            counted = dict(zip(missing, threads.map(lambda term: self._count(state, term), missing), strict=True))
        self._frequencies = version, {**known, **counted}
        return {term: counted[term] if term in counted else known[term] for term in terms}

    def _count(self, state: State, term: str) -> int:
        where = state.counting(matches("terms", digest(term)))
        return self._connection.call(
            lambda client: client.count(state.chunk_collection, count_filter=where, exact=True)
        ).count

    def _query(
        self,
        state: State,
        query: list[float] | models.SparseVector,
        using: str,
        limit: int,
        conditions: Sequence[models.Condition],
        params: models.SearchParams | None,
    ) -> Iterable[tuple[int, float]]:
        counting = state.counting(*conditions)
        found = self._connection.call(
            lambda client: client.query_points(
                state.chunk_collection,
                query=query,
                using=using,
                query_filter=counting,
                search_params=params,
                limit=limit,
                with_payload=False,
            )
        )
        return ((int(point.id), float(point.score)) for point in found.points)


def _spelt(where: Filter | None) -> Sequence[models.Condition]:
    return [_CONDITIONS.spell(where)] if where is not None else []


def check_dimension(state: State, vector: FloatArray) -> None:
    """Raises LibraryError where a vector doesn't have as many numbers as the library's."""
    expected = state.fingerprint.dimension if state.fingerprint else None
    if expected is not None and len(vector) != expected:
        raise LibraryError(
            f"The library's vectors have {expected} numbers, this one has {len(vector)}. Use the embedder that the "
            f"library was made with, {state.fingerprint}, or another library with --library."
        )
