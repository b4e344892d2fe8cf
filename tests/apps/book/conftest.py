"""A book on loopback, a server that plays Cohere, and an environment with a folder for Qdrant."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from book_parts import EMBED, PUBLIC, BookQdrant, embed, serve_book, set_variables
from providers.scripted_server import ScriptedServer
from site_server import SiteServer

from book.connection import open_qdrant
from book.store import open_collection
from main import ingest_book


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A book of three pages, the last one of three chunks, and a page of tags; published under another address."""
    with serve_book() as site:
        yield site


@pytest.fixture
def cohere() -> Iterator[ScriptedServer]:
    """A server that embeds."""
    with ScriptedServer() as server:
        server.script(EMBED, embed)
        yield server


@pytest.fixture(autouse=True)
def environment(site: SiteServer, cohere: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every variable of the application; the folder that Qdrant will use."""
    folder = tmp_path / "qdrant"
    set_variables(monkeypatch, site, cohere, folder)
    return folder


@pytest.fixture(scope="session")
def stored_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that Qdrant used for the book, as it first was."""
    folder = tmp_path_factory.mktemp("book") / "qdrant"
    with serve_book() as site, ScriptedServer() as cohere, pytest.MonkeyPatch.context() as patch:
        cohere.script(EMBED, embed)
        set_variables(patch, site, cohere, folder)
        assert ingest_book(site.home).success
    return folder


@pytest.fixture
def ingested(stored_book: Path, environment: Path, site: SiteServer) -> None:
    """The book is stored, and was fetched from where it is now."""
    shutil.copytree(stored_book, environment)
    with open_collection("book_embeddings") as collection:
        for url, page in collection.pages().items():
            collection.note(url, {**page.note, "fetched": url.replace(PUBLIC, site.home)})


@pytest.fixture(scope="session")
def qdrant_server() -> Iterator[tuple[str, str]]:
    """Address and key of a server: the one at TEST_QDRANT_URL, otherwise the stand-in."""
    if address := os.environ.get("TEST_QDRANT_URL"):
        yield address, os.environ.get("TEST_QDRANT_API_KEY") or "none"
        return
    server = BookQdrant(key="qdrant-Secret-0123456789")
    yield server.url, server.key
    server.close()


@pytest.fixture(params=["folder", "memory", "server"])
def collection(
    request: pytest.FixtureRequest, qdrant_server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The name of a collection that isn't there yet, at QDRANT_URL."""
    if request.param == "memory":
        monkeypatch.setenv("QDRANT_URL", ":memory:")
    elif request.param == "server":
        monkeypatch.setenv("QDRANT_URL", qdrant_server[0])
        monkeypatch.setenv("QDRANT_API_KEY", qdrant_server[1])
    name = f"book_{uuid.uuid4().hex}"
    yield name
    with open_qdrant() as opened:
        opened.client.delete_collection(name)
