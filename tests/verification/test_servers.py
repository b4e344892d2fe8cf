"""What goes wrong in the tables of a PostgreSQL server and the points of a Qdrant server is found and put right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from helpers import make_document
from postgres_server import new_library
from qdrant_client import QdrantClient, models
from qdrant_server import api_key
from qdrant_server import new_library as new_qdrant_library
from verification.libraries import kinds, opened

from answerable.datatypes import Chunk
from answerable.library import Library
from answerable.protocols import Store
from answerable.stores.addresses import parse_postgres, parse_qdrant
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

NAMES = ("one", "two", "three")


def fill(library: Library, folder: Path) -> None:
    """A file that is followed, and documents that were handed over."""
    (folder / "notes.md").write_text("# Notes\n\n" + "".join(f"Point {number} is new.\n\n" for number in range(60)))
    library.add(folder / "notes.md")
    library.add_documents([make_document(f"Pear {name}. " * 60, name, year=2024) for name in NAMES])


def contents(store: Store, but: str) -> dict[str, list[tuple[Chunk, bytes]]]:
    """The chunks of the other documents that were handed over, with their vectors."""
    return {
        name: [(chunk.chunk, chunk.vector.tobytes()) for chunk in store.indexed_chunks(name)]
        for name in NAMES
        if name != but
    }


def assert_found_and_repaired(library: Library, store: Store, expected: dict[str, set[str]], affected: str) -> None:
    before = contents(store, affected)
    assert kinds(library.verify(embed=10_000)) == expected
    assert library.verify(repair=True, embed=10_000).findings == []
    assert library.verify(embed=10_000).findings == []
    assert contents(store, affected) == before
    assert library.search("point", k=3)


@dataclass
class Database:
    """A library on PostgreSQL, and its tables."""

    address: str
    library: Library
    store: PostgresStore

    def change(self, *statements: str) -> None:
        """Changes the tables behind the library's back."""
        parsed = parse_postgres(self.address)
        with psycopg.connect(parsed.conninfo, autocommit=True) as connection:
            connection.execute("SELECT set_config('search_path', %s || ', public', false)", (f'"{parsed.schema}"',))
            for statement in statements:
                connection.execute(statement)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A library on PostgreSQL."""
    address = new_library()
    with closing(PostgresStore(address)) as store:
        library = opened(store)
        fill(library, tmp_path)
        yield Database(address, library, store)


TWO = "(SELECT number FROM documents WHERE id = 'two')"
TABLES: dict[str, tuple[tuple[str, ...], dict[str, set[str]]]] = {
    "lost passages": (
        (f"DELETE FROM chunks WHERE document = {TWO} AND sequence = 1",),
        {
            "two": {"missing"},
            "library": {"wrong counts"},
        },
    ),
    "lost entries": (
        (f"DELETE FROM entries WHERE number IN (SELECT number FROM chunks WHERE document = {TWO})",),
        {"two": {"missing"}, "library": {"wrong counts"}},
    ),
    "passages of no document": (
        ("ALTER TABLE chunks DROP CONSTRAINT chunks_document_fkey", "DELETE FROM documents WHERE id = 'two'"),
        {"index": {"orphaned"}, "library": {"wrong counts"}},
    ),
    "wrong counts": (
        ("UPDATE terms SET chunks = chunks + 1 WHERE term = 'pear'",),
        {"library": {"wrong counts"}, "table terms": {"wrong counts"}},
    ),
    "lost postings": (
        ("DELETE FROM postings WHERE term = (SELECT id FROM terms WHERE term = 'pear')",),
        {"index": {"missing", "wrong counts"}, "table terms": {"wrong counts"}},
    ),
    "lost comparables": (
        ("DELETE FROM comparables WHERE chunk = (SELECT max(number) FROM chunks)",),
        {"index": {"wrong counts"}},
    ),
    "replaced text": (
        ("UPDATE documents SET content = repeat('Something else. ', 45) WHERE id = 'two'",),
        {"two": {"wrong offsets"}},
    ),
    "other vectors": (
        (f"UPDATE entries SET vector = (SELECT vector FROM entries ORDER BY number LIMIT 1) "
         f"WHERE number IN (SELECT number FROM chunks WHERE document = {TWO})",),
        {"two": {"wrong vectors"}},
    ),
    "a document that can't be read": (
        (f"UPDATE chunks SET sentences = '[1' WHERE document = {TWO}",),
        {"two": {"damaged"}},
    ),
    "metadata that can't be read": (
        ("UPDATE documents SET metadata = '{' WHERE source LIKE '%notes.md'",),
        {"notes.md": {"damaged"}},
    ),
    "a record that can't be read": (
        ("UPDATE records SET documents = '{' WHERE source LIKE '%notes.md' AND origin != ''",),
        {"notes.md": {"damaged"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_damage_in_postgres_is_found_and_repaired(database: Database, name: str) -> None:
    statements, expected = TABLES[name]
    database.change(*statements)
    assert_found_and_repaired(database.library, database.store, expected, "two")


@dataclass
class Server:
    """A library on a Qdrant server, and its points."""

    library: Library
    store: QdrantStore
    client: QdrantClient
    name: str

    @property
    def chunks(self) -> str:
        """The collection of the chunks."""
        return f"{self.name}.1.chunks"

    @property
    def root(self) -> str:
        """The collection of the documents."""
        return f"{self.name}.1"

    def point(self, name: str) -> models.Record:
        """The point of a document."""
        found = self.client.scroll(self.root, limit=1000)[0]
        (point,) = [point for point in found if (point.payload or {}).get("id") == name]
        return point

    def of(self, name: str) -> models.Filter:
        """What chooses the chunks of a document."""
        generation = (self.point(name).payload or {})["generation"]
        match = models.MatchValue(value=generation)
        return models.Filter(must=[models.FieldCondition(key="generation", match=match)])

    def rewrite(self, collection: str, where: models.Filter, **changes: dict[str, Any]) -> None:
        """Changes the payloads or vectors of points."""
        found: list[Any] = self.client.scroll(collection, where, limit=1000, with_vectors=True)[0]
        points = []
        for point in found:
            parts = {"vector": point.vector or {}, "payload": point.payload}
            parts = {name: {**part, **changes.get(name, {})} for name, part in parts.items()}
            points.append(models.PointStruct(id=point.id, **parts))
        self.client.upsert(collection, points, wait=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A library on a Qdrant server."""
    address = new_qdrant_library()
    parsed = parse_qdrant(address)
    client = QdrantClient(url=parsed.url, api_key=api_key() or None, check_compatibility=False)
    with closing(QdrantStore(address, key=api_key())) as store, closing(client):
        library = opened(store)
        fill(library, tmp_path)
        yield Server(library, store, client, parsed.name)


