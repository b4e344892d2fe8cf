"""`POST /ingest`: who may, what it says, and that the book can be asked all the while."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import Reply, Request, ScriptedServer, failure
from textbook_parts import (
    ADMIN,
    ARMS,
    BOOK,
    EMBEDDINGS,
    NODES,
    embed,
    embedded,
    ingest,
    passages,
    running,
    say,
    versions,
    write_book,
)

from answerable.errors import LibraryBusy
from src.models import IngestRequest, IngestResponse
from src.tools.sync_book_to_qdrant import sync_book

QUESTION = "What is a node?"
PAGES = 3
CHUNKS = 6


@contextmanager
def asking_all_the_while() -> Iterator[list[httpx.Response]]:
    """A reader who asks again and again, of a server of its own; what they were told."""
    told: list[httpx.Response] = []
    stopping = threading.Event()
    with running() as client:

        def ask() -> None:
            while not stopping.is_set():
                told.append(say(client, QUESTION, f"r{len(told)}"))

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            yield told
        finally:
            stopping.set()
            thread.join()


def test_the_models_have_the_specified_fields() -> None:
    assert IngestRequest.model_validate({}).force_resync is False
    told = IngestResponse.model_json_schema()
    assert list(told["properties"]) == ["status", "message", "ingested_count"]
    assert told["required"] == ["status", "message"]


def test_the_book_is_ingested(anywhere: str, client: httpx.Client) -> None:
    reply = ingest(client)
    assert reply.status_code == 200
    assert reply.json() == {
        "status": "success",
        "message": f"{CHUNKS} chunks of {PAGES} pages are in the collection: {CHUNKS} were embedded, 0 taken over "
        "unchanged, 0 removed.",
        "ingested_count": CHUNKS,
    }
    assert [passage.place for passage in passages()] == [
        (NODES, "Nodes and Topics", ""),
        (NODES, "Nodes and Topics", "Topics"),
        (NODES, "Nodes and Topics", "Topics › Quality of service"),
        ("docs/module1/services.md", "Services", ""),
        (ARMS, "Arms", "Forward kinematics"),
        (ARMS, "Arms", "Inverse kinematics"),
    ]
    assert not any("front matter" in passage.text or "notes" in passage.text for passage in passages())


def test_without_a_body_nothing_is_forced(client: httpx.Client, openai: ScriptedServer) -> None:
    for _ in range(2):
        assert client.post("/ingest", headers={"X-Admin-Key": ADMIN}).json()["ingested_count"] == CHUNKS
    assert len(embedded(openai)) == CHUNKS


@pytest.mark.parametrize("key", [None, "", "wrong", ADMIN[:-1], f"{ADMIN}x", ADMIN.upper(), "ключ"])
def test_no_or_a_wrong_key_is_refused(client: httpx.Client, openai: ScriptedServer, key: str | None) -> None:
    headers = [] if key is None else [(b"X-Admin-Key", key.encode())]
    reply = client.post("/ingest", json={"force_resync": True}, headers=headers)
    assert reply.status_code == 401
    assert reply.json()["code"] == "unauthorized"
    assert openai.requests == []


@pytest.mark.parametrize("key", ["", ADMIN])
def test_without_an_admin_key_everyone_is_refused(
    client: httpx.Client, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADMIN_API_KEY")
    assert ingest(client, key=key).status_code == 401
    monkeypatch.setenv("ADMIN_API_KEY", "")
    assert ingest(client, key=key).status_code == 401


def test_a_key_may_hold_any_letters(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN_API_KEY", "llave-ñandú")
    reply = client.post("/ingest", headers=[(b"X-Admin-Key", "llave-ñandú".encode())])
    assert reply.status_code == 200


def test_a_flag_that_is_none_is_invalid(client: httpx.Client) -> None:
    reply = client.post("/ingest", json={"force_resync": "perhaps"}, headers={"X-Admin-Key": ADMIN})
    assert reply.status_code == 422


@pytest.mark.parametrize("editions", [1, pytest.param(6, marks=pytest.mark.long)])
def test_the_book_can_be_asked_during_a_resync(
    anywhere: str, book: None, client: httpx.Client, docs: Path, editions: int
) -> None:
    with asking_all_the_while() as told:
        for edition in range(editions):
            write_book(docs, {"edition.md": f"# Edition\n\nThis is edition {edition}.\n"})
            assert ingest(client, force=edition % 2 == 0).status_code == 200
            seen = len(told)
            while len(told) < seen + 2:
                time.sleep(0.01)
    assert {reply.status_code for reply in told} == {200}
    assert {reply.json()["response"] for reply in told} == {"A node is an independent process with one task."}
    assert all("Nodes and Topics" in reply.json()["sources"] for reply in told)
    assert len(versions()) == 1


def test_one_ingestion_at_a_time(client: httpx.Client, openai: ScriptedServer) -> None:
    going, waiting = threading.Event(), threading.Event()

    def slowly(request: Request) -> Reply:
        waiting.set()
        going.wait(30)
        return embed(request)

    openai.script(EMBEDDINGS, slowly)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(ingest, client)
        assert waiting.wait(30)
        second = ingest(client)
        with pytest.raises(LibraryBusy):
            sync_book()
        going.set()
        assert first.result().json()["status"] == "success"
    assert second.status_code == 409
    assert second.json()["status"] == "failed"
    assert "already" in second.json()["message"]
    assert ingest(client).status_code == 200


def test_a_failure_says_so_and_leaves_the_book(
    book: None, client: httpx.Client, openai: ScriptedServer, docs: Path
) -> None:
    write_book(docs, {"module3/legs.md": "# Legs\n\nLegs walk.\n"})
    openai.script(EMBEDDINGS, failure(401, "Incorrect API key"))
    reply = ingest(client)
    assert reply.status_code == 500
    assert list(reply.json()) == ["status", "message", "ingested_count"]
    assert (reply.json()["status"], reply.json()["ingested_count"]) == ("failed", None)
    assert "OPENAI_API_KEY" in reply.json()["message"]
    openai.script(EMBEDDINGS, embed)
    assert len(passages()) == CHUNKS
    assert say(client, QUESTION).status_code == 200


def test_embedding_is_tried_again(client: httpx.Client, openai: ScriptedServer) -> None:
    openai.script(EMBEDDINGS, failure(429, "slow down", retry_after=0), failure(500, "boom", retry_after=0), embed)
    assert ingest(client).json()["ingested_count"] == CHUNKS


@pytest.mark.parametrize("folder", ["", "no/such/folder"])
def test_a_folder_that_is_none_is_named(client: httpx.Client, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK_DOCS_PATH", folder)
    reply = ingest(client)
    assert reply.status_code == 500
    assert "BOOK_DOCS_PATH" in reply.json()["message"]


def test_a_folder_without_pages_does_not_empty_the_book(book: None, client: httpx.Client, docs: Path) -> None:
    for name in BOOK:
        if not name.endswith(".txt"):
            (docs / name).unlink()
    reply = ingest(client, force=True)
    assert (reply.status_code, reply.json()["status"]) == (500, "failed")
    assert len(passages()) == CHUNKS
