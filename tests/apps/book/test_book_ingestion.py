"""The whole way, again and again: nothing is embedded twice, what changed is replaced, what is gone is removed."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest
from book_parts import (
    ARM,
    LEFT_OUT,
    LEG,
    PAGES,
    PUBLIC,
    counts,
    embedded,
    make_page,
    make_section,
    stored,
    words,
)
from providers.scripted_server import Reply, ScriptedServer
from site_server import SiteServer, redirect

from book.ingestion import plan_book
from book.pages import READER
from book.store import open_collection
from main import (
    IngestionResult,
    ingest_book,
)
from retrieval import search


def test_the_signature_is_the_specified_one() -> None:
    parameters = inspect.signature(ingest_book).parameters
    assert list(parameters) == ["base_url", "collection_name"]
    assert parameters["collection_name"].default == "book_embeddings"
    assert [field.name for field in fields(IngestionResult)] == [
        *("success", "pages_discovered", "pages_scraped", "chunks_created", "embeddings_generated"),
        *("vectors_stored", "duplicates_skipped", "errors", "duration_seconds"),
    ]


def test_a_book_is_stored_under_its_public_addresses(site: SiteServer) -> None:
    result = ingest_book(site.home)
    assert counts(result) == (4, 3, 5, 5, 5, 0)
    assert result.duration_seconds > 0
    assert {url: sorted(page.hashes) for url, page in stored().items()} == {
        PAGES[0]: [0],
        PAGES[1]: [0],
        PAGES[2]: [0, 1, 2],
    }


@pytest.mark.parametrize(
    "collection",
    # The other tests use a folder, and those of the store all three.
    ["server", *(pytest.param(name, marks=pytest.mark.long) for name in ("folder", "memory"))],
    indirect=True,
)
def test_folder_memory_and_server_hold_a_book_alike(site: SiteServer, collection: str) -> None:
    assert counts(ingest_book(site.home, collection)) == (4, 3, 5, 5, 5, 0)
    assert counts(ingest_book(site.home, collection)) == (4, 3, 5, 0, 0, 5)
    assert site.statuses[304] == 3
    site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", "Short now.")))
    site.remove("/book/docs/leg")
    site.put("/book/docs/new", make_page("Hands", LEG))
    assert counts(ingest_book(site.home, collection)) == (4, 3, 3, 2, 2, 1)
    with open_collection(collection) as opened:
        assert sorted(opened.pages()) == [PAGES[0], PAGES[2], f"{PUBLIC}docs/new"]
    best, *others = search("pattern of steps of a walking machine", collection_name=collection)
    assert (best.url, best.title, best.chunk_index) == (f"{PUBLIC}docs/new", "Hands", 0)
    assert all(other.score < best.score for other in others)


@pytest.mark.usefixtures("ingested")
def test_an_unchanged_book_is_asked_for_by_condition_and_nothing_is_embedded(
    site: SiteServer, cohere: ScriptedServer
) -> None:
    before = stored()
    assert counts(ingest_book(site.home)) == (4, 3, 5, 0, 0, 5)
    assert cohere.requests == []
    assert site.statuses[304] == 3
    assert stored() == before


def test_a_site_without_validators_is_read_again_and_nothing_is_embedded(cohere: ScriptedServer) -> None:
    with SiteServer(base="/book/", public=PUBLIC, has_validators=False) as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANSWERABLE_ALLOW_HOSTS", site.url.removeprefix("http://"))
        site.put("/book/docs/arm", make_page("Arms", ARM))
        assert counts(ingest_book(site.home)) == (1, 1, 1, 1, 1, 0)
        before, asked = stored(), len(cohere.requests)
        assert counts(ingest_book(site.home)) == (1, 1, 1, 0, 0, 1)
        assert (stored(), len(cohere.requests)) == (before, asked)


@pytest.mark.usefixtures("ingested")
def test_a_change_embeds_only_the_chunks_that_changed(site: SiteServer, cohere: ScriptedServer) -> None:
    before = stored()[PAGES[2]].hashes
    longer = words(700, "lens") + " and a new end"
    site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", longer)))
    assert counts(ingest_book(site.home)) == (4, 3, 5, 1, 1, 4)
    assert len(embedded(cohere)) >= 1
    assert all("lens0 " not in text for text in embedded(cohere))
    after = stored()[PAGES[2]].hashes
    assert {index for index in after if after[index] != before.get(index)} == {2}


@pytest.mark.usefixtures("ingested")
def test_chunks_beyond_a_pages_new_end_are_removed(site: SiteServer) -> None:
    site.put("/book/docs/long", make_page("Sensors", make_section("Cameras", "cameras", "Short now.")))
    assert counts(ingest_book(site.home)) == (4, 3, 3, 1, 1, 2)
    assert sorted(stored()[PAGES[2]].hashes) == [0]


@pytest.mark.usefixtures("ingested")
def test_pages_that_are_gone_are_removed_and_new_ones_added(site: SiteServer) -> None:
    site.remove("/book/docs/long")
    site.put("/book/docs/new", make_page("Hands", ARM))
    assert counts(ingest_book(site.home)) == (4, 3, 3, 1, 1, 2)
    assert sorted(stored()) == [PAGES[0], PAGES[1], f"{PUBLIC}docs/new"]


@pytest.mark.usefixtures("ingested")
def test_a_page_that_is_no_longer_one_of_the_book_is_removed(site: SiteServer) -> None:
    site.put("/book/docs/leg", make_page("Legs", LEG, kind="docs-tags-list-page"))
    assert counts(ingest_book(site.home)) == (4, 2, 4, 0, 0, 4)
    assert sorted(stored()) == [PAGES[0], PAGES[2]]


def test_pages_outside_of_the_docs_plugin_are_read_too(site: SiteServer) -> None:
    start = make_page("Robots", "<p>A book on walking machines.</p>").replace(b"docs-doc-page", b"plugin-pages")
    site.put("/book/", start.replace(b"docs-wrapper plugin-docs ", b"").replace(b"theme-doc-markdown ", b""))
    site.put("/book/about", start.replace(b"docs-doc-page", b"mdx-page").replace(b"walking", b"swimming"))
    result = ingest_book(site.home)
    assert counts(result) == (6, 5, 7, 7, 7, 0)
    assert {PUBLIC.rstrip("/"), f"{PUBLIC}about"} < {url.rstrip("/") for url in stored()}
    assert any("walking machines" in found.text for found in search("walking machines"))


def test_what_is_left_out_is_named_and_no_failure(site: SiteServer) -> None:
    empty = b'<html><head><meta name="generator" content="Docusaurus v3"></head><body></body></html>'
    site.put("/book/start", empty)
    site.put("/book/docs/search", make_page("Search", "<p class='search-page-wrapper'>Search</p>", kind="search"))
    site.put("/robots.txt", b"User-agent: *\nDisallow: /book/docs/leg", "text/plain")
    site.script("/book/docs/long", Reply(200, {"Content-Type": "application/pdf"}, (b"%PDF-1.7",)))
    expected = [
        f"1 page left out, robots.txt asks not to fetch them: {PAGES[1]}",
        f"1 page left out, no HTML but application/pdf: {PAGES[2]}",
        LEFT_OUT,
        f"1 page left out, without text: {PUBLIC}start",
    ]
    result = ingest_book(site.home)
    assert result.success
    assert [error for error in result.errors if "search" not in error] == expected
    plan = plan_book(site.home)
    assert (plan.success, plan.errors) == (True, result.errors)


@pytest.mark.usefixtures("ingested")
def test_what_another_book_stored_in_the_collection_stays(site: SiteServer) -> None:
    with (
        SiteServer(base="/book/docs/", public=f"{PUBLIC}docs/") as other,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("ANSWERABLE_ALLOW_HOSTS", other.url.removeprefix("http://"))
        other.put("/book/docs/hand", make_page("Hands", ARM))
        assert counts(ingest_book(other.home)) == (1, 1, 1, 1, 1, 0)
    assert sorted(stored()) == [PAGES[0], f"{PUBLIC}docs/hand", *PAGES[1:]]


@pytest.mark.usefixtures("ingested")
def test_a_page_with_a_chunk_missing_is_asked_for_without_condition(site: SiteServer) -> None:
    with open_collection("book_embeddings") as collection:
        collection.remove(PAGES[2], [1])
    assert stored()[PAGES[2]].validators(READER) is None
    assert counts(ingest_book(site.home)) == (4, 3, 5, 1, 1, 4)


@pytest.mark.usefixtures("ingested")
def test_another_reader_reads_everything_again() -> None:
    assert stored()[PAGES[0]].validators(READER)
    assert stored()[PAGES[0]].validators("answerable 99") is None


def test_a_plan_stores_nothing_and_asks_no_provider(
    site: SiteServer, cohere: ScriptedServer, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COHERE_API_KEY", "QDRANT_URL"):
        monkeypatch.delenv(name)
    site.script("/book/docs/arm", Reply(403))
    plan = plan_book(site.home)
    assert (plan.pages_discovered, plan.pages_scraped, plan.chunks, len(plan.errors)) == (4, 2, 4, 2)
    assert plan.cost == pytest.approx(plan.tokens * 0.10 / 1_000_000)
    assert plan.tokens > 1000
    assert cohere.requests == []
    assert not environment.exists()


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_the_sitemap_names_and_that_is_gone_is_removed(site: SiteServer, status: int) -> None:
    ingest_book(site.home)
    site.remove("/book/docs/leg")
    site.script("/book/docs/arm", Reply(status))
    result = ingest_book(site.home)
    assert result.success
    assert f"1 page left out, gone although the sitemap names them: {PAGES[0]}" in result.errors
    assert set(stored()) == {PAGES[2]}
    assert plan_book(site.home).success


def test_a_site_of_which_every_page_is_gone_changes_nothing(site: SiteServer) -> None:
    ingest_book(site.home)
    for name in ("arm", "leg", "long", "tags"):
        site.script(f"/book/docs/{name}", Reply(404))
    result = ingest_book(site.home)
    assert not result.success
    assert "nothing was changed" in result.errors[0]
    assert set(stored()) == set(PAGES)


def test_a_page_of_several_addresses_is_stored_once(site: SiteServer) -> None:
    place = make_page("Place", "<p>It has moved.</p>")
    for name in ("old", "older", "moved", "moved-too", "new-place"):
        site.put(f"/book/docs/{name}", place)
    for name, target in (("old", "arm"), ("older", "leg/"), ("moved", "new-place"), ("moved-too", "new-place/")):
        site.script(f"/book/docs/{name}", redirect(f"{site.home}docs/{target}"))
    sitemap = site.body("/book/sitemap.xml").decode()
    without = re.sub(r"<url><loc>[^<]*new-place</loc>.*?</url>", "", sitemap)
    more = f"<url><loc>{PUBLIC}docs/arm/</loc></url><url><loc>{PUBLIC}docs/leg/</loc></url></urlset>"
    site.put("/book/sitemap.xml", without.replace("</urlset>", more).encode(), "application/xml")
    result = ingest_book(site.home)
    assert result.success
    assert set(stored()) == {*PAGES, f"{PUBLIC}docs/moved"}
    said = "3 pages left out, redirects to a page that is there: "
    assert said + ", ".join(f"{PUBLIC}docs/{name}" for name in ("old", "older", "moved-too")) in result.errors
    assert [found.title for found in search("It has moved.", top_k=1)] == ["Place"]
