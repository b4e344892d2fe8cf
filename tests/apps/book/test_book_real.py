"""A real built book, of 52 documents and 86 lists of tags, stored twice."""

from __future__ import annotations

import tarfile
from collections import defaultdict
from pathlib import Path

import pytest
from book_parts import DIMENSION, run_script, stored
from providers.scripted_server import ScriptedServer
from qdrant_client.models import Distance
from quality.harness import data_folder
from site_server import SiteServer
from toktok import truncate

from book.connection import open_qdrant
from main import ingest_book

pytestmark = pytest.mark.quality

PUBLIC = "http://127.0.0.1/"
DOCUMENTS = 52
LISTS = 86


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the built site."""
    archive = data_folder() / "docusaurus" / "robotics_anusbutt" / "built_html.tar.xz"
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "site", filter="data")
    return tmp_path / "site"


def test_a_real_book_is_stored_whole_once(
    book: Path, cohere: ScriptedServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with SiteServer(book, public=PUBLIC) as site:
        monkeypatch.setenv("ANSWERABLE_ALLOW_HOSTS", site.url.removeprefix("http://"))
        first = ingest_book(site.home)
        assert (first.success, len(first.errors)) == (True, 1)
        assert first.errors[0].startswith(f"{LISTS} pages left out, lists of other pages (tags): {PUBLIC}docs/tags")
        assert first.errors[0].count(PUBLIC) == LISTS
        assert (first.pages_scraped, first.duplicates_skipped) == (DOCUMENTS, 0)
        assert first.chunks_created == first.embeddings_generated == first.vectors_stored
        asked = len(cohere.requests)
        site.forget()
        again = ingest_book(site.home)
        assert (again.pages_scraped, again.duplicates_skipped) == (DOCUMENTS, first.vectors_stored)
        assert (again.embeddings_generated, len(cohere.requests)) == (0, asked)
        assert site.statuses[304] == DOCUMENTS
    with open_qdrant() as opened:
        config = opened.client.get_collection("book_embeddings").config.params.vectors
        records, _ = opened.client.scroll("book_embeddings", limit=10_000)
    assert (config.size, config.distance) == (DIMENSION, Distance.COSINE)
    pages = defaultdict(list)
    for payload in (record.payload for record in records):
        pages[payload["url"]].append(payload)
    assert set(pages) == set(stored())
    assert all(url.startswith(f"{PUBLIC}docs/") for url in pages)
    for chunks in pages.values():
        chunks.sort(key=lambda payload: payload["chunk_index"])
        assert all(payload["token_count"] == 750 for payload in chunks[:-1])
        assert all(payload["section"] for payload in chunks)
        # Counted alone a window may have a token more or less at its ends.
        assert all(abs(truncate(payload["text"], 1)[1] - payload["token_count"]) <= 2 for payload in chunks)
    with capsys.disabled():
        tokens = sum(payload["token_count"] for chunks in pages.values() for payload in chunks)
        print(f"\n{len(pages)} pages, {len(records)} chunks, {tokens} tokens, {asked} calls of Cohere's")


def test_a_real_book_passes_its_own_validation(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SiteServer(book, public=PUBLIC) as site:
        monkeypatch.setenv("ANSWERABLE_ALLOW_HOSTS", site.url.removeprefix("http://"))
        ingest_book(site.home)
    done = run_script("retrieval.py", "--validate", "--threshold", "0.2")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "Pass rate: 100% (10 of 10 reach 0.2)"
