"""Searches of entries and postings: vectors exactly or by binary quantisation, terms by BM25.

A search by codes finds the vectors with the nearest codes, keeps those with the highest cosines, and returns all
entries with these vectors. If few chunks pass a filter, all of them are scored.

A search by terms skips the postings of common terms if no chunk can be among the best k by these terms alone (MaxScore,
Turtle & Flood 1995). It looks them up only for chunks whose rare terms score high enough.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint
from answerable.stores.exact import Scored
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.rows import EXACT_UP_TO, OF_A_VECTOR, fingerprint
from answerable.stores.postgres.values import Condition, condition, fields_to_json, key, numbers_to_text
from answerable.text.indexed_text import TEXT_HASH
from answerable.text.terms import rarity

# Most results for a search by codes: only evaluations request more, and these compare all vectors.
_MOST_BY_CODES = 1000
# If at most this many chunks pass a filter, all their vectors are compared. A round number, not measured.
_FEW_VECTORS = 20_000
# If at most this many chunks pass a filter, all their terms are looked up. A round number, not measured.
_FEW_TERMS = 10_000
# Full vectors to compare per requested result, after the search by codes.
_COMPARED_FOR_EACH = 5
# Least full vectors to compare: .983 of the ten nearest are found, .980 with 400 (benchmarks/RESULTS.md).
_LEAST_COMPARED = 500
# Per cent of the codes in the sample that estimates the distance of the nearest. A guess, not measured.
_SAMPLED_PERCENT = 4
# Codes that pass the filter to sort at first, per full vector to compare. A guess, not measured.
_FIRST_REACH = 2
# Factor by which the number of sorted codes grows if too few of them pass the filter. A guess, not measured.
_FARTHER = 8
# The first guess at the k-th best score, as a share of the highest score that a chunk could have.
_GUESSED_SHARE = 0.05
# The next guess, if the first was too high, as a share of the k-th best score found by rare terms.
_SURE_SHARE = 0.5
# Chunks with rare terms to rank at first, per requested result.
_RANKED_FOR_EACH = 10
# Relative error of a sum of scores: its rounding depends on the order of its terms.
_ROUNDING = 1e-9

# One row with arrays, which is read faster than a row for each chunk.
_LISTED = """
    SELECT coalesce(array_agg(number), ARRAY[]::bigint[]) AS numbers,
        coalesce(array_agg(score), ARRAY[]::float8[]) AS scores, {extra}
    FROM ({best} ORDER BY score DESC, number LIMIT %s) AS best
