"""A library on PostgreSQL: addresses, rights, formats, other processes, restarts, many passages."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import numpy as np
import psycopg
import pytest
from helpers import HashEmbedder, add, indexed_texts, make_document
from postgres_server import PASSWORD, Server, binaries, in_database, new_library, private_server, shared_database
from psycopg import sql

from answerable.datatypes import Document
from answerable.errors import (
    AnswerableError,
    LibraryBusy,
    LibraryDamaged,
    LibraryError,
    LibraryFormatError,
    LibraryNotFound,
    LibraryReadOnly,
    SettingsError,
)
from answerable.filters import Between, OneOf
from answerable.protocols import Fingerprint, IndexedChunk, PassageVectors
from answerable.stores.addresses import parse_postgres, shown
from answerable.stores.audit import audit
from answerable.stores.postgres.rows import EXACT_UP_TO
from answerable.stores.postgres.store import PostgresStore

ANYWHERE = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture
def address() -> str:
    """Where no library is yet."""
    return new_library()


@pytest.fixture
def store(address: str) -> Iterator[PostgresStore]:
    """An empty library."""
    made = PostgresStore(address)
    yield made
    made.close()


def execute(address: str, statement: str) -> list[tuple[object, ...]]:
    """Runs a statement in the schema of a library."""
    parsed = parse_postgres(address)
    with psycopg.connect(parsed.conninfo, autocommit=True) as connection:
        path = sql.SQL("SET search_path TO {}, public").format(sql.Identifier(parsed.schema))
        connection.execute(path)
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def write(store: PostgresStore, name: str, text: str = "Uno dos tres.") -> None:
    add(store, make_document(text, name, source=f"/{name}"), embedder=HashEmbedder(4))


def ids(store: PostgresStore) -> list[str]:
    return [stored.id for stored in store.documents()]


@pytest.mark.parametrize(
    ("address", "schema", "visible"),
    [
        ("postgresql://ana:pw@host:5433/db", "answerable", "postgresql://ana@host:5433/db?library=answerable"),
        ("postgres://host/db?library=a%20b", "a b", "postgresql://host/db?library=a%20b"),
        ("postgresql:///db?host=/tmp/x&password=pw", "answerable", "postgresql:///db?host=/tmp/x&library=answerable"),
        ("postgresql://a:pw@[::1]:5432,b:1/db", "answerable", "postgresql://a@[::1]:5432,b:1/db?library=answerable"),
        ("postgresql://", "answerable", "postgresql:///?library=answerable"),
    ],
)
def test_addresses(address: str, schema: str, visible: str) -> None:
    parsed = parse_postgres(address)
    assert (parsed.schema, parsed.shown) == (schema, visible)
    assert "library" not in parsed.conninfo
    assert "pw" not in repr(parsed)


def test_what_is_shown_of_an_address() -> None:
    assert "pw" not in shown("postgresql://ana:pw@host/db?password=pw")
    assert "pw" not in shown("postgresql+psycopg://ana:pw@host/db?options=docs")
    assert shown("/home/ana/library") == "/home/ana/library"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ana:pa/ss@host/db",
        "postgresql://ana:pa#ss@host/db",
        "postgresql://ana:pass@ho:st/db",
        "postgresql://h/db?library=",
        "postgresql://h/db?library=pg_x",
        "postgresql://h/db?library=information_schema",
        f"postgresql://h/db?library={'é' * 32}",
        "postgresql://h/db?statement_timeout=soon",
        "postgresql://h/db?statement_timeout=-1",
    ],
)
def test_addresses_that_make_no_sense(address: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_postgres(address)
    assert "pa" not in str(raised.value).replace("password", "")


def test_libraries_of_one_database_are_apart() -> None:
    names = ["plain", 'quo"te', "Ünï code", "x; DROP TABLE documents; --", "a.b"]
    suffix = uuid.uuid4().hex
    stores = [PostgresStore(in_database(shared_database(), f"{name} {suffix}")) for name in names]
    for name, store in zip(names, stores, strict=True):
        write(store, name)
    assert [ids(store) for store in stores] == [[name] for name in names]
    assert [store.search_terms(["uno"], 5, None)[0][0] for store in stores] == [1] * len(names)
    for store in stores:
        store.close()


def test_a_library_that_is_not_there(address: str) -> None:
    with pytest.raises(LibraryNotFound, match="answerable add"):
        PostgresStore(address, create=False)
    with pytest.raises(LibraryNotFound):
        PostgresStore(address, create=False)
    PostgresStore(address).close()
    PostgresStore(address, create=False).close()


TO_FORMAT = {
    3: "ALTER TABLE entries DROP COLUMN digest; ALTER TABLE terms DROP COLUMN highest; DROP TABLE sketches; "
    "ALTER TABLE library DROP COLUMN edges, DROP COLUMN sketched; DROP INDEX documents_language_idx",
    2: "ALTER TABLE library DROP COLUMN unerased, DROP COLUMN erased",
    1: "DROP TABLE records",
}


@pytest.mark.parametrize("older", [1, 2, 3])
def test_a_library_of_an_older_format_is_brought_up_to_date(address: str, older: int) -> None:
    made = PostgresStore(address)
    for name, text in (("a", "Uno dos tres."), ("b", "Uno dos tres."), ("c", "Uno cuatro.")):
        write(made, name, text)
    vectors, words = made.search_vectors(ANYWHERE, 5, None), made.search_terms(["uno"], 5, None)
    highest = execute(address, "SELECT term, highest FROM terms ORDER BY term")
    gathered = made.next_vectors()
    gathered.begin(Fingerprint("other", "model", 4))
    gathered.keep({1: PassageVectors(ANYWHERE, ANYWHERE[None])})
    made.close()
    execute(address, f"DELETE FROM migrations WHERE format > {older}")
    for number in range(3, older - 1, -1):
        execute(address, TO_FORMAT[number])
    for create in (True, False):
        store = PostgresStore(address, create)
        assert store.records() == []
        assert audit(store) == []
        assert store.search_vectors(ANYWHERE, 5, None) == vectors
        assert store.search_terms(["uno"], 5, None) == words
        assert execute(address, "SELECT term, highest FROM terms ORDER BY term") == highest
        gathered = store.next_vectors()
        gathered.begin(Fingerprint("other", "model", 4))
        assert gathered.missing() == [2, 3]
        store.close()


def test_who_may_only_read_still_may_in_the_new_format(address: str) -> None:
    PostgresStore(address).close()
    role, schema = f"reader_{uuid.uuid4().hex}", parse_postgres(address).schema
    execute(address, f"CREATE ROLE {role}; {TO_FORMAT[3]}; DELETE FROM migrations WHERE format > 3")
    execute(address, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
    PostgresStore(address).close()
    rights = f"SELECT has_table_privilege('{role}', 'sketches', right_) FROM unnest(ARRAY['SELECT', 'INSERT']) right_"
    assert execute(address, rights) == [(True,), (False,)]
    execute(address, f"DROP OWNED BY {role}; DROP ROLE {role}")


@pytest.mark.parametrize("change", ["UPDATE migrations SET format = format + 96", "DELETE FROM migrations"])
def test_other_formats(address: str, change: str) -> None:
    PostgresStore(address).close()
    execute(address, change)
    for create in (True, False):
        with pytest.raises(LibraryFormatError, match=r"format (100|0);.*format \d"):
            PostgresStore(address, create)


def test_a_damaged_library(address: str, store: PostgresStore) -> None:
    write(store, "a")
    execute(address, "DROP TABLE postings")
    with pytest.raises(LibraryDamaged, match="backup"):
        store.search_terms(["uno"], 5, None)


def test_made_by_many_at_once(address: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: PostgresStore(address), range(8)))
        list(threads.map(lambda pair: write(pair[1], f"d{pair[0]}"), enumerate(stores)))
    assert sorted(ids(stores[0])) == sorted(f"d{number}" for number in range(8))
    assert stores[0].count() == (8, 8)
    assert stores[0].document_frequency(["uno"]) == {"uno": 8}
    for store in stores:
        store.close()


def test_threads_share_a_store(store: PostgresStore) -> None:
    def work(number: int) -> None:
        write(store, f"d{number}", f"Texto común y propio{number}.")
        assert store.search_terms([f"propio{number}"], 5, None)
        if number % 2:
            assert store.remove(f"d{number}")

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(work, range(40)))
    assert store.count() == (20, 20)
    assert store.document_frequency(["text"]) == {"text": 20}


def test_removal_leaves_no_trace(address: str, store: PostgresStore) -> None:
    write(store, "a", "Secreto: la clave es 4711. El 5 de marzo de 2024.")
    write(store, "a", "Otro secreto, la clave es 4712.")
    assert store.remove("a")
    for table in ("documents", "chunks", "entries", "comparables", "terms", "postings"):
        assert execute(address, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert store.count() == (0, 0)


def test_people_can_read_passages_with_their_own_sql(address: str, store: PostgresStore) -> None:
    write(store, "a", "Año nuevo: 😀 llueve.")
    (row,) = execute(address, "SELECT document_id, source, content, fields ->> 'type' FROM passages")
    assert row[:3] == ("a", "/a", "Año nuevo: 😀 llueve.")


def test_a_backup_is_the_whole_library(guarded: Server) -> None:
    address = in_database(guarded.address, "backup")
    store = PostgresStore(address)
    write(store, "a", "Año nuevo: 😀 llueve.")
    found = store.search_terms(["llueve", "lluev"], 5, None), store.fetch([1])[1][0].fields
    store.close()
    command = [binaries() / "pg_dump", "--schema=backup", guarded.address]
    dump = subprocess.run(command, capture_output=True, check=True).stdout
    execute(address, "DROP SCHEMA backup CASCADE")
    subprocess.run([binaries() / "psql", "-v", "ON_ERROR_STOP=1", guarded.address], input=dump, check=True)
    restored = PostgresStore(address, create=False)
    assert found[0]
    assert (restored.search_terms(["llueve", "lluev"], 5, None), restored.fetch([1])[1][0].fields) == found
    write(restored, "b")
    assert [number for number, _ in restored.search_vectors(ANYWHERE, 5, None)]
    assert restored.count() == (2, 2)
    restored.close()


def test_a_user_who_may_only_read(address: str, store: PostgresStore) -> None:
    write(store, "a")
    role, schema = f"reader_{uuid.uuid4().hex}", parse_postgres(address).schema
    execute(address, f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    execute(
        address, f"GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
    )
    reading = PostgresStore(_as(role, address), create=False)
    assert not reading.is_writable
    assert [number for number, _ in reading.search_vectors(ANYWHERE, 5, None)] == [1]
    reading.refresh()
    for change in (lambda: write(reading, "b"), lambda: reading.remove("a"), lambda: reading.put(*_document("c"))):
        with pytest.raises(LibraryReadOnly, match="--library"):
            change()
    with pytest.raises(LibraryReadOnly, match=r"CREATE ON DATABASE|CREATE EXTENSION"):
        PostgresStore(in_database(_as(role, address), "another"))
    reading.close()
    assert ids(store) == ["a"]
    execute(address, f"DROP OWNED BY {role}; DROP ROLE {role}")


def _as(role: str, address: str) -> str:
    base = address.partition("?")[0].replace("postgres@", f"{role}:x@")
    return f"{base}?{address.partition('?')[2]}"


def _document(name: str) -> tuple[Document, list[IndexedChunk]]:
    return indexed_texts(name, ["x"], [[1, 0, 0, 0]])


def test_a_server_that_takes_no_writes(address: str, store: PostgresStore) -> None:
    write(store, "a")
    standby = PostgresStore(f"{address}&options={quote('-c default_transaction_read_only=on')}", create=False)
    assert not standby.is_writable
    assert standby.count() == (1, 1)
    with pytest.raises(LibraryReadOnly):
        standby.remove("a")
    standby.close()


def test_a_statement_that_takes_too_long(address: str, store: PostgresStore) -> None:
    hasty = PostgresStore(f"{address}&statement_timeout=2.5")
    parsed = parse_postgres(address)
    with psycopg.connect(parsed.conninfo) as holder:
        holder.execute(sql.SQL("SELECT FROM {} FOR UPDATE").format(sql.Identifier(parsed.schema, "library")))
        with pytest.raises(LibraryBusy, match=r"2\.5 seconds.*statement_timeout"):
            hasty.put(*_document("a"))
        assert hasty.count() == (0, 0)
    hasty.put(*_document("a"))
    assert hasty.count() == (1, 1)
    hasty.close()


def test_a_closed_store_says_so(store: PostgresStore) -> None:
    store.close()
    with pytest.raises(LibraryError, match="closed"):
        store.count()


def test_connections_that_are_cut(address: str, store: PostgresStore) -> None:
    """Whatever is under way is tried once more: nobody notices."""
    parsed, chance = parse_postgres(address), random.Random()
    named = PostgresStore(f"{address}&application_name={parsed.schema}")
    cuts = number = 0
    with psycopg.connect(parsed.conninfo, autocommit=True) as cutter, ThreadPoolExecutor(1) as threads:

        def cut() -> int:
            time.sleep(0.02 * chance.random())
            found = cutter.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity "
                "WHERE pid != pg_backend_pid() AND query LIKE '%%documents%%' AND application_name = %s "
                "ORDER BY random() LIMIT 1) AS one",
                (parsed.schema,),
            ).fetchone()
            assert found is not None
            return int(found[0])

        # Sixty times, and more until one has been cut.
        while number < 60 or not cuts:
            # One cut for each, at any moment of it: whoever is cut twice is told.
            cutting = threads.submit(cut)
            write(named, f"d{number}")
            cuts += cutting.result()
            # Each of its connections is used in turn: none that was cut is left for the next.
            for _ in range(8):
                assert named.lookup(f"d{number}", "")
            number += 1
    assert named.count() == (number, number)
    named.close()


def test_a_connection_that_fails_before_it_is_known_to_be_lost(store: PostgresStore) -> None:
    """As of a server that is killed while results are awaited: the client fails, and doesn't know yet why."""
    tried: list[object] = []

    def work(connection: psycopg.Connection[dict[str, int]]) -> dict[str, int] | None:
        tried.append(connection)
        if len(tried) == 1:
            connection.pgconn.enter_pipeline_mode()
            connection.pgconn.send_query_params(b"SELECT 1", None)
            # Raises OperationalError: "cannot exit pipeline mode while busy".
            connection.pgconn.exit_pipeline_mode()
        return connection.execute("SELECT 1 AS one").fetchone()

    assert store._connections.run(work) == {"one": 1}
    assert len(set(tried)) == 2


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server that asks for a password and may be stopped."""
    with private_server(PASSWORD) as server:
        yield server


@pytest.mark.parametrize("end", [Server.stop, Server.kill])
def test_a_server_that_is_started_again(guarded: Server, end: Callable[[Server], None]) -> None:
    store = PostgresStore(in_database(guarded.address, f"restarted {end.__name__}"))
    write(store, "a")
    end(guarded)
    guarded.start()
    assert ids(store) == ["a"]
    write(store, "b")
    end(guarded)
    starting = threading.Timer(1, guarded.start)
    starting.start()
    write(store, "c")
    starting.join()
    assert store.count() == (3, 3)
    store.close()


def test_the_password_is_never_told(guarded: Server) -> None:
    address = in_database(guarded.address, "secret")
    store = PostgresStore(address)
    told: list[str] = []

    def fails(work: Callable[[], object]) -> None:
        with pytest.raises(AnswerableError) as raised:
            work()
        told.append(f"{raised.value} {raised.value!r} {raised.value.__cause__}")

    fails(lambda: PostgresStore(in_database(guarded.address, "none"), create=False))
    fails(lambda: PostgresStore(address.replace("postgres:", "nobody:")))
    fails(lambda: PostgresStore(address.replace("@/postgres", "@/missing")))
    fails(lambda: PostgresStore(address.replace("s3cret", "s3cretly")))
    fails(lambda: PostgresStore(address.replace(str(guarded.folder), "/nowhere")))
    fails(lambda: PostgresStore(f"{address}&no_such_parameter=1"))
    fails(lambda: PostgresStore(address.replace("s3cret", "s3cret%zz")))
    store.close()
    fails(store.count)
    assert not [text for text in told if "s3cret" in text or quote(PASSWORD, safe="") in text]
    assert "answerable add" in told[0]
    assert all("user and password" in text and "createdb" in text for text in told[1:5])
    assert all("Correct it" in text for text in told[5:7])


def test_a_database_without_pgvector(guarded: Server) -> None:
    with psycopg.connect(guarded.address, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'x'")
        address = guarded.address.replace("/postgres?", "/bare?")
        with pytest.raises(LibraryError, match="CREATE EXTENSION vector"):
            PostgresStore(f"postgresql://guest:x@{address.rpartition('@')[2]}")
        # Once it is there, in whatever schema, and the rights are, a guest makes a library.
        connection.execute("GRANT CREATE ON DATABASE bare TO guest")
        with psycopg.connect(address, autocommit=True) as administrator:
            administrator.execute("CREATE SCHEMA extensions")
            administrator.execute("GRANT USAGE ON SCHEMA extensions TO PUBLIC")
            administrator.execute("CREATE EXTENSION vector SCHEMA extensions")
        store = PostgresStore(f"postgresql://guest:x@{address.rpartition('@')[2]}")
        write(store, "a")
        assert store.search_vectors(ANYWHERE, 1, None)
        store.close()


def test_without_the_package() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import answerable\n"
        "try: answerable.open('postgresql://nowhere/x')\n"
        "except answerable.errors.MissingPackage as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[postgres]'" in done.stdout


def test_importing_the_package_loads_no_adapter() -> None:
    code = "import sys, answerable, answerable.wiring.build; print([name for name in sys.modules if 'psycopg' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


DIMENSION = 16
MANY = EXACT_UP_TO + 2000


@pytest.fixture(scope="module")
def large() -> Iterator[tuple[str, PostgresStore, np.ndarray]]:
    """A library large enough for sketches, which aren't made yet; some vectors come again and again."""
    address = new_library()
    made = PostgresStore(address)
    made.bind_embedder(Fingerprint("hash", "words", DIMENSION))
    chance = np.random.default_rng(3)
    vectors = chance.standard_normal((MANY, DIMENSION))
    vectors[::100] = vectors[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for start in range(0, MANY, 500):
        numbers = range(start, start + 500)
        fields = [{"number": number, "tenth": number % 10} for number in numbers]
        texts = [f"w{number % 7}" for number in numbers]
        made.put(*indexed_texts(f"d{start}", texts, vectors[start : start + 500], fields))
    yield address, made, vectors
    made.close()


def test_sketches_find_nearly_all(large: tuple[str, PostgresStore, np.ndarray]) -> None:
    address, store, vectors = large
    exact = store.search_vectors(vectors[5].astype(np.float32), 10, None)
    assert execute(address, "SELECT count(*) FROM sketches") == [(0,)]
    store.refresh()
    store.refresh()
    assert execute(address, "SELECT count(*) FROM sketches") == [(len(np.unique(vectors, axis=0)),)]
    assert store.search_vectors(vectors[5].astype(np.float32), 10, None) == exact
    chance = np.random.default_rng(4)
    queries = chance.standard_normal((40, DIMENSION)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    broad = Between("tenth", gte=2)
    rows = np.flatnonzero(np.arange(MANY) % 10 >= 2)
    for where, among in ((None, np.arange(MANY)), (broad, rows), (OneOf("tenth", (3,)), rows[rows % 10 == 3])):
        hits = 0
        for query in queries:
            best = among[np.argsort(-(vectors[among] @ query), kind="stable")[:10]] + 1
            found = store.search_vectors(query, 10, where)
            assert len(found) == 10
            assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
            hits += len({number for number, _ in found} & set(best.tolist()))
        assert hits / (10 * len(queries)) >= 0.95


def test_copies_come_by_number(large: tuple[str, PostgresStore, np.ndarray]) -> None:
    _, store, vectors = large
    store.refresh()
    found = store.search_vectors(vectors[0].astype(np.float32), 20, None)
    assert [number for number, _ in found] == [1 + 100 * place for place in range(20)]
    everything = store.search_vectors(vectors[0].astype(np.float32), MANY + 1, None)
    assert len(everything) == MANY


def test_copies_pass_a_filter_that_others_with_the_vector_do_not(
    large: tuple[str, PostgresStore, np.ndarray],
) -> None:
    _, store, vectors = large
    store.refresh()
    found = store.search_vectors(vectors[0].astype(np.float32), 20, Between("number", gte=1450))
    assert [number for number, _ in found] == [1501 + 100 * place for place in range(20)]


def test_broad_filters_on_terms(large: tuple[str, PostgresStore, np.ndarray]) -> None:
    _, store, _ = large
    found = store.search_terms(["w3"], 30, Between("tenth", gte=5))
    assert [number for number, _ in found] == [
        number + 1 for number in range(MANY) if number % 7 == 3 and number % 10 >= 5
    ][:30]


def test_copies_are_found_when_the_first_is_removed(large: tuple[str, PostgresStore, np.ndarray]) -> None:
    """Last, since it changes the library."""
    _, store, vectors = large
    store.refresh()
    assert store.remove("d0")
    found = store.search_vectors(vectors[0].astype(np.float32), 20, None)
    assert [number for number, _ in found] == [501 + 100 * place for place in range(20)]
    assert audit(store) == []
