"""Searching entries and postings: vectors exactly or by their sketches, terms by BM25.

Of the vectors with the nearest sketches those with the highest cosines are taken, and of each all entries that have it.
If few chunks pass a filter, all of them are scored.

Postings of common terms are left out where no chunk can reach the best k by these terms alone (MaxScore, Turtle & Flood
1995); they are looked up for the chunks that can, given what they have of the rare terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.protocols import Fingerprint
from answerable.stores.memory.keywords import Scored
from answerable.stores.postgres import sketches
from answerable.stores.postgres.connection import Connection
from answerable.stores.postgres.filters import Condition, condition
from answerable.stores.postgres.rows import fingerprint
from answerable.stores.postgres.sketches import EXACT_UP_TO
from answerable.stores.postgres.values import fields_to_json, key, numbers_to_text
from answerable.text.bm25 import rarity
from answerable.text.places import TEXT_HASH

_MOST_FROM_SKETCHES = 1000
# Up to so many chunks that pass a filter, all their vectors are compared; looking up the terms of all pays sooner.
_FEW_VECTORS = 20_000
_FEW_TERMS = 10_000
# So many vectors for each wanted one, and at least so many, are compared after their sketches.
_COMPARED_FOR_EACH = 5
_LEAST_COMPARED = 500
# The share of sketches in the sample, the number of passing sketches for each compared vector that are sorted at first,
# and how many times as many if too few of them pass.
_SAMPLED_PERCENT = 4
_FIRST_REACH = 2
_FARTHER = 8
# The first guess at the k-th best score, as a share of the highest that any chunk could reach.
_GUESSED_SHARE = 0.05
# Where the first guess was too high: by how much the next is lower than what is known to be reached.
_SURE_SHARE = 0.5
# Of the chunks with the rarer terms, so many for each wanted one are ranked at first.
_RANKED_FOR_EACH = 10
# Sums are rounded differently in another order.
_ROUNDING = 1e-9

# One row: lists are read faster than a row for each chunk.
_LISTED = """
    SELECT coalesce(array_agg(number), ARRAY[]::bigint[]) AS numbers,
        coalesce(array_agg(score), ARRAY[]::float8[]) AS scores, {told}
    FROM ({best} ORDER BY score DESC, number LIMIT %s) AS best