def lose_passages(server: Server) -> None:
    found = server.client.scroll(server.chunks, server.of("two"))[0]
    server.client.delete(server.chunks, models.PointIdsList(points=[found[0].id]))


def lose_document(server: Server) -> None:
    server.client.delete(server.root, models.PointIdsList(points=[server.point("two").id]))


def change_terms(server: Server) -> None:
    server.rewrite(server.chunks, server.of("two"), payload={"terms": [1, 2]})


def change_vectors(server: Server) -> None:
    server.rewrite(server.chunks, server.of("two"), vector={"dense": np.full(64, 0.125).tolist()})


def break_metadata(server: Server) -> None:
    server.rewrite(server.root, server.of("two"), payload={"metadata": "{"})


def replace_text(server: Server) -> None:
    text = (server.point("two").payload or {})["text"].replace("Pear", "Plum")
    server.rewrite(server.root, server.of("two"), payload={"text": text})


POINTS: dict[Callable[[Server], None], dict[str, set[str]]] = {
    lose_passages: {"two": {"missing"}, "library": {"wrong counts"}},
    lose_document: {"index": {"orphaned"}, "library": {"wrong counts"}},
    change_terms: {"library": {"wrong counts"}},
    change_vectors: {"two": {"wrong vectors"}},
    break_metadata: {"two": {"damaged"}},
    replace_text: {"two": {"wrong offsets"}},
}


@pytest.mark.parametrize("damage", POINTS, ids=lambda damage: damage.__name__)
def test_damage_on_qdrant_is_found_and_repaired(server: Server, damage: Callable[[Server], None]) -> None:
    damage(server)
    assert_found_and_repaired(server.library, server.store, POINTS[damage], "two")
