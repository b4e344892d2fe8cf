"""The whole way, broken off: what is stored stays, nothing is removed, and the next run goes on from there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from book_parts import (
    APP,
    ARM,
    EMBED,
    LEFT_OUT,
    LEG,
    PAGES,
    PUBLIC,
    BookQdrant,
    counts,
    embed,
    make_long,
    make_page,
    make_section,
    refusal,
    stored,
    words,
)
from providers.scripted_server import Reply, ScriptedServer
from qdrant_server import Fault
from site_server import SiteServer

from answerable.errors import SettingsError
from book.ingestion import plan_book
from book.pages import READER
from main import (
    CohereAPIError,
    NetworkError,
    QdrantConnectionError,
    SitemapNotFoundError,
    ingest_book,
)


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(403),
        Reply(200, {}, (b"<html></html>",)),
        pytest.param(Reply(500, {"Retry-After": "0"}), marks=pytest.mark.long),
    ],
)
def test_a_page_that_fails_is_told_the_others_go_on_and_nothing_is_removed(site: SiteServer, reply: Reply) -> None:
    site.remove("/book/docs/long")
    site.put("/book/docs/new", make_page("Hands", ARM))
    site.script("/book/docs/arm", reply)
    result = ingest_book(site.home)
    assert not result.success
    assert len(result.errors) == 2
    assert "docs/arm" in result.errors[0]
    assert result.errors[1] == LEFT_OUT
    assert (result.pages_scraped, result.vectors_stored, result.duplicates_skipped) == (2, 1, 1)
    assert sorted(stored()) == [*PAGES, f"{PUBLIC}docs/new"]


@pytest.mark.usefixtures("ingested")
def test_a_sitemap_that_is_not_read_whole_removes_nothing(site: SiteServer) -> None:
    entry = "<sitemap><loc>{}</loc></sitemap>"
    index = entry.format(f"{PUBLIC}part.xml") + entry.format(f"{PUBLIC}broken.xml")
    site.script("/book/sitemap.xml", Reply(200, {}, (f"<sitemapindex>{index}</sitemapindex>".encode(),)))
    part = f"<urlset><url><loc>{PAGES[0]}</loc></url></urlset>"
    site.script("/book/part.xml", Reply(200, {}, (part.encode(),)))
    result = ingest_book(site.home)
    assert (result.success, len(result.errors), result.pages_discovered) == (False, 1, 1)
    assert "broken.xml" in result.errors[0]
    assert sorted(stored()) == PAGES


@pytest.mark.long
def test_cohere_failing_half_way_keeps_what_is_stored_and_the_next_run_goes_on(
    site: SiteServer, cohere: ScriptedServer
) -> None:
    make_long(site, 4)
    whole = plan_book(site.home).chunks
    assert whole > 2 * 96
    answered = 0

    def embed_four_times(request: object) -> Reply:
        nonlocal answered
        answered += 1
        return embed(request) if answered <= 4 else refusal(401)  # type: ignore[arg-type]

    cohere.script(EMBED, embed_four_times)
    result = ingest_book(site.home)
    assert (result.success, len(result.errors), result.errors[-1]) == (False, 2, LEFT_OUT)
    assert "COHERE_API_KEY" in result.errors[0]
    assert 0 < result.vectors_stored < whole
    assert sum(len(page.hashes) for page in stored().values()) == result.vectors_stored
    cohere.script(EMBED, embed)
    again = ingest_book(site.home)
    assert again.success
    assert (again.duplicates_skipped, again.vectors_stored) == (result.vectors_stored, whole - result.vectors_stored)


def test_qdrant_failing_half_way_is_told_and_the_next_run_goes_on(
    site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_long(site, 2)
    server = BookQdrant()
    monkeypatch.setenv("QDRANT_URL", server.url)
    monkeypatch.setenv("QDRANT_API_KEY", "any")
    written = 0

    def refuse_the_second(number: int, is_done: bool) -> Fault | None:
        nonlocal written
        written += not is_done and server.requests[-1] == "PUT /collections/book_embeddings/points"
        return Fault(503, "out of memory") if written == 2 else None

    server.meddle = refuse_the_second
    result = ingest_book(site.home)
    assert (result.success, result.vectors_stored) == (False, 96)
    assert "status 503" in result.errors[0]
    server.meddle = lambda number, is_done: None
    again = ingest_book(site.home)
    assert (again.success, again.duplicates_skipped) == (True, 96)
    assert sum(len(page.hashes) for page in stored().values()) == 96 + again.vectors_stored
    server.close()


def test_a_process_that_is_killed_leaves_what_the_next_one_goes_on_from(site: SiteServer) -> None:
    make_long(site, 2)
    process = subprocess.Popen(
        [sys.executable, "main.py", "--url", site.home], cwd=APP, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "vectors stored" in line:
            process.kill()
            break
    process.communicate(timeout=30)
    before = sum(len(page.hashes) for page in stored().values())
    assert before > 0
    again = ingest_book(site.home)
    assert again.success
    assert (again.duplicates_skipped, again.vectors_stored) == (before, again.chunks_created - before)
    assert all(page.validators(READER) for page in stored().values())


def test_cohere_failing_at_once_is_raised(site: SiteServer, cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(401))
    with pytest.raises(CohereAPIError):
        ingest_book(site.home)
    assert stored() == {}


@pytest.mark.usefixtures("ingested")
def test_a_page_that_was_left_half_way_is_not_taken_for_unchanged(site: SiteServer, cohere: ScriptedServer) -> None:
    old = {path: site.body(path) for path in ("/book/docs/arm", "/book/docs/long")}
    site.put("/book/docs/arm", make_page("Arms", LEG))
    site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", words(700, "lid"))))
    cohere.script(EMBED, refusal(401))
    with pytest.raises(CohereAPIError):
        ingest_book(site.home)
    cohere.script(EMBED, embed)
    # The pages are what they were, and their ETags with them.
    for path, body in old.items():
        site.put(path, body)
    site.forget()
    assert counts(ingest_book(site.home)) == (4, 3, 5, 0, 0, 5)
    assert site.statuses[304] == 1
    assert all(page.validators(READER) for page in stored().values())


def test_no_sitemap_and_no_site_are_raised(site: SiteServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SitemapNotFoundError):
        ingest_book(f"{site.url}/nothing/here")
    monkeypatch.delenv("ANSWERABLE_ALLOW_HOSTS")
    before = site.connections
    with pytest.raises(NetworkError):
        ingest_book(site.home)
    assert site.connections == before


def test_no_qdrant_is_raised_before_anything_is_asked(
    site: SiteServer, cohere: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("QDRANT_API_KEY", "key")
    with pytest.raises(QdrantConnectionError):
        ingest_book(site.home)
    assert site.requests == cohere.requests == []


@pytest.mark.parametrize("name", ["COHERE_API_KEY", "QDRANT_URL"])
def test_a_missing_variable_is_told_before_anything_is_asked(
    site: SiteServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name)
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        ingest_book(site.home)
    assert site.requests == []