"""
# The embedder of the vectors, read in the same snapshot.
_MADE_BY = "(SELECT fingerprint FROM library) AS fingerprint"
_EXACT = _LISTED.format(
    extra=_MADE_BY, best="SELECT number, -(vector <#> %s::vector) AS score FROM entries WHERE {where}"
)
# Sorting all codes takes longer than comparing them, so a sample estimates the distance up to which codes are sorted.
# Copies of a text share one vector; a vector counts if any entry with it passes the filter.
_BY_CODES = f"""
    WITH asked AS MATERIALIZED (
        SELECT {OF_A_VECTOR} AS asked
    ), sample AS MATERIALIZED (
        SELECT coalesce((
            SELECT sketch <~> asked FROM sketches TABLESAMPLE SYSTEM ({_SAMPLED_PERCENT}) REPEATABLE (0)
            ORDER BY 1 OFFSET %s LIMIT 1
        ), 'infinity') AS reach FROM asked
    ), likely AS MATERIALIZED (
        SELECT digest FROM (
            SELECT digest FROM sketches
            WHERE sketch <~> (SELECT asked FROM asked) <= (SELECT reach FROM sample)
            ORDER BY sketch <~> (SELECT asked FROM asked), digest
        ) AS ranked {{passed}} LIMIT %s
    ), nearest AS MATERIALIZED (
        SELECT digest, -(vector <#> %s::vector) AS score FROM likely
        JOIN LATERAL (SELECT vector FROM entries WHERE entries.digest = likely.digest LIMIT 1) AS one ON true
        ORDER BY score DESC FETCH FIRST %s ROWS WITH TIES
    )
"""
_BY_CODES += _LISTED.format(
    extra=f"{_MADE_BY}, (SELECT count(*) = %s OR (SELECT reach FROM sample) = 'infinity' FROM likely) AS is_enough",
    best="SELECT number, score FROM nearest JOIN entries USING (digest) WHERE {where}",
)
_PASSED = """
    JOIN LATERAL (SELECT FROM entries WHERE entries.{key} = ranked.{key} AND ({where}) LIMIT 1) AS passes ON true
"""
# One statement for all texts: to plan a statement for each text takes longer than to count.
_PLACES = """
    SELECT hash, (SELECT count(*) FROM entries WHERE fields @> has AND ({where})) AS count
    FROM unnest(%s::text[], %s::jsonb[]) AS asked (hash, has)
"""
_ASKED = "SELECT id, term, chunks, highest, (SELECT chunks FROM library) AS total FROM terms WHERE term = ANY (%s)"
# A lateral join makes PostgreSQL read postings by their index even before it has statistics.
_SCORED = """
    SELECT chunk AS number, sum(weight * rarity) AS score FROM unnest(%s::bigint[], %s::float8[]) AS asked (id, rarity)
    JOIN LATERAL (SELECT chunk, weight FROM postings WHERE term = id OFFSET 0) AS stands ON true
    WHERE {among} GROUP BY chunk
"""
_BY_ALL_TERMS = f"WITH {{passing}} scored AS NOT MATERIALIZED ({_SCORED} ORDER BY score DESC, number)" + _LISTED.format(
    extra="false AS is_cut", best="SELECT number, score FROM scored AS ranked {passed}"
)
_BY_RARE_TERMS = f"""
    WITH {{passing}} scored AS MATERIALIZED (
        {_SCORED} ORDER BY score DESC LIMIT %s
    ), last AS MATERIALIZED (
        SELECT %s::float8 AS reached, (
            SELECT score FROM (SELECT * FROM scored ORDER BY score DESC) AS ranked {{passed}}
            ORDER BY score DESC OFFSET %s LIMIT 1
        ) AS least
    ), likely AS MATERIALIZED (
        SELECT number, score FROM scored, last WHERE least > reached AND score >= least - reached
    ), added AS MATERIALIZED (
        SELECT number, sum(score) AS score FROM (
            SELECT number, score FROM likely
            UNION ALL
            SELECT chunk, weight * rarity FROM unnest(%s::bigint[], %s::float8[]) AS asked (id, rarity)
            JOIN LATERAL (
                SELECT chunk, weight FROM postings
                WHERE term = id AND chunk = ANY (ARRAY(SELECT number FROM likely)) OFFSET 0
            ) AS stands ON true
        ) AS parts GROUP BY number
    )
"""
_BY_RARE_TERMS += _LISTED.format(
    extra="""(SELECT least FROM last), (
        SELECT count(*) = %s AND min(score) >= (SELECT least - reached FROM last) FROM scored
    ) AS is_cut""",
    best="SELECT number, score FROM (SELECT * FROM added ORDER BY score DESC, number) AS ranked {passed}",
)
_EVERYTHING: Condition = ("true", [])

Bound: TypeAlias = "tuple[Fingerprint | None, Scored]"
"""The embedder of the vectors that were compared, and the results."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a question: its inverse document frequency, and the most that it and all commoner terms can score."""

    id: int
    rarity: float
    bound: float


def search_vectors(connection: Connection, vector: FloatArray, k: int, where: Filter | None) -> Bound:
    """Return number and cosine of the k nearest chunks, best first; equal cosines in the order of the numbers."""
    passing = condition(where) if where is not None else _EVERYTHING
    total = _count(connection)
    # The server's statistics are out of date at times: for an emptied library they may still estimate many chunks.
    expected = total if where is None else min(total, _expected(connection, passing))
    if k <= _MOST_BY_CODES and expected > (EXACT_UP_TO if where is None else _FEW_VECTORS):
        made_by, found = _by_codes(connection, vector, k, passing, expected / total)
        # There may be no codes yet.
        if found:
            return made_by, found
    text, parameters = passing
    return _bound(_row(connection, _EXACT.format(where=text), [vector, *parameters, k]))


def cosines(connection: Connection, vector: FloatArray, numbers: Sequence[int]) -> Bound:
    """Return number and cosine of these chunks, best first; equal cosines in the order of the numbers."""
    parameters = [vector, numbers_to_text(numbers), len(numbers)]
    return _bound(_row(connection, _EXACT.format(where="number = ANY (%s::bigint[])"), parameters))


def count_places(connection: Connection, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
    """Return, by hash of a text, how many of the chunks that pass `where` have this text (see `text.indexed_text`)."""
    text, parameters = condition(where) if where is not None else _EVERYTHING
    asked = list(hashes), [fields_to_json({TEXT_HASH: [each]}) for each in hashes]
    rows = connection.execute(_PLACES.format(where=text), [*parameters, *asked])
    return {row["hash"]: row["count"] for row in rows}


def search_terms(
    connection: Connection,
    terms: Sequence[str],
    k: int,
    where: Filter | None,
    rarities: Mapping[str, float] | None = None,
) -> Scored:
    """Return number and BM25 score of the k best chunks, best first; equal scores in the order of the numbers."""
    asked = _asked(connection, terms, rarities)
    parts, before, after = _parts(connection, where)
    guess = _GUESSED_SHARE * asked[0].bound if asked else 0.0
    while True:
        rare = [term for term in asked if term.bound >= guess]
        common = asked[len(rare) :]
        if not common:
            return _listed(_row(connection, _BY_ALL_TERMS.format(**parts), [*before, *_columns(rare), *after, k]))
        reached = common[0].bound
        # A filter that is applied in the order of scores may need all chunks.
        ranked = None if after else _RANKED_FOR_EACH * k
        values = [*before, *_columns(rare), ranked, reached, *after, k - 1, *_columns(common), ranked, *after, k]
        row = _row(connection, _BY_RARE_TERMS.format(**parts), values)
        if row["is_cut"]:
            # Too many chunks may be among the best k: it is faster to read all terms of all chunks.
            guess = 0.0
        elif row["least"] is None or row["least"] <= reached:
            # `least` is the k-th best score by rare terms alone, so commoner terms that can't add up to it may be
            # left out. The lower the guess, the fewer chunks the common terms are looked up for.
            guess = _SURE_SHARE * (row["least"] or 0.0)
        else:
            return _listed(row)


def _parts(connection: Connection, where: Filter | None) -> tuple[dict[str, str], list[Any], list[Any]]:
    """Return a filter's parts of the statement, and its parameters at the statement's beginning and later in it."""
    if where is None:
        return {"passing": "", "among": "true", "passed": ""}, [], []
    text, parameters = condition(where)
    if _expected(connection, (text, parameters)) <= _FEW_TERMS:
        # Filter once, then look up the postings.
        passing = f"passing AS MATERIALIZED (SELECT number FROM entries WHERE {text}),"
        return {"passing": passing, "among": "chunk IN (SELECT number FROM passing)", "passed": ""}, parameters, []
    # Filter in the order of scores, until enough have passed.
    return {"passing": "", "among": "true", "passed": _PASSED.format(key="number", where=text)}, [], parameters


def _columns(terms: Sequence[_Term]) -> tuple[str, str]:
    return numbers_to_text([term.id for term in terms]), numbers_to_text([term.rarity for term in terms])


def _asked(connection: Connection, terms: Sequence[str], rarities: Mapping[str, float] | None) -> list[_Term]:
    """Return the terms that occur in the library, rarest first."""
    keys = {key(term): term for term in terms}
    rows = connection.execute(_ASKED, (list(keys),)).fetchall()
    found: list[_Term] = []
    bound = 0.0
    for row in sorted(rows, key=lambda row: (-row["chunks"], row["id"])):
        by = rarity(row["total"], row["chunks"]) if rarities is None else rarities[keys[row["term"]]]
        bound += by * row["highest"] * (1 + _ROUNDING)
        found.append(_Term(row["id"], by, bound))
    return found[::-1]


def _by_codes(connection: Connection, vector: FloatArray, k: int, passing: Condition, share: float) -> Bound:
    """Approximate `search_vectors`; find nothing if there are no codes. About this `share` of the chunks passes."""
    text, parameters = passing
    compared = max(_COMPARED_FOR_EACH * k, _LEAST_COMPARED)
    # Filter in order, until enough have passed.
    passed = "" if passing is _EVERYTHING else _PASSED.format(key="digest", where=text)
    statement = _BY_CODES.format(passed=passed, where=text)
    reach = _FIRST_REACH * compared / share
    while True:
        sampled = int(reach * _SAMPLED_PERCENT / 100)
        values = [vector, sampled, *parameters, compared, vector, k, compared, *parameters, k]
        row = _row(connection, statement, values)
        if row["is_enough"]:
            return _bound(row)
        reach *= _FARTHER


def _count(connection: Connection) -> int:
    row = connection.execute("SELECT chunks FROM library").fetchone()
    return int(row["chunks"]) if row else 0


def _expected(connection: Connection, passing: Condition) -> int:
    """Return the server's estimate of how many chunks pass a filter: to count them takes as long as a search."""
    text, parameters = passing
    (row,) = connection.execute(f"EXPLAIN (FORMAT JSON) SELECT FROM entries WHERE {text}", parameters).fetchall()
    return int(row["QUERY PLAN"][0]["Plan"]["Plan Rows"])


def _row(connection: Connection, statement: str, parameters: Sequence[Any]) -> Mapping[str, Any]:
    (row,) = connection.execute(statement, parameters, binary=True).fetchall()
    return row


def _listed(row: Mapping[str, Any]) -> Scored:
    return list(zip(row["numbers"], row["scores"], strict=True))


def _bound(row: Mapping[str, Any]) -> Bound:
    return fingerprint(row), _listed(row)
