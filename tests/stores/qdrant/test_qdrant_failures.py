"""A Qdrant server that refuses, fails, is slow, is none, or has been tampered with."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from helpers import indexed_texts
from qdrant_client import models
from qdrant_libraries import ANYWHERE, client, ids, opened, write
from qdrant_server import Fault, StandIn, api_key, new_library

from answerable.errors import (
    AnswerableError,
    LibraryBusy,
    LibraryDamaged,
    LibraryError,
    LibraryFormatError,
    LibraryReadOnly,
    SettingsError,
)
from answerable.stores.addresses import parse_qdrant
from answerable.stores.audit import audit
from answerable.stores.qdrant.head import matches
from answerable.stores.qdrant.points import chunk_point, document_points
from answerable.stores.qdrant.store import QdrantStore

KEY, READING_KEY = "s3cret-key", "r3ading-key"


@pytest.fixture
def server() -> Iterator[StandIn]:
    """A server of its own, to meddle with."""
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def address() -> str:
    """Where no library is yet."""
    return new_library()


def test_keys() -> None:
    with closing(StandIn(KEY, READING_KEY)) as server:
        address = server.address()
        for wrong in ("", "wrong"):
            with pytest.raises(LibraryError, match="QDRANT_API_KEY"):
                QdrantStore(address, key=wrong)
        store = opened(address, key=KEY)
        write(store, "a")
        reading = opened(address, key=READING_KEY, create=False)
        assert (store.is_writable, reading.is_writable) == (True, False)
        assert [number for number, _ in reading.search_vectors(ANYWHERE, 5, None)] == [1]
        assert ids(reading) == ["a"]
        reading.refresh()
        changes: list[Callable[[], object]] = [lambda: write(reading, "b"), lambda: reading.remove("a")]
        for change in changes:
            with pytest.raises(LibraryReadOnly, match="QDRANT_API_KEY"):
                change()
        with pytest.raises(LibraryReadOnly):
            QdrantStore(server.address(), key=READING_KEY)
        assert ids(store) == ["a"]
        reading.close()
        store.close()


def test_the_key_is_never_told() -> None:
    told: list[str] = []
    with closing(StandIn(KEY)) as server:
        store = opened(server.address(), key=KEY)
        server.meddle = lambda number, is_done: Fault(400, f"unknown header value {KEY}")
        for work in (store.count, lambda: write(store, "a"), lambda: QdrantStore(server.address(), key=KEY)):
            with pytest.raises(AnswerableError) as raised:
                work()
            told.append(f"{raised.value!s} {raised.value!r}")
        store.close()
    for key in (f"{KEY}\n{KEY}", f"{KEY}é"):
        with pytest.raises(SettingsError) as refused:
            QdrantStore("qdrant+http://localhost", key=key)
        told.append(str(refused.value))
    assert not [text for text in told if KEY in text]
    assert "[key]" in told[0]


def test_no_server_at_all() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(LibraryError, match=r"can't be reached.*host and port"):
            QdrantStore(f"qdrant+http://127.0.0.1:{taken.getsockname()[1]}/x")


@pytest.mark.parametrize("page", [b"<html>", b"{}", b'{"title": "elastic", "version": "9.1.0"}'])
@pytest.mark.parametrize("status", [200, 404])
def test_a_server_of_another_kind(page: bytes, status: int) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, args=(0.05,), daemon=True).start()
        with pytest.raises(LibraryError, match="isn't a Qdrant server"):
            QdrantStore(f"qdrant+http://127.0.0.1:{other.server_port}/x")
        other.shutdown()


def test_a_server_that_is_too_old() -> None:
    with closing(StandIn(version="1.15.4")) as server, pytest.raises(LibraryError, match=r"1\.15\.4; 1\.16 or later"):
        QdrantStore(server.address())


def test_a_server_that_is_too_slow(server: StandIn) -> None:
    address = server.address("slow")
    store = opened(address)
    store.close()
    store = opened(f"{address}?timeout=3")
    over = threading.Event()
    server.meddle = lambda number, is_done: None if over.wait(60) else Fault()
    with pytest.raises(LibraryBusy, match=r"3 seconds.*timeout="):
        store.count()
    over.set()
    store.close()


@pytest.mark.parametrize(
    "fault",
    [Fault(), Fault(429, headers={"Retry-After": "1"}), Fault(429), Fault(500), Fault(502), Fault(503), Fault(504)],
)
@pytest.mark.parametrize("is_lost", [False, True])
def test_what_passes_is_waited_out(server: StandIn, fault: Fault, is_lost: bool) -> None:
    """Some requests fail, carried out or not: nobody notices, and nothing is done twice."""
    store = opened(server.address())
    failing = {len(server.requests) + number for number in (1, 2, 4, 7)}
    server.meddle = lambda number, is_done: fault if number in failing and is_done == is_lost else None
    write(store, "a")
    assert (ids(store), store.count()) == (["a"], (1, 1))
    assert [number for number, _ in store.search_vectors(ANYWHERE, 5, None)] == [1]
    store.close()


def test_what_does_not_pass_is_told(server: StandIn) -> None:
    store = opened(server.address("x") + "?timeout=3")
    for fault, kind in ((Fault(503), LibraryBusy), (Fault(), LibraryError), (Fault(400, "no space"), LibraryError)):
        server.meddle = lambda number, is_done, fault=fault: fault  # type: ignore[misc]
        with pytest.raises(kind):
            store.count()
    server.meddle = lambda number, is_done: None
    assert store.count() == (0, 0)
    store.close()


def test_collections_that_are_not_ours(address: str) -> None:
    name = parse_qdrant(address).name
    with closing(client(address)) as other:
        other.create_collection(f"{name}.1", vectors_config={})
        other.upsert(f"{name}.1", [models.PointStruct(id=1, vector={}, payload={"theirs": True})])
        with pytest.raises(LibraryError, match=f"{name}.1.*didn't make"):
            QdrantStore(address, key=api_key())
        other.delete_collection(f"{name}.1")
        other.create_collection(name, vectors_config={})
        with pytest.raises(LibraryError, match="didn't make"):
            QdrantStore(address, key=api_key())
        assert other.count(name).count == 0
        other.delete_collection(name)


def test_other_formats(address: str) -> None:
    opened(address).close()
    with closing(client(address)) as other:
        (state,) = other.scroll(parse_qdrant(address).name, with_payload=True)[0]
        changed = models.PointStruct(id=state.id, vector={}, payload={**(state.payload or {}), "format": 3})
        other.upsert(parse_qdrant(address).name, [changed])
    for create in (True, False):
        with pytest.raises(LibraryFormatError, match=r"format 3;.*formats 1 and 2"):
            QdrantStore(address, create, key=api_key())


def test_a_library_of_format_1_is_read_and_upgraded_by_the_first_write(address: str) -> None:
    store = opened(address)
    for name in ("a", "b"):
        write(store, name)
    document, chunks = indexed_texts("c", ["Uno."], [[1, 0, 0, 0]])
    store.close()
    name = parse_qdrant(address).name
    with closing(client(address)) as other:
        ((head, *_), _) = other.scroll(name, models.Filter(must=[matches("kind", "answerable")]))
        now = json.loads((head.payload or {})["state"])
        kept = {key: now[key] for key in ("identity", "collection", "changed", "fingerprint", "documents", "chunks")}
        # The version before noted a write under way, which has uploaded its points.
        given = now["given"] + 2
        note = {"token": "x", "first": given - 1, "last": given, "after_number": 2, "until": now["changed"] + 60}
        lists = {"writing": [note], "erasing": [], "abandoned": []}
        counters = {"version": 9, "number": 3, "generation": given, "dropped": 0}
        vectors = {"vectors": "", "next_vectors": "", "next_fingerprint": None}
        state = json.dumps({**kept, **lists, **counters, **vectors})
        payload = {**(head.payload or {}), "format": 1, "version": 9, "state": state}
        other.upsert(name, [models.PointStruct(id=head.id, vector={}, payload=payload)])
        unfinished = [chunk_point(chunks[0], 3, given - 1)], document_points(document, 1, given - 1)
        for collection, points in zip((f"{name}.1.chunks", name), unfinished, strict=True):
            other.upsert(collection, points)
        reading = QdrantStore(address, create=False, key=api_key())
        assert (ids(reading), reading.count()) == (["a", "b"], (2, 2))
        write(reading, "d")
        assert (ids(reading), reading.count(), audit(reading)) == (["a", "b", "d"], (3, 3), [])
        assert [number for number, _ in reading.search_vectors(ANYWHERE, 9, None)] == [1, 2, 4]
        assert other.count(f"{name}.1.chunks").count == 3
        assert other.retrieve(name, [head.id])[0].payload["format"] == 2  # type: ignore[index]
        reading.close()


def test_a_collection_for_other_vectors_is_damage(address: str) -> None:
    store = opened(address)
    store.close()
    with closing(client(address)) as other:
        chunks = f"{parse_qdrant(address).name}.1.chunks"
        other.delete_collection(chunks)
        vectors = {"dense": models.VectorParams(size=9, distance=models.Distance.DOT)}
        other.create_collection(chunks, vectors_config=vectors)
    with closing(QdrantStore(address, key=api_key())) as store, pytest.raises(LibraryDamaged, match="4 numbers"):
        write(store, "a")


def test_a_lost_collection_is_damage(address: str) -> None:
    store = opened(address)
    write(store, "a")
    with closing(client(address)) as other:
        other.delete_collection(f"{parse_qdrant(address).name}.1.chunks")
    with pytest.raises(LibraryDamaged, match="snapshot"):
        store.search_vectors(ANYWHERE, 5, None)
    store.close()


def test_a_closed_store_says_so(address: str) -> None:
    store = opened(address)
    store.close()
    with pytest.raises(LibraryError, match="closed"):
        store.count()
