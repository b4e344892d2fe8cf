"""An environment with a small book, a server that plays OpenAI, and a Qdrant."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import ScriptedServer
from qdrant_server import StandIn
from textbook_parts import ADMIN, BOOK, COMPLETIONS, EMBEDDINGS, KEY, embed, running, versions, write_book, writes

from src.qdrant import open_qdrant
from src.settings import QdrantAddress


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """The folder of the book's pages."""
    write_book(tmp_path / "docs", BOOK)
    return tmp_path / "docs"


@pytest.fixture
def openai() -> Iterator[ScriptedServer]:
    """A server that embeds, and writes a sentence of the book."""
    with ScriptedServer() as server:
        server.script(EMBEDDINGS, embed)
        server.script(COMPLETIONS, writes("A node is an independent process ", "with one task."))
        yield server


@pytest.fixture(autouse=True)
def _environment(docs: Path, openai: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every variable of the application, and no file `.env`; of the model no text is embedded already."""
    for name in ("QDRANT_API_KEY", "OPENAI_CHAT_MODEL", "CORS_ORIGINS", "ANSWERABLE_GROUNDING"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for name, value in {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": openai.url,
        "QDRANT_URL": ":memory:",
        "ADMIN_API_KEY": ADMIN,
        "INGEST_WAIT": "300",
        "BOOK_DOCS_PATH": str(docs),
        "OPENAI_EMBEDDING_MODEL": f"text-embedding-3-small-{uuid.uuid4().hex}",
    }.items():
        monkeypatch.setenv(name, value)
    yield
    monkeypatch.setenv("QDRANT_URL", ":memory:")
    names = versions()
    with open_qdrant(QdrantAddress()) as opened:
        for name in names:
            opened.client.delete_collection(name)


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A Qdrant server of the test's own."""
    server = StandIn(key="qdrant-Secret-0123456789")
    yield server
    server.close()


@pytest.fixture
def on_server(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """That server at QDRANT_URL."""
    monkeypatch.setenv("QDRANT_URL", stand_in.url)
    monkeypatch.setenv("QDRANT_API_KEY", stand_in.key)
    return stand_in


@pytest.fixture(params=["memory", "folder", "server"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of QDRANT_URL."""
    if request.param == "folder":
        monkeypatch.setenv("QDRANT_URL", f"path:{tmp_path / 'qdrant'}")
    elif request.param == "server":
        request.getfixturevalue("on_server")
    return str(request.param)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client of the service, which runs on a real socket."""
    with running() as client:
        yield client
