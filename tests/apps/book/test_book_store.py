"""Vectors into Qdrant: a folder, memory, a server; twice, changed, refused."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
from book_parts import DIMENSION, run_script, vector
from providers.scripted_server import Reply, ScriptedServer, json_reply

from answerable.errors import EmbedderMismatch, LibraryError, SettingsError
from book.connection import open_qdrant
from main import ContentChunk, QdrantConnectionError, StorageResult, VectorEmbedding, store_vectors
from retrieval import search

NAME = "book_embeddings"
ADDRESS = "https://a.example/x"
SERVER_KEY = "qdrant-Secret-0123456789"


def chunk(index: int, text: str, url: str = ADDRESS) -> ContentChunk:
    return ContentChunk(url, "X", index, text, 3, "Part", "part")


def embeddings(*chunks: ContentChunk) -> list[VectorEmbedding]:
    return [VectorEmbedding(each.chunk_id, vector(each.text)) for each in chunks]


def points(name: str) -> dict[str, Any]:
    """The payloads of all points by id."""
    with open_qdrant() as opened:
        records, _ = opened.client.scroll(name, limit=1000)
    return {str(record.id): record.payload for record in records}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server that isn't what one hopes for, at QDRANT_URL."""
    with ScriptedServer() as server:
        monkeypatch.setenv("QDRANT_URL", server.url)
        monkeypatch.setenv("QDRANT_API_KEY", SERVER_KEY)
        yield server


def test_the_signature_is_the_specified_one() -> None:
    assert list(inspect.signature(store_vectors).parameters) == ["embeddings", "chunks", "collection_name"]
    assert [field.name for field in fields(StorageResult)] == ["stored", "skipped_duplicates", "errors"]


def test_chunks_are_stored_with_their_payload(collection: str) -> None:
    given = [chunk(0, "one"), chunk(1, "two")]
    assert store_vectors(embeddings(*given), given, collection) == StorageResult(2, 0, [])
    found = points(collection)
    assert set(found) == {str(uuid5(NAMESPACE_URL, f"{ADDRESS}#{index}")) for index in (0, 1)}
    payload = found[given[1].chunk_id]
    assert UUID(given[1].chunk_id)
    assert {name: payload[name] for name in payload if name != "content_hash"} == {
        "url": ADDRESS,
        "title": "X",
        "chunk_index": 1,
        "text": "two",
        "token_count": 3,
        "section": "Part",
        "anchor": "part",
    }


def test_the_same_again_is_skipped_and_what_changed_replaces(collection: str) -> None:
    given = [chunk(0, "one"), chunk(1, "two")]
    store_vectors(embeddings(*given), given, collection)
    assert store_vectors(embeddings(*given), given, collection) == StorageResult(0, 2, [])
    changed = [given[0], chunk(1, "three")]
    assert store_vectors(embeddings(*changed), changed, collection) == StorageResult(1, 1, [])
    assert [payload["text"] for payload in points(collection).values()].count("three") == 1
    assert len(points(collection)) == 2
    renamed = [replace(each, title="Y") for each in changed]
    assert store_vectors(embeddings(*renamed), renamed, collection) == StorageResult(2, 0, [])


def test_the_same_index_of_two_pages_are_two_points(collection: str) -> None:
    given = [chunk(0, "one"), chunk(0, "one", f"{ADDRESS}#0")]
    assert store_vectors(embeddings(*given), given, collection).stored == 2
    assert len(points(collection)) == 2


def test_vectors_are_matched_by_id_and_what_has_no_partner_is_told(collection: str) -> None:
    given = [chunk(0, "one"), chunk(1, "two")]
    result = store_vectors(embeddings(given[1], chunk(2, "three")), given, collection)
    assert result.stored == 1
    assert [payload["text"] for payload in points(collection).values()] == ["two"]
    assert len(result.errors) == 2
    assert "chunk 0 of https://a.example/x has no vector" in result.errors[0]
    assert "has no chunk" in result.errors[1]


def test_more_than_one_request_holds(collection: str) -> None:
    given = [chunk(index, f"text {index}") for index in range(250)]
    assert store_vectors(embeddings(*given), given, collection) == StorageResult(250, 0, [])
    assert len(points(collection)) == 250


def test_nothing_makes_no_collection(environment: Path) -> None:
    assert store_vectors([], [], NAME) == StorageResult(0, 0, [])
    assert not environment.exists()


def test_a_vector_of_another_length_is_told(collection: str) -> None:
    given = [chunk(0, "one")]
    result = store_vectors([VectorEmbedding(given[0].chunk_id, [1.0, 2.0])], given, collection)
    assert (result.stored, result.skipped_duplicates, len(result.errors)) == (0, 0, 1)


def test_a_collection_of_other_vectors(collection: str) -> None:
    from qdrant_client.models import Distance, VectorParams

    with open_qdrant() as opened:
        opened.client.create_collection(collection, VectorParams(size=DIMENSION, distance=Distance.DOT))
    with pytest.raises(EmbedderMismatch, match="--collection"):
        store_vectors(embeddings(chunk(0, "one")), [chunk(0, "one")], collection)


def test_a_folder_is_there_for_the_next_process_and_waits_for_its_turn(environment: Path) -> None:
    given = [chunk(0, "the gait of a robot")]
    store_vectors(embeddings(*given), given, NAME)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with open_qdrant():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    threading.Timer(2, done.set).start()
    finished = run_script("retrieval.py", "--query", "gait of a robot")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "the gait of a robot" in finished.stdout
    assert done.is_set()
    thread.join()


def test_a_server_is_asked_with_the_key_and_a_refusal_does_not_show_it(server: ScriptedServer) -> None:
    server.script(f"/collections/{NAME}/exists", json_reply({"status": {"error": f"bad key {SERVER_KEY}"}}, 403))
    with pytest.raises(QdrantConnectionError, match="QDRANT_API_KEY") as raised:
        store_vectors(embeddings(chunk(0, "one")), [chunk(0, "one")], NAME)
    assert server.requests[0].headers["api-key"] == SERVER_KEY
    assert SERVER_KEY not in str(raised.value)
    assert isinstance(raised.value, LibraryError)
    assert isinstance(raised.value, ConnectionError)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500),
        Reply(404),
        Reply(200, {}, (b"<html>",)),
        Reply(429, {"Retry-After": "1"}),
        pytest.param(Reply(None), marks=pytest.mark.long),
    ],
)
def test_a_server_that_cannot_do_it(server: ScriptedServer, reply: Reply) -> None:
    server.script(f"/collections/{NAME}/exists", reply)
    with pytest.raises(QdrantConnectionError, match="QDRANT_URL"):
        search("one")


def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("QDRANT_API_KEY", SERVER_KEY)
    with pytest.raises(QdrantConnectionError, match="QDRANT_URL"):
        search("one")


def test_a_folder_that_cannot_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("QDRANT_URL", f"path:{tmp_path / 'file'}")
    with pytest.raises(QdrantConnectionError, match="QDRANT_URL"):
        search("one")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "QDRANT_URL is not set"),
        ("https://qdrant.example:6333", "QDRANT_API_KEY is not set"),
        ("http://127.0.0.1:6333", "QDRANT_API_KEY is not set"),
        ("path:", "names no folder"),
        ("ftp://user:pass-word@x", "QDRANT_URL is none of"),
    ],
)
def test_a_setting_that_is_missing_or_makes_no_sense(address: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", address)
    with pytest.raises(SettingsError, match=said) as raised:
        store_vectors(embeddings(chunk(0, "one")), [chunk(0, "one")], NAME)
    assert "pass-word" not in str(raised.value)
