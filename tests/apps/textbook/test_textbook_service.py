"""The service around the book: how it starts and stops, who may ask it from where, and ingestions that take long."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn
from providers.scripted_server import Reply, Request, ScriptedServer, failure
from textbook_parts import EMBEDDINGS, embed, embedded, ingest, last_ingestion, running, say

from answerable.errors import SettingsError
from src.main import app
from src.settings import load
from src.tools.sync_book_to_qdrant import sync_book

SITE = "https://book.example"
CHUNKS = 6


class Gate:
    """Makes each request for vectors wait until the test lets it through."""

    def __init__(self, openai: ScriptedServer) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()
        openai.script(EMBEDDINGS, self._wait)

    def _wait(self, request: Request) -> Reply:
        self.asked.set()
        assert self.open.wait(60)
        return embed(request)


@pytest.fixture
def gate(openai: ScriptedServer) -> Gate:
    return Gate(openai)


def preflight(client: httpx.Client, path: str = "/chat", origin: str = SITE, **asked: str) -> httpx.Response:
    """What a browser asks before it sends a request of a page of that origin."""
    headers = {"Origin": origin, "Access-Control-Request-Method": asked.get("method", "POST")}
    headers["Access-Control-Request-Headers"] = asked.get("headers", "content-type")
    return client.options(path, headers=headers)


def until_ended(client: httpx.Client) -> dict[str, object]:
    """What is said of the ingestion once it has ended."""
    deadline = time.monotonic() + 60
    while (said := last_ingestion(client)).json()["status"] == "started":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert said.status_code == 200
    found: dict[str, object] = said.json()
    return found


def test_health_asks_nobody(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    assert (client.get("/health").status_code, client.get("/health").json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("name", "value"), [("QDRANT_URL", ""), ("CORS_ORIGINS", "*"), ("INGEST_WAIT", "soon"), ("CHAT_SESSIONS_PATH", "/")]
)
def test_a_setting_that_is_missing_or_wrong_ends_the_start_in_one_line(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            uvicorn.Server(uvicorn.Config(app, port=0, log_config=None)).run()
    assert ended.value.code != 0
    told, last = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert name in told.getMessage()
    assert "\n" not in told.getMessage()
    assert (told.exc_info, last.getMessage()) == (None, "Application startup failed. Exiting.")


def test_an_unset_key_of_the_administrator_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "textbook"):
        with running():
            pass
        assert caplog.messages == []
        monkeypatch.delenv("ADMIN_API_KEY")
        with running():
            pass
    assert caplog.messages == [
        "ADMIN_API_KEY is not set: POST /ingest refuses everyone. Set it to a secret of your own."
    ]


def test_pages_of_named_origins_may_ask(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", f"http://localhost:3000, {SITE}")
    for origin in (SITE, "http://localhost:3000"):
        allowed = preflight(client, origin=origin)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == origin
        assert "POST" in allowed.headers["access-control-allow-methods"]
        assert "content-type" in allowed.headers["access-control-allow-headers"].lower()
        assert "access-control-allow-credentials" not in allowed.headers
    body = {"message": "What is a node?", "session_id": "s"}
    reply = client.post("/chat", json=body, headers={"Origin": SITE})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, SITE)
    assert "Origin" in reply.headers["vary"]
    # A page is told of errors, too.
    wrong = client.post("/chat", json={}, headers={"Origin": SITE})
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (422, SITE)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://book.example", f"{SITE}.evil.example", f"{SITE}:444", "null", SITE.upper()],
)
def test_other_pages_may_not(client: httpx.Client, origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", SITE)
    refused = preflight(client, origin=origin)
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers
    assert "access-control-allow-origin" not in client.get("/health", headers={"Origin": origin}).headers


def test_without_origins_no_page_may(client: httpx.Client) -> None:
    assert "access-control-allow-origin" not in preflight(client).headers


def test_no_page_may_send_the_administrators_key(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", SITE)
    assert preflight(client, "/ingest", headers="content-type, x-admin-key").status_code == 400


@pytest.mark.parametrize("origins", ["*", f"{SITE}/docs", "book.example", "https://*.example", "null"])
def test_what_is_no_origin_is_named(origins: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("CORS_ORIGINS", f"http://localhost:3000,{origins}")
        with pytest.raises(SettingsError, match="CORS_ORIGINS names"):
            load()
    # As people copy it from the browser's address.
    monkeypatch.setenv("CORS_ORIGINS", "https://Book.example/")
    assert load().origins == {SITE}


def test_a_long_ingestion_goes_on_in_the_background(
    client: httpx.Client, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_WAIT", "0.1")
    assert last_ingestion(client).status_code == 404
    started = ingest(client)
    assert (started.status_code, started.json()["status"]) == (202, "started")
    assert list(started.json()) == ["status", "message", "ingested_count"]
    assert gate.asked.wait(60)
    assert last_ingestion(client).json()["status"] == "started"
    second = ingest(client)
    assert (second.status_code, second.json()["status"]) == (409, "failed")
    assert "already" in second.json()["message"]
    assert client.get("/health").status_code == 200
    gate.open.set()
    ended = until_ended(client)
    assert (ended["status"], ended["ingested_count"]) == ("success", CHUNKS)
    assert say(client, "What is a node?").json()["sources"]


def test_a_failure_in_the_background_is_logged_and_told_later(
    client: httpx.Client, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("INGEST_WAIT", "0")
    openai.script(EMBEDDINGS, failure(401, "Incorrect API key"))
    assert ingest(client).json()["status"] == "started"
    ended = until_ended(client)
    assert (ended["status"], ended["ingested_count"]) == ("failed", None)
    assert "OPENAI_API_KEY" in str(ended["message"])
    assert any("The ingestion failed" in message and "OPENAI_API_KEY" in message for message in caplog.messages)
    openai.script(EMBEDDINGS, embed)
    ingest(client)
    assert until_ended(client)["status"] == "success"


@pytest.mark.parametrize("key", [None, "wrong", ""])
def test_only_the_administrator_is_told_of_ingestions(client: httpx.Client, key: str | None) -> None:
    reply = client.get("/ingest", headers={} if key is None else {"X-Admin-Key": key})
    assert reply.status_code == 401


def test_a_stop_ends_an_ingestion_after_its_batch_and_leaves_the_book(
    book: None, openai: ScriptedServer, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        (docs / f"page{number}.md").write_text(f"# Page {number}\n\nIt says {number}.\n", "utf-8")
    monkeypatch.setenv("INGEST_WAIT", "0")
    gate = Gate(openai)
    with running() as client:
        assert ingest(client).status_code == 202
        assert gate.asked.wait(60)
        threading.Timer(1, gate.open.set).start()
    assert 0 < len(embedded(openai)) < 100
    assert sync_book().chunks == CHUNKS + 100
