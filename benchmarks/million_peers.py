"""What others take for the vectors of `million.py`, with nothing but vectors and groups.

FAISS, LanceDB, Qdrant Edge and pgvector each work in a process of their own, the first two in an environment of their
own, and pgvector's server is a private one. They are set up as their guides show: FAISS with an exact index and with
HNSW of 32 links, LanceDB with IVF-HNSW over 8-bit numbers, Edge as it comes, pgvector with HNSW as it comes and
iterative scans. The ten best are asked for, of all and of those that pass the filters. CPU is that of the process, of
pgvector that of the server's process that answers.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

BEST = 10
COLUMNS = ("g10", "g100", "g10000")
FILTERS = {"": None, ", 10 % pass": 0, ", 1 % pass": 1, ", .01 % pass": 2}
GROUP = 7
Rows: TypeAlias = Any
Search: TypeAlias = Callable[[Rows, "int | None"], "list[int]"]
Peer: TypeAlias = "tuple[Search, Callable[[], float]]"


def own_cpu() -> float:
    """CPU seconds of this process so far, all threads."""
    return time.process_time()


@contextmanager
def faiss_flat(vectors: Rows, groups: Rows) -> Iterator[Peer]:
    """All vectors are looked at."""
    faiss = importlib.import_module("faiss")
    yield _faiss(faiss, faiss.IndexFlatIP(vectors.shape[1]), vectors, groups, lambda selector: None)


@contextmanager
def faiss_hnsw(vectors: Rows, groups: Rows) -> Iterator[Peer]:
    """A graph, with 128 vectors in sight."""
    faiss = importlib.import_module("faiss")
    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efSearch = 128

    def parameters(selector: Any) -> Any:
        return faiss.SearchParametersHNSW(sel=selector, efSearch=128)

    yield _faiss(faiss, index, vectors, groups, parameters)


def _faiss(faiss: Any, index: Any, vectors: Rows, groups: Rows, parameters: Callable[[Any], Any]) -> Peer:
    for start in range(0, len(vectors), 10_000):
        index.add(np.ascontiguousarray(vectors[start : start + 10_000]))
    passing = [np.packbits(groups[:, column] == GROUP, bitorder="little") for column in range(len(COLUMNS))]

    def search(query: Rows, column: int | None) -> list[int]:
        if column is None:
            return list(index.search(query[None], BEST)[1][0])
        selector = faiss.IDSelectorBitmap(passing[column])
        params = parameters(selector) or faiss.SearchParameters(sel=selector)
        return list(index.search(query[None], BEST, params=params)[1][0])

    return search, own_cpu


@contextmanager
def lancedb(vectors: Rows, groups: Rows) -> Iterator[Peer]:
    """Lists of neighbours with a graph in each, over 8-bit numbers, scored again with the whole vectors."""
    connect = importlib.import_module("lancedb").connect
    arrow = importlib.import_module("pyarrow")

    def batches() -> Iterator[Any]:
        for start in range(0, len(vectors), 10_000):
            rows = np.ascontiguousarray(vectors[start : start + 10_000])
            flat = arrow.array(rows.ravel())
            columns = [arrow.array(groups[start : start + 10_000, column]) for column in range(len(COLUMNS))]
            numbers = arrow.array(range(start, start + len(rows)))
            listed = arrow.FixedSizeListArray.from_arrays(flat, rows.shape[1])
            yield arrow.RecordBatch.from_arrays([numbers, listed, *columns], ["row", "vector", *COLUMNS])

    with tempfile.TemporaryDirectory() as folder:
        stream = batches()
        table = connect(folder).create_table("vectors", arrow.Table.from_batches(stream))
        table.create_index(metric="cosine", index_type="IVF_HNSW_SQ")
        for column in COLUMNS:
            table.create_scalar_index(column)

        def search(query: Rows, column: int | None) -> list[int]:
            asked = table.search(query).metric("cosine").nprobes(20).refine_factor(10).limit(BEST).select(["row"])
            if column is not None:
                asked = asked.where(f"{COLUMNS[column]} = {GROUP}", prefilter=True)
            return [int(row) for row in asked.to_arrow()["row"].to_pylist()]

        yield search, own_cpu


@contextmanager
def qdrant_edge(vectors: Rows, groups: Rows) -> Iterator[Peer]:
    """The engine of Answerable's own index, as it comes: a graph once there are many vectors, and indexed groups."""
    edge = importlib.import_module("qdrant_edge")
    params = edge.EdgeVectorParams(size=vectors.shape[1], distance=edge.Distance.Cosine)
    with tempfile.TemporaryDirectory() as folder:
        shard = edge.EdgeShard.create(folder, edge.EdgeConfig(vectors={"dense": params}))
        for column in COLUMNS:
            indexed = edge.IntegerIndexParams(lookup=True, range=False)
            shard.update(edge.UpdateOperation.create_field_index(column, indexed))
        for start in range(0, len(vectors), 500):
            points = [
                edge.Point(row, {"dense": vectors[row].tolist()}, dict(zip(COLUMNS, groups[row].tolist(), strict=True)))
                for row in range(start, min(start + 500, len(vectors)))
            ]
            shard.update(edge.UpdateOperation.upsert_points(points))
        shard.optimize()
        shard.flush()

        def search(query: Rows, column: int | None) -> list[int]:
            nearest = edge.Query.Nearest(query.tolist(), using="dense")
            match = column is not None and edge.FieldCondition(key=COLUMNS[column], match=edge.MatchAny([GROUP]))
            request = edge.QueryRequest(limit=BEST, query=nearest, filter=edge.Filter(must=[match]) if match else None)
            return [int(point.id) for point in shard.query(request)]

        yield search, own_cpu
        shard.close()


