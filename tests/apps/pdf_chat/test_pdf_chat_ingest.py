"""A PDF into the collection: chunks, metadata, errors."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import openai
import psycopg
import pytest
from pdf_chat_parts import APP, EMBEDDINGS, KEY, embed, embedded, refuses
from postgres_server import PASSWORD, private_server
from providers.scripted_server import Ending, Reply, ScriptedServer
from sources.conftest import build_pdf

import ingest
from ingest import APIError, ConfigurationError, DatabaseError, ExternalServiceError, RAGError, ingest_pdf

Rows = Callable[[], list[tuple[str, dict[str, Any], int]]]
SavePdf = Callable[..., Path]

LONG = "\n".join(f"A linha {number} fala do assunto número {number * 7} com muitas palavras." for number in range(60))


def words(seed: int, count: int) -> str:
    return " ".join(f"palavra{seed}x{number}" for number in range(count))


def test_the_signature_is_the_specified_one() -> None:
    assert str(inspect.signature(ingest_pdf)) in ("() -> int", "() -> 'int'")


def test_the_errors_are_a_tree() -> None:
    assert issubclass(ConfigurationError, RAGError)
    assert issubclass(DatabaseError, RAGError)
    assert issubclass(DatabaseError, ConnectionError)
    assert issubclass(ExternalServiceError, RAGError)
    assert APIError is ExternalServiceError
    assert issubclass(APIError, openai.APIError)
    error = APIError("sem conexão")
    assert (str(error), error.message, error.body) == ("sem conexão", "sem conexão", None)
    assert str(pickle.loads(pickle.dumps(error))) == "sem conexão"
    assert str(ExternalServiceError()) == ""


def test_a_failure_of_openai_is_caught_by_its_own_name(save_pdf: SavePdf, server: ScriptedServer) -> None:
    save_pdf()
    refuses(server, EMBEDDINGS, 401, f"Incorrect API key provided: {KEY}")
    with pytest.raises(openai.APIError) as raised:
        ingest_pdf()
    assert KEY not in f"{raised.value!r} {vars(raised.value)}"


def test_chunks_are_stored_with_their_place(save_pdf: SavePdf, rows: Rows) -> None:
    path = save_pdf()
    assert ingest_pdf() == 2
    assert [(text.split("\n")[0], meta, dimension) for text, meta, dimension in rows()] == [
        ("Relatório anual da empresa SuperTechIABrazil.", {"source": str(path), "page": 0, "chunk_index": 0}, 1536),
        ("A sede fica em São Paulo.", {"source": str(path), "page": 1, "chunk_index": 1}, 1536),
    ]


def test_long_pages_are_cut_and_neighbours_overlap(save_pdf: SavePdf, rows: Rows) -> None:
    save_pdf(LONG, LONG.upper())
    count = ingest_pdf()
    stored = rows()
    assert count == len(stored) > 6
    assert [meta["chunk_index"] for _, meta, _ in stored] == list(range(count))
    assert all(len(text) <= 1000 for text, _, _ in stored)
    for (before, one, _), (after, other, _) in pairwise(stored):
        shared = next((n for n in range(150, 0, -1) if before.endswith(after[:n])), 0)
        # Within a page neighbours share whole lines, and pages share nothing.
        assert (shared > 60) == (one["page"] == other["page"])
        assert not shared or before[-shared - 1] == "\n"


def test_the_identical_file_again_adds_and_embeds_nothing(
    save_pdf: SavePdf, rows: Rows, server: ScriptedServer
) -> None:
    save_pdf(LONG)
    count = ingest_pdf()
    before, asked = rows(), embedded(server)
    assert ingest_pdf() == count
    assert rows() == before
    assert embedded(server) == asked


def test_a_changed_file_adds_and_changes_nothing_that_is_there(save_pdf: SavePdf, rows: Rows) -> None:
    save_pdf("Preço: 10 reais.", "Página que fica igual.")
    assert ingest_pdf() == 2
    before = rows()
    save_pdf("Preço: 12 reais.", "Página que fica igual.")
    assert ingest_pdf() == 2
    after = rows()
    assert [text for text, _, _ in after] == ["Preço: 10 reais.", "Preço: 12 reais.", "Página que fica igual."]
    assert all(row in after for row in before)


def test_the_same_text_twice_in_a_file_is_stored_twice(save_pdf: SavePdf, rows: Rows) -> None:
    save_pdf("A mesma página.", "A mesma página.")
    assert ingest_pdf() == 2
    assert [meta["page"] for _, meta, _ in rows()] == [0, 1]


def test_two_collections_of_a_database_hold_the_same_file(
    save_pdf: SavePdf, rows: Rows, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save_pdf()
    ingest_pdf()
    first = rows()
    environment["PG_VECTOR_COLLECTION_NAME"] += "_other"
    monkeypatch.setenv("PG_VECTOR_COLLECTION_NAME", environment["PG_VECTOR_COLLECTION_NAME"])
    assert rows() == []
    assert ingest_pdf() == 2
    assert rows() == first


def test_more_chunks_than_are_stored_at_once(
    save_pdf: SavePdf, rows: Rows, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [f"Página {number}: {words(number, 5)}." for number in range(ingest.BATCH + 20)]
    save_pdf(*pages)
    monkeypatch.setenv("ANSWERABLE_PROVIDER_TIMEOUT", "5")
    # The second batch fails: what the first one stored stays, and isn't embedded again.
    server.script(EMBEDDINGS, embed, *[Reply(400)] * 2, embed)
    with pytest.raises(ExternalServiceError):
        ingest_pdf()
    assert len(rows()) == ingest.BATCH
    server.script(EMBEDDINGS, embed)
    asked = len(embedded(server))
    assert ingest_pdf() == len(pages)
    assert len(rows()) == len(pages)
    assert len(embedded(server)) - asked == 20


def test_a_missing_file(environment: dict[str, str]) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        ingest_pdf()
    assert str(raised.value) == f"Arquivo PDF não encontrado: {environment['PDF_PATH']}"


def test_a_folder_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDF_PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        ingest_pdf()


# A page with a text of blanks may be a scan, which is looked at for two seconds.
@pytest.mark.parametrize("page", ["", pytest.param("  ", marks=pytest.mark.long)])
def test_a_pdf_without_text(save_pdf: SavePdf, page: str) -> None:
    save_pdf("", page)
    with pytest.raises(ValueError, match="não contém texto"):
        ingest_pdf()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7\nnothing of a PDF", "danificado"),
        (b"Apenas texto.", "PDF"),
        (b"# Title\n\n<html>", "PDF"),
    ],
)
def test_what_is_no_pdf(save_pdf: SavePdf, data: bytes, said: str) -> None:
    save_pdf().write_bytes(data)
    with pytest.raises(ConfigurationError, match=said):
        ingest_pdf()


def test_a_pdf_that_needs_a_password(save_pdf: SavePdf) -> None:
    # Of a security handler that nobody has a password for.
    encrypted = build_pdf(["Segredo"]).replace(
        b"/Root 1 0 R",
        b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<" + b"00" * 32 + b">/U<" + b"11" * 32 + b">>>"
        b"/ID[<00><00>]/Root 1 0 R",
    )
    save_pdf().write_bytes(encrypted)
    with pytest.raises(ConfigurationError, match="senha"):
        ingest_pdf()


@pytest.mark.parametrize("name", ["PDF_PATH", "DATABASE_URL", "PG_VECTOR_COLLECTION_NAME", "OPENAI_API_KEY"])
@pytest.mark.parametrize("value", ["", "  "])
def test_a_missing_variable_is_named(save_pdf: SavePdf, name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"a variável {name} não está definida"):
        ingest_pdf()


def test_another_server_may_go_without_a_key(save_pdf: SavePdf, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.delenv("OPENAI_API_KEY")
    assert ingest_pdf() == 2


@pytest.mark.parametrize("address", ["mysql://a:pass-word@b/c", "nothing", "http://[", "sqlite://"])
def test_an_address_of_no_postgres(save_pdf: SavePdf, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.setenv("DATABASE_URL", address)
    with pytest.raises(ConfigurationError, match="DATABASE_URL") as raised:
        ingest_pdf()
    assert "pass-word" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql+psycopg", "postgresql+psycopg2"])
def test_usual_spellings_of_the_address(
    save_pdf: SavePdf, database: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_pdf()
    monkeypatch.setenv("DATABASE_URL", database.replace("postgresql", scheme, 1))
    assert ingest_pdf() == 2


def test_no_database(save_pdf: SavePdf, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:secret@127.0.0.1:9/x")
    with pytest.raises(ConnectionError) as raised:
        ingest_pdf()
    assert isinstance(raised.value, DatabaseError)
    assert "secret" not in str(raised.value)


def test_a_password(save_pdf: SavePdf, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    with private_server(PASSWORD) as postgres:
        monkeypatch.setenv("DATABASE_URL", postgres.address.replace("postgres:", "postgres:x", 1))
        with pytest.raises(DatabaseError, match="password authentication failed"):
            ingest_pdf()
        monkeypatch.setenv("DATABASE_URL", postgres.address)
        assert ingest_pdf() == 2
        # The pool notices that its connections are gone.
        postgres.stop()
        with pytest.raises(DatabaseError):
            ingest_pdf()
        postgres.start()
        assert ingest_pdf() == 2


def test_a_refused_key(save_pdf: SavePdf, server: ScriptedServer, rows: Rows) -> None:
    save_pdf()
    refuses(server, EMBEDDINGS, 401, f"Incorrect API key provided: {KEY}", "invalid_api_key")
    with pytest.raises(APIError, match="OPENAI_API_KEY") as raised:
        ingest_pdf()
    assert KEY not in str(raised.value)
    assert rows() == []


def test_a_model_that_is_not_there(save_pdf: SavePdf, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "text-embedding-9")
    refuses(server, EMBEDDINGS, 404, "The model `text-embedding-9` does not exist", "model_not_found")
    with pytest.raises(APIError, match="OPENAI_EMBEDDING_MODEL"):
        ingest_pdf()
    assert server.requests[-1].body["model"] == "text-embedding-9"


@pytest.mark.long
def test_a_server_that_says_nothing(save_pdf: SavePdf, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    save_pdf()
    monkeypatch.setenv("ANSWERABLE_PROVIDER_TIMEOUT", "1")
    server.script(EMBEDDINGS, Reply(None, ending=Ending.HANG))
    with pytest.raises(APIError, match="a tempo"):
        ingest_pdf()


def test_the_default_models_are_asked(save_pdf: SavePdf, server: ScriptedServer) -> None:
    save_pdf()
    ingest_pdf()
    (request,) = server.requests
    assert (request.body["model"], request.body["dimensions"]) == ("text-embedding-3-small", 1536)
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.long
def test_many_processes_may_begin_at_once(save_pdf: SavePdf, rows: Rows, environment: dict[str, str]) -> None:
    # In a database of its own, where extension and tables have yet to be made.
    save_pdf(LONG)
    with private_server() as postgres:
        environment["DATABASE_URL"] = postgres.address
        started = [
            subprocess.Popen(
                [sys.executable, APP / "ingest.py"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                env={**os.environ, **environment},
            )
            for _ in range(3)
        ]
        done = [(process.communicate(timeout=120), process.returncode) for process in started]
        assert [status for _, status in done] == [0, 0, 0], done
        with psycopg.connect(postgres.address) as connection:
            (stored,) = connection.execute("SELECT count(*) FROM langchain_pg_embedding").fetchone() or (0,)
        assert done[0][0][0] == f"Ingestão concluída: {stored} chunks processados\n"
