"""From the book's address to its pages as text."""

from __future__ import annotations

import inspect
import socket
from dataclasses import fields

import pytest
from book_parts import make_page, make_section
from providers.scripted_server import Reply, ScriptedServer
from site_server import SiteServer, redirect

from answerable.errors import SourceError
from main import (
    ContentExtractionError,
    ContentPage,
    NetworkError,
    PageNotFoundError,
    SitemapNotFoundError,
    scrape_page,
    scrape_sitemap,
)


def test_the_signatures_are_the_specified_ones() -> None:
    assert list(inspect.signature(scrape_sitemap).parameters) == ["base_url"]
    assert list(inspect.signature(scrape_page).parameters) == ["url"]
    assert [field.name for field in fields(ContentPage)] == ["url", "title", "content", "headings", "chapter"]


def test_the_sitemaps_pages_are_listed_where_they_are_crawled(site: SiteServer) -> None:
    assert scrape_sitemap(site.home) == [f"{site.home}docs/{name}" for name in ("arm", "leg", "long", "tags")]
    assert scrape_sitemap(site.home.rstrip("/")) == scrape_sitemap(f"{site.home}sitemap.xml")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404),
        Reply(200, {}, (b"<urlset><url><loc>https://robots.example/book/docs/arm</loc>",)),
        Reply(200, {"Content-Type": "text/html"}, (b"<html><p>No sitemap</p></html>",)),
        Reply(200, {}, (b"<urlset></urlset>",)),
    ],
    ids=["404", "cut", "html", "empty"],
)
def test_no_sitemap(site: SiteServer, reply: Reply) -> None:
    site.script("/book/sitemap.xml", reply)
    with pytest.raises(SitemapNotFoundError, match="sitemap"):
        scrape_sitemap(site.home)


@pytest.mark.parametrize("status", [500, 502, 429])
def test_a_sitemap_that_cannot_be_had_is_not_missing(site: SiteServer, status: int) -> None:
    site.script("/book/sitemap.xml", Reply(status, {"Retry-After": "0"}))
    with pytest.raises(SitemapNotFoundError) as raised:
        scrape_sitemap(site.home)
    assert isinstance(raised.value, NetworkError)
    assert f"sitemap isn't accessible: {site.home}sitemap.xml is unavailable (HTTP {status})" in str(raised.value)
    assert "no sitemap" not in str(raised.value)


def test_a_site_that_cannot_be_reached(site: SiteServer) -> None:
    site.script("/robots.txt", Reply(503, {"Retry-After": "0"}))
    with pytest.raises(NetworkError, match="503"):
        scrape_sitemap(site.home)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(NetworkError):
        scrape_sitemap(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("scrape", [scrape_sitemap, scrape_page])
def test_private_addresses_are_not_asked_unless_they_are_named(
    site: SiteServer, scrape: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(scrape)
    monkeypatch.delenv("ANSWERABLE_ALLOW_HOSTS")
    with pytest.raises(NetworkError, match="ANSWERABLE_ALLOW_HOSTS"):
        scrape(site.home)
    with pytest.raises(NetworkError):
        scrape(site.home.replace("127.0.0.1", "2130706433"))
    assert site.connections == 0


def test_a_redirect_to_a_private_address_is_not_followed(site: SiteServer) -> None:
    with ScriptedServer() as inside:
        site.script("/book/docs/arm", redirect(f"{inside.url}/secret"))
        with pytest.raises(NetworkError, match="isn't on the public internet"):
            scrape_page(f"{site.home}docs/arm")
        assert inside.connections == 0


def test_a_page_is_read_with_its_place_and_without_navigation(site: SiteServer) -> None:
    body = (
        make_section("Gait", "gait", "A gait is a pattern.") + "<pre><code class='language-python'>x = 1</code></pre>"
    )
    site.put("/book/docs/new", make_page("Legs", body, "Motion"))
    page = scrape_page(f"{site.home}docs/new")
    assert (page.url, page.title, page.chapter) == (f"{site.home}docs/new", "Legs", "Motion")
    assert page.headings == ["Legs", "Gait"]
    assert [getattr(heading, "anchor", None) for heading in page.headings] == ["", "gait"]
    for heading in page.headings:
        assert page.content[getattr(heading, "start", 0) :].lstrip("# \n").startswith(heading)
    assert "A gait is a pattern." in page.content
    assert "x = 1" in page.content
    assert "Navigation" not in page.content
    assert "Edit this page" not in page.content


def test_a_page_of_another_generator_is_read_too(site: SiteServer) -> None:
    site.put(
        "/book/plain", b"<html><head><title>Plain</title></head><body><h1>Plain</h1><p>Some words.</p></body></html>"
    )
    page = scrape_page(f"{site.home}plain")
    assert (page.title, page.chapter) == ("Plain", "")
    assert "Some words." in page.content


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_not_there(site: SiteServer, status: int) -> None:
    site.script("/book/docs/arm", Reply(status))
    with pytest.raises(PageNotFoundError, match="no page at"):
        scrape_page(f"{site.home}docs/arm")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (make_page("", ""), "text/html"),
        (b"<html><body><div id='app'></div></body></html>", "text/html; charset=utf-8"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
def test_a_page_without_text(site: SiteServer, body: bytes, kind: str) -> None:
    site.put("/book/docs/new", body, kind)
    with pytest.raises(ContentExtractionError):
        scrape_page(f"{site.home}docs/new")


def test_a_page_that_robots_may_not_fetch(site: SiteServer) -> None:
    site.put("/robots.txt", b"User-agent: *\nDisallow: /book/docs/arm", "text/plain")
    with pytest.raises(NetworkError, match="robots"):
        scrape_page(f"{site.home}docs/arm")
    assert f"{site.home}docs/arm" not in scrape_sitemap(site.home)
    assert site.asked()["/book/docs/arm"] == 0


@pytest.mark.parametrize("error", [SitemapNotFoundError, NetworkError, PageNotFoundError, ContentExtractionError])
def test_the_errors_are_the_engines(error: type[Exception]) -> None:
    assert issubclass(error, SourceError)


@pytest.mark.parametrize("heading", ["About us", "Who we are"])
def test_a_standalone_pages_title_is_without_the_sites_name(site: SiteServer, heading: str) -> None:
    page = f"""<!doctype html><html lang="en" class="plugin-pages plugin-id-default"><head>
<meta name="generator" content="Docusaurus v3.9.2"><title>About us | Robots</title>
<meta property="og:title" content="About us | Robots"></head><body>
<nav class="navbar"><a class="navbar__brand" href="/book/"><b class="navbar__title text--truncate">Robots</b></a></nav>
<main><h1>{heading}</h1><p>We build legs.</p></main></body></html>"""
    site.put("/book/about", page.encode())
    assert scrape_page(f"{site.home}about").title == "About us"
