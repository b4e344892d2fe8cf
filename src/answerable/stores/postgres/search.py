"""Searching entries and postings: vectors exactly or with a graph (HNSW, Malkov & Yashunin 2018), terms by BM25.

The graph holds each vector once, in half precision: entries with the same vector would be neighbours of one another
only, and out of reach from elsewhere. What it finds is scored with the full vector, for each entry that has it. If few
chunks pass a filter, all of them are scored: the graph would find too few.

Postings of common terms are left out where no chunk can reach the best k by these terms alone (MaxScore, Turtle & Flood
1995); they are looked up for the chunks that can, given what they have of the rare terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.stores.memory.keywords import Scored
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.filters import Condition, condition
from answerable.stores.postgres.values import key, vector_to_text
from answerable.text.bm25 import rarity

# Up to this number chunks are scored one by one; larger libraries get a graph.
EXACT_UP_TO = 10_000
# pgvector's limit for half precision.
LONGEST_INDEXED = 4000
_MOST_FROM_GRAPH = 1000
# The first guess at the k-th best score, as a share of the highest that any chunk could reach.
_GUESSED_SHARE = 0.3
# Sums are rounded differently in another order.
_ROUNDING = 1e-9

_EXACT = """
    SELECT number, -(vector <#> %s::vector) AS score FROM entries WHERE {where}
    ORDER BY score DESC, number LIMIT %s
"""
_BY_GRAPH = """
    WITH nearest AS MATERIALIZED (
        SELECT digest, vector FROM entries AS standing WHERE in_graph {passing}
        ORDER BY vector::halfvec({dimension}) <#> %s::halfvec({dimension}) LIMIT %s
    ), scored AS MATERIALIZED (
        SELECT digest, -(vector <#> %s::vector) AS score FROM nearest
    )
    SELECT number, score, count, lowest
    FROM scored JOIN entries USING (digest), (SELECT count(*), min(score) AS lowest FROM scored) AS graph
    WHERE {where} ORDER BY score DESC, number LIMIT %s
"""
# Any of the entries with a vector may pass.
_PASSING = "AND EXISTS (SELECT FROM entries WHERE entries.digest = standing.digest AND ({where}) OFFSET 0)"
_ASKED = "SELECT id, chunks, highest, (SELECT chunks FROM library) AS total FROM terms WHERE term = ANY (%s)"
# Lateral, so that postings are read by index even before the server has statistics.
_BY_TERMS = """
    WITH passing AS MATERIALIZED (
        {passing}
    ), scored AS MATERIALIZED (
        SELECT chunk AS number, sum(weight * rarity) AS score
        FROM unnest(%s::bigint[], %s::float8[]) AS rare (id, rarity)
        JOIN LATERAL (SELECT chunk, weight FROM postings WHERE term = id OFFSET 0) AS stands ON true
        WHERE {among} GROUP BY chunk
    ), last AS MATERIALIZED (
        SELECT %s::float8 AS rest, (
            SELECT score FROM (SELECT * FROM scored ORDER BY score DESC) AS ranked {passed}
            ORDER BY score DESC OFFSET %s LIMIT 1
        ) AS least
    ), added AS MATERIALIZED (
        SELECT number, score + (
            SELECT coalesce(sum(weight * rarity), 0)
            FROM unnest(%s::bigint[], %s::float8[]) AS common (id, rarity)
            JOIN LATERAL (SELECT weight FROM postings WHERE term = id AND chunk = number OFFSET 0) AS stands ON true
        ) AS score
        FROM scored, last WHERE rest = 0 OR (least > rest AND score >= least - rest)
    )
    SELECT number, score, least FROM last LEFT JOIN (
        SELECT number, score FROM (SELECT * FROM added ORDER BY score DESC, number) AS ranked {passed}
        ORDER BY score DESC, number LIMIT %s
    ) AS best ON true ORDER BY score DESC, number
"""
_EVERYTHING: Condition = ("true", [])


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a question, its rarity, and the highest score that a chunk gets by it and all commoner ones."""

    id: int
    rarity: float
    bound: float


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


def search_terms(connection: Connection, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
    """Return number and BM25 score of the k best chunks, best first, ties by number."""
    asked = _asked(connection, terms)
    among, passed = _EVERYTHING, _EVERYTHING
    names = {"passing": "SELECT", "among": "true", "passed": ""}
    before: list[Any] = []
    after: list[Any] = []
    if where is not None:
        text, parameters = condition(where)
        if _are_few(connection, (text, parameters)):
            # Filter once, then look up the postings.
            names["passing"] = f"SELECT number FROM entries WHERE {text}"
            names["among"] = "chunk IN (SELECT number FROM passing)"
            before = parameters
        else:
            # Filter in the order of scores, until enough have passed.
            passes = f"SELECT FROM entries WHERE entries.number = ranked.number AND ({text}) LIMIT 1"
            names["passed"] = f"JOIN LATERAL ({passes}) AS passes ON true"
            after = parameters
    statement = _BY_TERMS.format(**names)
    guess = SHARE * asked[0].bound if asked else 0.0
    while True:
        rare = [term for term in asked if term.bound >= guess]
        common = asked[len(rare):]
        rest = common[0].bound if common else 0.0
        rows = connection.execute(statement, [
            *before, [t.id for t in rare], [t.rarity for t in rare], rest, *after, k - 1,
            [t.id for t in common], [t.rarity for t in common], *after, k]).fetchall()
        least = rows[0]["least"] or 0.0
        TRACE.append((len(rare), len(common), guess, least, rest))
        if not common or least > rest:
            return [(row["number"], row["score"]) for row in rows if row["number"] is not None]
        guess = least

TRACE=[]
SHARE=_GUESSED_SHARE

def _asked(connection: Connection, terms: Sequence[str]) -> list[_Term]:
    """Return the terms that the library has, rarest first."""
    rows = connection.execute(_ASKED, (list({key(term) for term in terms}),)).fetchall()
    found: list[_Term] = []
    bound = 0.0
    for row in sorted(rows, key=lambda row: (-row["chunks"], row["id"])):
        by = rarity(row["total"], row["chunks"])
        bound += by * row["highest"] * (1 + _ROUNDING)
        found.append(_Term(row["id"], by, bound))
    return found[::-1]


def _by_graph(connection: Connection, vector: FloatArray, k: int, passing: Condition) -> Scored | None:
    """Like `search_vectors`, but approximate; None if the graph finds too few."""
    text, parameters = passing
    is_filtered = passing is not _EVERYTHING
    statement = _BY_GRAPH.format(
        where=text, dimension=len(vector), passing=_PASSING.format(where=text) if is_filtered else ""
    )
    wanted = vector_to_text(vector)
    limit = k + 10
    while limit <= _MOST_FROM_GRAPH:
        rows = connection.execute(statement, [*parameters, wanted, limit, wanted, *parameters, k]).fetchall()
        if not rows or rows[0]["count"] < limit:
            return None
        # The graph returns equal scores in any order: get all of them, to return the lowest numbers.
        if rows[0]["lowest"] < rows[-1]["score"]:
            return [(row["number"], row["score"]) for row in rows]
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
