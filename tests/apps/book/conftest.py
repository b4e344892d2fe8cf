"""A book on loopback, a server that plays Cohere, and an environment with a folder for Qdrant."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from book_parts import ARM, EMBED, KEY, LEG, PUBLIC, BookQdrant, embed, make_page, make_section, words
from providers.scripted_server import ScriptedServer
from site_server import SiteServer

from book.connection import open_qdrant


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A book of three pages, the last one of three chunks, and a page of tags; published under another address."""
    with SiteServer(base="/book/", public=PUBLIC) as site:
        site.put("/book/docs/arm", make_page("Arms", ARM))
        site.put("/book/docs/leg", make_page("Legs", LEG))
        site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", words(700, "lens"))))
        site.put("/book/docs/tags", make_page("Tags", "<p>All tags</p>", kind="docs-tags-list-page"))
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
    for name in ("QDRANT_API_KEY", "BOOK_BASE_URL", "LOG_LEVEL", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "qdrant"
    for name, value in {
        "COHERE_API_KEY": KEY,
        "CO_API_URL": cohere.url,
        "QDRANT_URL": f"path:{folder}",
        "ANSWERABLE_ALLOW_HOSTS": site.url.removeprefix("http://"),
        "ANSWERABLE_REQUESTS_PER_SECOND": "1000",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


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