@contextmanager
def pgvector(vectors: Rows, groups: Rows) -> Iterator[Peer]:
    """A table with an HNSW index made by hand; a filter is looked at while the index is read on."""
    psycopg = importlib.import_module("psycopg")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "servers"))
    private_server = importlib.import_module("postgres_server").private_server
    with (
        private_server("", "shared_buffers=1GB", "max_wal_size=8GB") as server,
        psycopg.connect(server.address, autocommit=True) as connection,
    ):
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            f"CREATE TABLE peer (row int, vector vector({vectors.shape[1]}), g10 int, g100 int, g10000 int)"
        )
        with connection.cursor().copy("COPY peer FROM STDIN") as copy:
            for number, row in enumerate(vectors):
                copy.write_row((number, str(row.tolist()), *groups[number].tolist()))
        connection.execute("SET maintenance_work_mem = '3GB'")
        connection.execute("CREATE INDEX ON peer USING hnsw (vector vector_ip_ops)")
        for column in COLUMNS:
            connection.execute(f"CREATE INDEX ON peer ({column})")
        connection.execute("VACUUM ANALYZE peer")
        connection.execute("SET hnsw.ef_search = 128; SET hnsw.iterative_scan = relaxed_order")
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()

        def search(query: Rows, column: int | None) -> list[int]:
            where = "" if column is None else f"WHERE {COLUMNS[column]} = {GROUP}"
            statement = f"SELECT row FROM peer {where} ORDER BY vector <#> %s::vector LIMIT {BEST}"
            return [row for (row,) in connection.execute(statement, [str(query.tolist())]).fetchall()]

        def cpu() -> float:
            spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")

        yield search, cpu


PEERS: dict[str, tuple[Callable[[Rows, Rows], Any], tuple[str, ...]]] = {
    "FAISS flat": (faiss_flat, ("faiss-cpu",)),
    "FAISS HNSW": (faiss_hnsw, ("faiss-cpu",)),
    "LanceDB": (lancedb, ("lancedb",)),
    "Qdrant Edge": (qdrant_edge, ()),
    "pgvector": (pgvector, ()),
}
"""How each is made, and what is installed for it."""


def measure(folder: Path, name: str, searches: int) -> dict[str, float]:
    """Recall and what a search takes, by filter."""
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    groups, queries = np.load(folder / "groups.npy"), np.load(folder / "queries.npy")[:searches]
    exact = json.loads((folder / "questions.json").read_text("utf-8"))["exact"]
    started = time.monotonic()
    figures: dict[str, float] = {}
    with PEERS[name][0](vectors, groups) as (search, cpu):
        figures[f"{name}, building, wall s"] = time.monotonic() - started
        for filtered, column in FILTERS.items():
            shares, walls, spent = [], [], cpu()
            for query, (tenth, most) in zip(queries, exact[filtered], strict=False):
                began = time.perf_counter()
                found = search(query, column)
                walls.append(time.perf_counter() - began)
                cosines = vectors[[row for row in found if row >= 0]] @ query
                shares.append(sum(cosines >= tenth - 1e-5) / most if most else 1.0)
            # The clock of another process ticks a hundred times a second: only the sum says something.
            figures[f"{name}, recall@10{filtered}"] = float(statistics.mean(shares))
            figures[f"{name}, vectors{filtered}, mean CPU ms"] = 1000 * (cpu() - spent) / len(queries)
            figures[f"{name}, vectors{filtered}, p50 wall ms"] = 1000 * statistics.median(walls)
    return figures


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
