"""A real PostgreSQL with a collection of the test's own, a server that plays OpenAI, and a PDF."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from pdf_chat_parts import EMBEDDINGS, KEY, answers, embed
from postgres_server import shared_database
from providers.scripted_server import ScriptedServer
from sources.conftest import build_pdf

from ingest import ingest_pdf

PAGES = (
    "Relatório anual da empresa SuperTechIABrazil.\nO faturamento foi de 10 milhões de reais em 2023.",
    "A sede fica em São Paulo.\nA empresa foi fundada por Ana Souza em 1998.",
)


@pytest.fixture(scope="session")
def database() -> str:
    """The address of a database on the shared server, for this process's tests only."""
    name = f"pdf_chat_{uuid.uuid4().hex}"
    with psycopg.connect(shared_database(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, query = shared_database().partition("?")
    return f"{before.rpartition('/')[0]}/{quote(name)}?{query}"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that embeds, and answers what the test tells it to."""
    with ScriptedServer() as server:
        server.script(EMBEDDINGS, embed)
        answers(server, "O faturamento foi de 10 milhões de reais em 2023.")
        yield server


@pytest.fixture
def environment(database: str, server: ScriptedServer, tmp_path: Path) -> dict[str, str]:
    """Every variable of the application, with a collection that isn't there yet."""
    return {
        "DATABASE_URL": database,
        "PG_VECTOR_COLLECTION_NAME": f"docs_{uuid.uuid4().hex}",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "PDF_PATH": str(tmp_path / "relatório anual.pdf"),
    }


@pytest.fixture(autouse=True)
def _the_environment(
    environment: dict[str, str], one_certificate: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the application reads is what a test sets; a file .env of the user's is hidden by that of the folder."""
    for name in ("OPENAI_CHAT_MODEL", "OPENAI_EMBEDDING_MODEL", "ANSWERABLE_GROUNDING"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**environment, "SSL_CERT_FILE": one_certificate}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "cwd").mkdir()
    (tmp_path / "cwd" / ".env").touch()
    monkeypatch.chdir(tmp_path / "cwd")


@pytest.fixture
def save_pdf(environment: dict[str, str]) -> Callable[..., Path]:
    """Writes pages as the PDF at PDF_PATH."""

    def save(*pages: str) -> Path:
        path = Path(environment["PDF_PATH"])
        path.write_bytes(build_pdf(pages or PAGES))
        return path

    return save


@pytest.fixture(scope="session")
def ingest_once() -> Callable[[], int]:
    """What ingests the first time only."""
    return cache(ingest_pdf)


@pytest.fixture
def collection(
    environment: dict[str, str],
    save_pdf: Callable[..., Path],
    ingest_once: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The usual two pages, ingested into a collection that all tests that only ask share."""
    environment["PG_VECTOR_COLLECTION_NAME"] = "two_pages"
    monkeypatch.setenv("PG_VECTOR_COLLECTION_NAME", "two_pages")
    save_pdf()
    assert ingest_once() == 2


@pytest.fixture
def rows(database: str, environment: dict[str, str]) -> Callable[[], list[tuple[str, dict[str, object], int]]]:
    """The texts, metadata and dimensions that are stored in the test's collection, in order."""

    def read() -> list[tuple[str, dict[str, object], int]]:
        with psycopg.connect(database) as connection:
            return connection.execute(
                "SELECT document, e.cmetadata, vector_dims(embedding) FROM langchain_pg_embedding e"
                " JOIN langchain_pg_collection c ON c.uuid = collection_id WHERE name = %s"
                " ORDER BY e.cmetadata->'page', e.cmetadata->'chunk_index', e.ctid",
                [environment["PG_VECTOR_COLLECTION_NAME"]],
            ).fetchall()

    return read
