"""A library on PostgreSQL searched as simply as can be: the graph has every passage, and every posting is read.

What `stores/postgres/search.py` does about copies and common words is measured beside this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from answerable.datatypes import FloatArray
from answerable.filters import Filter
from answerable.stores.memory.keywords import Scored
from answerable.stores.postgres.filters import condition
from answerable.stores.postgres.sketches import EXACT_UP_TO
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.postgres.values import key, vector_to_text

SCHEMA = "every"
TABLE = """
    DROP SCHEMA IF EXISTS {schema} CASCADE;
    CREATE SCHEMA {schema};
    CREATE TABLE {schema}.entries (number bigint PRIMARY KEY, fields jsonb NOT NULL, vector vector NOT NULL)
        WITH (toast_tuple_target = 8160);
    INSERT INTO {schema}.entries SELECT number, fields, vector FROM {library}.entries;
    CREATE INDEX ON {schema}.entries USING gin (fields jsonb_path_ops);
    SET maintenance_work_mem = '2GB';
    SET max_parallel_maintenance_workers = 0;
    CREATE INDEX ON {schema}.entries USING hnsw ((vector::halfvec({dimension})) halfvec_ip_ops);
"""
SETTINGS = {
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "hnsw.ef_search": "100",
    "hnsw.iterative_scan": "relaxed_order",
}
EXACT = """
    SELECT number, -(vector <#> %s::vector) AS score FROM entries WHERE {where} ORDER BY score DESC, number LIMIT %s
"""
BY_GRAPH = """
    WITH nearest AS MATERIALIZED (
        SELECT number, vector FROM entries WHERE {where}
        ORDER BY vector::halfvec({dimension}) <#> %s::halfvec({dimension}) LIMIT %s
    )
    SELECT number, -(vector <#> %s::vector) AS score FROM nearest ORDER BY score DESC, number LIMIT %s
"""
BY_TERMS = """
    WITH asked AS MATERIALIZED (
        SELECT id, ln(1 + (library.chunks - terms.chunks + 0.5)::float8 / (terms.chunks + 0.5)::float8) AS rarity
        FROM terms, library WHERE term = ANY (%s)
    ), passing AS MATERIALIZED ({passing}), scored AS MATERIALIZED (
        SELECT chunk AS number, sum(weight * rarity) AS score FROM asked
        JOIN LATERAL (SELECT chunk, weight FROM postings WHERE term = id OFFSET 0) AS stands ON true
        WHERE {among} GROUP BY chunk
    )
    SELECT number, score FROM (SELECT * FROM scored ORDER BY score DESC, number) AS ranked {passed}
    ORDER BY score DESC, number LIMIT %s
"""


class EveryRow(PostgresStore):
    """The library at an address, searched by a graph over all passages and by all postings."""

    def __init__(self, database: str, library: str) -> None:
        super().__init__(f"{database}&library={library}&statement_timeout=0")
        self._connection = psycopg.connect(database, autocommit=True, prepare_threshold=None)
        assert self.fingerprint is not None
        self._connection.execute(TABLE.format(schema=SCHEMA, library=library, dimension=self.fingerprint.dimension))
        self._connection.execute(f"VACUUM ANALYZE {SCHEMA}.entries")
        for name, value in {**SETTINGS, "search_path": f"{SCHEMA}, {library}, public"}.items():
            self._connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """By the graph over every passage, or one by one where few pass."""
        text, parameters = condition(where) if where is not None else ("true", [])
        wanted = vector_to_text(vector)
        if where is not None and self._are_few(text, parameters):
            return self._scored(EXACT.format(where=text), [wanted, *parameters, k])
        statement = BY_GRAPH.format(where=text, dimension=len(vector))
        return self._scored(statement, [*parameters, wanted, k + 10, wanted, k])

    def search_terms(self, terms: Sequence[str], k: int, where: Filter | None) -> Scored:
        """From every posting of these terms."""
        names = {"passing": "SELECT", "among": "true", "passed": ""}
        text, parameters = condition(where) if where is not None else ("true", [])
        if where is not None and self._are_few(text, parameters):
            names["passing"] = f"SELECT number FROM entries WHERE {text}"
            names["among"] = "chunk IN (SELECT number FROM passing)"
        elif where is not None:
            passes = f"SELECT FROM entries WHERE entries.number = ranked.number AND ({text}) LIMIT 1"
            names["passed"] = f"JOIN LATERAL ({passes}) AS passes ON true"
        keys = list({key(term) for term in terms})
        return self._scored(BY_TERMS.format(**names), [keys, *parameters, k])

    def close(self) -> None:
        """Close all connections."""
        self._connection.close()
        super().close()

    def _are_few(self, text: str, parameters: Sequence[Any]) -> bool:
        counted = f"SELECT count(*) FROM (SELECT FROM entries WHERE {text} LIMIT {EXACT_UP_TO + 1}) AS passing"
        (row,) = self._connection.execute(counted, parameters)
        return int(row[0]) <= EXACT_UP_TO

    def _scored(self, statement: str, parameters: Sequence[Any]) -> Scored:
        return [(number, score) for number, score in self._connection.execute(statement, parameters)]
