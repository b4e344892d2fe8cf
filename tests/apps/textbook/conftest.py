"""An environment with a small book, a server that plays OpenAI, and a Qdrant."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import ScriptedServer
from qdrant_client import models
from qdrant_server import StandIn
from textbook_parts import ADMIN, BOOK, COMPLETIONS, EMBEDDINGS, KEY, embed, running, versions, write_book, writes

from src.qdrant import open_qdrant
from src.settings import COLLECTION, QdrantAddress, load
from src.tools.sync_book_to_qdrant import sync_book


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
def _environment(
    docs: Path, openai: ScriptedServer, one_certificate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Every variable of the application; of the model no text is embedded already.

    A file `.env` of the user's is hidden by that of the current folder, in which programs run too.
    """
    for name in ("QDRANT_API_KEY", "OPENAI_CHAT_MODEL", "CORS_ORIGINS", "ANSWERABLE_GROUNDING"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / ".env").touch()
    monkeypatch.chdir(tmp_path / "work")
    for name, value in {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": openai.url,
        "QDRANT_URL": ":memory:",
        "ADMIN_API_KEY": ADMIN,
        "INGEST_WAIT": "300",
        "BOOK_DOCS_PATH": str(docs),
        "SSL_CERT_FILE": one_certificate,
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


@pytest.fixture(scope="session")
def put_book() -> Callable[[str], None]:
    """Puts a book of some name where QDRANT_URL says: what `sync_book` made of it the first time."""
    made: dict[str, list[models.PointStruct]] = {}

    def put(name: str) -> None:
        if name in made:
            _store(made[name])
        else:
            sync_book()
            made[name] = _stored()

    return put


def _stored() -> list[models.PointStruct]:
    with open_qdrant(load().qdrant) as opened:
        records, _ = opened.client.scroll(COLLECTION, limit=1000, with_vectors=True)
    kept = {"id", "vector", "payload"}
    return [models.PointStruct.model_validate(record.model_dump(include=kept)) for record in records]


def _store(points: list[models.PointStruct]) -> None:
    version = f"{COLLECTION}.{time.time_ns()}"
    alias = models.CreateAlias(collection_name=version, alias_name=COLLECTION)
    with open_qdrant(load().qdrant) as opened:
        size = models.VectorParams(size=len(points[0].vector), distance=models.Distance.COSINE)
        opened.client.create_collection(version, size)
        opened.client.upsert(version, points)
        opened.client.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])


@pytest.fixture
def book(put_book: Callable[[str], None], openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small book is in the collection, embedded by OpenAI."""
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "text-embedding-3-small-of-the-book")
    put_book("small")
    openai.requests.clear()


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client of the service, which runs on a real socket."""
    with running() as client:
        yield client