"""
# The embedder of the vectors, of the same snapshot.
_MADE_BY = "(SELECT fingerprint FROM library) AS fingerprint"
_EXACT = _LISTED.format(
    told=_MADE_BY, best="SELECT number, -(vector <#> %s::vector) AS score FROM entries WHERE {where}"
)
# Sorting all sketches takes longer than comparing them: a sample tells how near the nearest are. Copies of a text have
# one vector; any of them may pass the filter.
_BY_SKETCHES = f"""
    WITH asked AS MATERIALIZED (
        SELECT {sketches.OF_A_VECTOR} AS asked
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
_BY_SKETCHES += _LISTED.format(
    told=f"{_MADE_BY}, (SELECT count(*) = %s OR (SELECT reach FROM sample) = 'infinity' FROM likely) AS is_enough",
    best="SELECT number, score FROM nearest JOIN entries USING (digest) WHERE {where}",
)
_PASSED = """
    JOIN LATERAL (SELECT FROM entries WHERE entries.{key} = ranked.{key} AND ({where}) LIMIT 1) AS passes ON true
"""
# One plan for all texts: to plan a count for each takes longer than counting.
_PLACES = """
    SELECT hash, (SELECT count(*) FROM entries WHERE fields @> has AND ({where})) AS count
    FROM unnest(%s::text[], %s::jsonb[]) AS asked (hash, has)
"""
_ASKED = "SELECT id, term, chunks, highest, (SELECT chunks FROM library) AS total FROM terms WHERE term = ANY (%s)"
# Lateral, so that postings are read by index even before the server has statistics.
_SCORED = """
    SELECT chunk AS number, sum(weight * rarity) AS score FROM unnest(%s::bigint[], %s::float8[]) AS asked (id, rarity)
    JOIN LATERAL (SELECT chunk, weight FROM postings WHERE term = id OFFSET 0) AS stands ON true
    WHERE {among} GROUP BY chunk
"""
_BY_ALL_TERMS = f"WITH {{passing}} scored AS NOT MATERIALIZED ({_SCORED} ORDER BY score DESC, number)" + _LISTED.format(
    told="false AS is_cut", best="SELECT number, score FROM scored AS ranked {passed}"
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
    told="""(SELECT least FROM last), (
        SELECT count(*) = %s AND min(score) >= (SELECT least - reached FROM last) FROM scored
    ) AS is_cut""",
    best="SELECT number, score FROM (SELECT * FROM added ORDER BY score DESC, number) AS ranked {passed}",
)
_EVERYTHING: Condition = ("true", [])

Bound: TypeAlias = "tuple[Fingerprint | None, Scored]"
"""What was found, and the embedder of the vectors that were compared."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a question, its rarity, and the highest score that a chunk can get by it and all commoner ones."""

    id: int
    rarity: float
    bound: float


def search_vectors(connection: Connection, vector: FloatArray, k: int, where: Filter | None) -> Bound:
    """Return number and cosine of the k nearest chunks, best first, ties by number."""
    passing = condition(where) if where is not None else _EVERYTHING
    total = _count(connection)
    # Statistics lag behind: a library that was emptied may still be expected to have many.
    expected = total if where is None else min(total, _expected(connection, passing))
    if k <= _MOST_FROM_SKETCHES and expected > (EXACT_UP_TO if where is None else _FEW_VECTORS):
        made_by, found = _by_sketches(connection, vector, k, passing, expected / total)
        # There may be no sketches yet.
        if found:
            return made_by, found
    text, parameters = passing
    return _bound(_row(connection, _EXACT.format(where=text), [vector, *parameters, k]))


def cosines(connection: Connection, vector: FloatArray, numbers: Sequence[int]) -> Bound:
    """Return number and cosine of these chunks, best first, ties by number."""
    parameters = [vector, numbers_to_text(numbers), len(numbers)]
    return _bound(_row(connection, _EXACT.format(where="number = ANY (%s::bigint[])"), parameters))


def count_places(connection: Connection, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
    """Return how many chunks that pass a filter have each of these texts, by its hash (see `text.places`)."""
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
    """Return number and BM25 score of the k best chunks, best first, ties by number."""
    asked = _asked(connection, terms, rarities)
    parts, before, after = _parts(connection, where)
    guess = _GUESSED_SHARE * asked[0].bound if asked else 0.0
    while True:
        rare = [term for term in asked if term.bound >= guess]
        common = asked[len(rare) :]
        if not common:
            return _listed(_row(connection, _BY_ALL_TERMS.format(**parts), [*before, *_columns(rare), *after, k]))
        reached = common[0].bound
        # Filters in the order of scores may need any number of them.
        ranked = None if after else _RANKED_FOR_EACH * k
        values = [*before, *_columns(rare), ranked, reached, *after, k - 1, *_columns(common), ranked, *after, k]
        row = _row(connection, _BY_RARE_TERMS.format(**parts), values)
        if row["is_cut"]:
            # So many may reach it that all terms of all chunks are read faster.
            guess = 0.0
        elif row["least"] is None or row["least"] <= reached:
            # By rare terms alone k chunks reach this score: commoner terms whose sum is lower can be left out. The
            # lower it is, the fewer chunks they are looked up for.
            guess = _SURE_SHARE * (row["least"] or 0.0)
        else:
            return _listed(row)


def _parts(connection: Connection, where: Filter | None) -> tuple[dict[str, str], list[Any], list[Any]]:
    """Return the parts of a statement by terms that a filter needs, and its parameters at the beginning and later."""
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
    """Return the terms that the library has, those in fewest chunks first."""
    keys = {key(term): term for term in terms}
    rows = connection.execute(_ASKED, (list(keys),)).fetchall()
    found: list[_Term] = []
    bound = 0.0
    for row in sorted(rows, key=lambda row: (-row["chunks"], row["id"])):
        by = rarity(row["total"], row["chunks"]) if rarities is None else rarities[keys[row["term"]]]
        bound += by * row["highest"] * (1 + _ROUNDING)
        found.append(_Term(row["id"], by, bound))
    return found[::-1]


def _by_sketches(connection: Connection, vector: FloatArray, k: int, passing: Condition, share: float) -> Bound:
    """Like `search_vectors`, but approximate; find nothing if there are no sketches. Some `share` passes."""
    text, parameters = passing
    compared = max(_COMPARED_FOR_EACH * k, _LEAST_COMPARED)
    # Filter in order, until enough have passed.
    passed = "" if passing is _EVERYTHING else _PASSED.format(key="digest", where=text)
    statement = _BY_SKETCHES.format(passed=passed, where=text)
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
    """Return how many chunks pass a filter by the server's statistics: to count them takes as long as a search."""
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
