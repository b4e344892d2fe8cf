"""What was removed leaves nothing in the files of a library's tables and indexes on the server."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import psycopg
import pytest
from helpers import HashEmbedder, add, make_document
from postgres_server import Server, in_database, private_server
from psycopg import sql

from answerable.errors import LibraryBusy, LibraryReadOnly
from answerable.maintenance.erasing import erase_if_due
from answerable.stores.addresses import parse_postgres
from answerable.stores.audit import audit
from answerable.stores.postgres.store import PostgresStore

SECRET = "xyzzyplugh"
_FILES = """
    SELECT pg_relation_filepath(c.oid) AS path FROM pg_class c
    LEFT JOIN pg_class owner ON owner.reltoastrelid = c.oid
    LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class toast ON toast.reltoastrelid = i.indrelid
    WHERE %s::regnamespace IN (c.relnamespace, owner.relnamespace, toast.relnamespace)
    AND pg_relation_filepath(c.oid) IS NOT NULL
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server whose files may be read."""
    with private_server() as made:
        yield made


@pytest.fixture
def store(server: Server, request: pytest.FixtureRequest) -> Iterator[PostgresStore]:
    made = PostgresStore(in_database(server.address, request.node.name[:40]))
    yield made
    made.close()


def left(server: Server, store: PostgresStore, traces: set[bytes]) -> set[bytes]:
    """The traces that are in the files of the library's tables and indexes, after what is in memory was written."""
    schema = store._connections._address.schema
    with psycopg.connect(parse_postgres(server.address).conninfo, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        paths = [row[0] for row in connection.execute(_FILES, (sql.Identifier(schema).as_string(connection),))]
    assert len(paths) > 20
    data = b"".join(path.read_bytes() for name in paths for path in Path(folder, name).parent.glob(Path(name).name))
    return {trace for trace in traces if trace in data}


def fill(store: PostgresStore) -> set[bytes]:
    """Add documents, half of them secret; return by what those are known: terms, names, vectors."""
    traces = {SECRET.encode()}
    for number in range(12):
        is_secret = number % 2 == 1
        text = f"{SECRET}{number} está en la caja {number * 977}." if is_secret else f"Llueve en el puerto {number}."
        name = f"/{number}/{SECRET if is_secret else 'open'}"
        add(store, make_document(text, f"d{number}", source=name, number=number))
        if is_secret:
            traces |= {each.vector.astype("<f4").tobytes() for each in store.indexed_chunks(f"d{number}")}
    return traces


def test_erasing_leaves_nothing_in_any_file(server: Server, store: PostgresStore) -> None:
    traces = fill(store)
    assert left(server, store, traces) == traces
    before = store.search_vectors(HashEmbedder().embed_query("llueve en el puerto"), 6, None)
    assert store.remove(*(f"d{number}" for number in range(1, 12, 2)))
    assert left(server, store, traces) == traces
    assert store.unerased().passages == 6
    erase_if_due(store, asked=True)
    assert store.unerased().passages == 0
    assert left(server, store, traces) == set()
    assert store.search_vectors(HashEmbedder().embed_query("llueve en el puerto"), 6, None) == before
    assert audit(store) == []


def test_while_an_older_transaction_sees_what_was_removed_it_counts_as_left(
    server: Server, store: PostgresStore
) -> None:
    traces = fill(store)
    with psycopg.connect(parse_postgres(server.address).conninfo) as older:
        older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        older.execute("SELECT 1")
        store.remove("d1")
        with pytest.raises(LibraryBusy, match="older than the removal"):
            store.erase()
        assert store.unerased().passages == 1
        assert left(server, store, traces)
    store.remove("d3", "d5", "d7", "d9", "d11")
    store.erase()
    assert (store.unerased().passages, left(server, store, traces)) == (0, set())


def test_erasing_waits_for_a_short_transaction(server: Server, store: PostgresStore) -> None:
    traces = fill(store)
    with ThreadPoolExecutor() as other, psycopg.connect(parse_postgres(server.address).conninfo) as older:
        older.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        older.execute("SELECT 1")
        store.remove("d1")

        def end() -> None:
            sleep(1)
            older.rollback()

        ended = other.submit(end)
        store.erase()
        assert ended.done()
        assert store.unerased().passages == 0
        assert left(server, store, traces) < traces


def test_only_the_owner_can_erase(server: Server, store: PostgresStore) -> None:
    fill(store)
    schema = store._connections._address.schema
    conninfo = parse_postgres(server.address).conninfo
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        for rights in ("USAGE ON SCHEMA", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA"):
            connection.execute(sql.SQL("GRANT {} {} TO guest").format(sql.SQL(rights), sql.Identifier(schema)))
    guest = PostgresStore(in_database(server.address.replace("postgres@", "guest@"), schema), create=False)
    guest.remove("d1")
    with pytest.raises(LibraryReadOnly, match="owner"):
        guest.erase()
    erase_if_due(guest, asked=True)
    assert guest.unerased().passages == 1
    guest.close()
    store.erase()
    assert store.unerased().passages == 0
