"""Searching entries and postings: vectors exactly or with a graph (HNSW, Malkov & Yashunin 2018), terms by BM25.

The graph holds vectors in half precision, at half the size; its results are rescored with the full vectors. If few
chunks pass a filter, all of them are scored: the graph would find too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.stores.memory.keywords import Scored
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.filters import Condition, condition
from answerable.stores.postgres.values import key, vector_to_text

# Up to this number chunks are scored one by one; larger libraries get a graph.
EXACT_UP_TO = 10_000
# pgvector's limit for half precision.
LONGEST_INDEXED = 4000
_MOST_FROM_GRAPH = 1000

_EXACT = """
    SELECT number, -(vector <#> %s::vector) AS score FROM entries WHERE {where}
    ORDER BY score DESC, number LIMIT %s
"""
_BY_GRAPH = """
    WITH nearest AS MATERIALIZED (
        SELECT number, vector FROM entries WHERE {where}
        ORDER BY vector::halfvec({dimension}) <#> %s::halfvec({dimension}) LIMIT %s
    )
    SELECT number, -(vector <#> %s::vector) AS score FROM nearest ORDER BY score DESC, number
"""
# Lateral, so that postings are read by index even before the server has statistics.
_OWN_RARITIES = """
    SELECT id, ln(1 + (library.chunks - terms.chunks + 0.5)::float8 / (terms.chunks + 0.5)::float8) AS rarity
    FROM terms, library WHERE term = ANY (%s)
"""
_GIVEN_RARITIES = """
    SELECT id, given.rarity FROM unnest(%s::text[], %s::float8[]) AS given (term, rarity) JOIN terms USING (term)
"""
_BY_TERMS = """
    WITH asked AS MATERIALIZED (
        {asked}
    ), passing AS MATERIALIZED (
        {passing}
    ), scored AS MATERIALIZED (
        SELECT chunk AS number, sum(weight * rarity) AS score FROM asked
        JOIN LATERAL (SELECT chunk, weight FROM postings WHERE term = id OFFSET 0) AS stands ON true
        WHERE {among} GROUP BY chunk
    )
    SELECT number, score FROM (SELECT * FROM scored ORDER BY score DESC, number) AS ranked {passed}
    ORDER BY score DESC, number LIMIT %s
"""
_EVERYTHING: Condition = ("true", [])


def search_vectors(connection: Connection, vector: FloatArray, k: int, where: Filter | None) -> Scored:
    """Return number and cosine of the k nearest chunks, best first, ties by number."""
    passing = condition(where) if where is not None else _EVERYTHING
    if k < _MOST_FROM_GRAPH and len(vector) <= LONGEST_INDEXED and not _are_few(connection, passing):
        found = _by_graph(connection, vector, k, passing)
        if found is not None:
            return found
    text, parameters = passing
    return _scored(connection, _EXACT.format(where=text), [vector_to_text(vector), *parameters, k])


def cosines(connection: Connection, vector: FloatArray, numbers: Sequence[int]) -> Scored:
    """Return number and cosine of these chunks, best first, ties by number."""
    parameters = [vector_to_text(vector), list(numbers), len(numbers)]
    return _scored(connection, _EXACT.format(where="number = ANY (%s)"), parameters)


def search_terms(
    connection: Connection,
    terms: Sequence[str],
    k: int,
    where: Filter | None,
    rarities: Mapping[str, float] | None = None,
) -> Scored:
    """Return number and BM25 score of the k best chunks, best first, ties by number."""
    given = {key(term): None if rarities is None else rarities[term] for term in terms}
    asked: str = _OWN_RARITIES
    wanted: list[Any] = [list(given)]
    if rarities is not None:
        asked, wanted = _GIVEN_RARITIES, [list(given), list(given.values())]
    if where is None:
        statement = _BY_TERMS.format(asked=asked, passing="SELECT", among="true", passed="")
        return _scored(connection, statement, [*wanted, k])
    text, parameters = condition(where)
    if _are_few(connection, (text, parameters)):
        # Filter once, then look up the postings.
        passing = f"SELECT number FROM entries WHERE {text}"
        among = "chunk IN (SELECT number FROM passing)"
        statement = _BY_TERMS.format(asked=asked, passing=passing, among=among, passed="")
    else:
        # Filter in the order of scores, until enough have passed.
        passed = f"JOIN LATERAL (SELECT FROM entries WHERE entries.number = ranked.number AND ({text}) LIMIT 1) ON true"
        statement = _BY_TERMS.format(asked=asked, passing="SELECT", among="true", passed=passed)
    return _scored(connection, statement, [*wanted, *parameters, k])


def _by_graph(connection: Connection, vector: FloatArray, k: int, passing: Condition) -> Scored | None:
    """Like `search_vectors`, but approximate; None if the graph finds too few."""
    text, parameters = passing
    statement, wanted = _BY_GRAPH.format(where=text, dimension=len(vector)), vector_to_text(vector)
    limit = k + 10
    while limit <= _MOST_FROM_GRAPH:
        found = _scored(connection, statement, [*parameters, wanted, limit, wanted])
        if len(found) < limit:
            return None
        # The graph returns equal scores in any order: get all of them, to return the lowest numbers.
        if found[-1][1] < found[k - 1][1]:
            return found[:k]
        limit *= 2
    return None


def _are_few(connection: Connection, passing: Condition) -> bool:
    """Whether few enough chunks pass to score them one by one."""
    text, parameters = passing
    # The library's own count is faster.
    counted = f"SELECT count(*) FROM (SELECT FROM entries WHERE {text} LIMIT {EXACT_UP_TO + 1}) AS passing"
    if passing is _EVERYTHING:
        counted = "SELECT chunks FROM library"
    row = connection.execute(f"SELECT ({counted}) AS count", parameters).fetchone()
    return row is None or int(row["count"]) <= EXACT_UP_TO


def _scored(connection: Connection, statement: str, parameters: Sequence[Any]) -> Scored:
    rows = connection.execute(statement, parameters)
    return [(row["number"], row["score"]) for row in rows]
