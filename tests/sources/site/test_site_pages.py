"""From a site's address to its pages: sitemaps, robots.txt, and hosts and paths that differ from the public ones."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator

import pytest
from providers.scripted_server import Reply, Request, ScriptedServer

from answerable.errors import (
    AddressRefused,
    EmptySource,
    SitemapNotFoundError,
    SiteUnreachable,
    SourceNotFound,
    SourceTooLarge,
)
from answerable.sources.site import pages
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher, FetchPolicy
from answerable.sources.site.pages import SitePage, find_pages
from answerable.sources.site.robots import Robots

QUICK = FetchPolicy(timeout=10, total=30, retries=1, first_wait=0.01, delay=0)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server on loopback that plays what the test tells it to."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    """A fetcher that may ask loopback, and `localhost` by that name."""
    with Fetcher(AddressGuard(["127.0.0.1", "localhost"], lambda host, port: ["127.0.0.1"]), QUICK) as fetcher:
        yield fetcher


def urlset(*urls: str) -> Reply:
    """A sitemap of pages."""
    rows = "".join(f"<url><loc>{url}</loc><lastmod>2024-05-01</lastmod></url>" for url in urls)
    return text(f"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{rows}</urlset>")


def index(*urls: str) -> Reply:
    """A sitemap of sitemaps."""
    return text(f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>")


def text(body: str | bytes, status: int = 200, **headers: str) -> Reply:
    """A reply of text."""
    return Reply(status, headers, (body.encode() if isinstance(body, str) else body,))


def paths(server: ScriptedServer) -> list[str]:
    """What the server was asked for."""
    return [request.path for request in server.requests]


def test_pages_of_the_site_itself(server: ScriptedServer, fetcher: Fetcher) -> None:
    base = f"{server.url}/book"
    wanted = [base, f"{base}/", f"{base}/docs/a", f"{base}/docs/a#b"]
    server.script(
        "/book/sitemap.xml",
        urlset(*wanted, f"{server.url}/bookshop", "https://other.test/book/a", "mailto:a"),
    )
    found = find_pages(fetcher, base)
    # A slash at the end makes no other page.
    assert found.pages == tuple(SitePage(url, url) for url in (base, f"{base}/docs/a"))
    assert found.skipped == Counter({"elsewhere": 2, "not an address": 1, "named twice": 2})
    assert (found.base, found.public_base) == (f"{base}/", f"{base}/")
    assert not found.errors


@pytest.mark.parametrize(
    ("base", "sitemap", "public", "crawled", "option"),
    [
        ("/", "/sitemap.xml", "https://a.test/docs/x", "/docs/x", ""),
        ("/book/", "/book/sitemap.xml", "https://a.test/book/x", "/book/x", ""),
        ("/preview", "/preview/sitemap.xml", "https://a.test/docs/x", "/preview/docs/x", ""),
        ("/", "/sitemap.xml", "https://a.test/book/x", "/x", "https://a.test/book"),
        ("/docs", "/sitemap.xml", "https://a.test/book/docs/x", "/docs/x", "https://a.test/book/"),
        ("/", "/sitemap.xml", "http://127.0.0.1/x?y=z", "/x?y=z", ""),
        ("/sitemap.xml", "/sitemap.xml", "https://a.test/x", "/x", ""),
    ],
)
def test_a_copy_is_crawled_where_it_is_and_cited_by_its_public_addresses(
    server: ScriptedServer, fetcher: Fetcher, base: str, sitemap: str, public: str, crawled: str, option: str
) -> None:
    server.script(sitemap, urlset(public))
    found = find_pages(fetcher, server.url + base, public_base=option)
    assert found.pages == (SitePage(server.url + crawled, public),)


def test_an_index_with_gzip_at_the_public_host_is_read_at_the_copy(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script(
        "/sitemap.xml", index("https://a.test/s/1.xml", "https://a.test/s/2.xml.gz", "https://a.test/s/1.xml")
    )
    server.script("/s/1.xml", urlset("https://a.test/1"))
    server.script("/s/2.xml.gz", text(gzip.compress(urlset("https://a.test/2").pieces[0])))  # type: ignore[arg-type]
    found = find_pages(fetcher, server.url)
    assert [page.public for page in found.pages] == ["https://a.test/1", "https://a.test/2"]
    assert [page.url for page in found.pages] == [f"{server.url}/1", f"{server.url}/2"]
    assert paths(server) == ["/sitemap.xml", "/s/1.xml", "/s/2.xml.gz"]


def test_locales_have_sitemaps_of_their_own(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/sitemap.xml", urlset("https://a.test/x"))
    server.script("/pt/sitemap.xml", urlset("https://a.test/pt/x"))
    found = find_pages(fetcher, server.url, locales=["pt", "es"])
    assert [page.url for page in found.pages] == [f"{server.url}/x", f"{server.url}/pt/x"]
    assert found.errors
    assert [type(error) for error in found.errors] == [SourceNotFound]


@pytest.mark.parametrize("reply", [text("gone", 404), text("", 500), text("<urlset>"), text("<html/>")])
def test_a_part_that_cannot_be_read_makes_the_list_incomplete(
    server: ScriptedServer, fetcher: Fetcher, reply: Reply
) -> None:
    server.script("/sitemap.xml", index(f"{server.url}/1.xml", f"{server.url}/2.xml", "nonsense"))
    server.script("/1.xml", reply)
    server.script("/2.xml", urlset(f"{server.url}/a"))
    found = find_pages(fetcher, server.url)
    assert [page.url for page in found.pages] == [f"{server.url}/a"]
    assert len(found.errors) == 2
    assert found.errors


def test_sitemaps_pages_and_levels_are_bounded(
    server: ScriptedServer, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = [f"{server.url}/{number}.xml" for number in range(9)]
    server.script("/sitemap.xml", index(*children))
    for number in range(9):
        server.script(f"/{number}.xml", urlset(f"{server.url}/a{number}", f"{server.url}/b{number}"))
    with monkeypatch.context() as patched:
        patched.setattr(pages, "_MAX_SITEMAPS", 4)
        few = find_pages(fetcher, server.url)
    assert (len(few.pages), [type(error) for error in few.errors]) == (6, [SourceTooLarge])
    short = find_pages(fetcher, server.url, max_pages=5)
    assert (len(short.pages), bool(short.errors)) == (5, True)
    server.script("/sitemap.xml", index(f"{server.url}/0.xml", f"{server.url}/sitemap.xml"))
    server.script("/0.xml", index(f"{server.url}/1.xml"))
    server.script("/1.xml", index(f"{server.url}/2.xml", f"{server.url}/3.xml"))
    deep = find_pages(fetcher, server.url)
    assert (len(deep.pages), [type(error) for error in deep.errors]) == (0, [SourceTooLarge])


class SameEverywhere(ScriptedServer):
    """Gives the same index at every address."""

    index = Reply(404)

    def unscripted(self, request: Request) -> Reply:
        return self.index


@pytest.mark.parametrize("form", ["/sitemap.xml", "/sitemap.xml?page={}", "/{}/sitemap.xml"])
def test_an_index_that_names_itself_is_visited_once(fetcher: Fetcher, form: str) -> None:
    with SameEverywhere() as server:
        itself = [server.url + form.format(number) for number in range(600)]
        server.index = index(*itself, f"{server.url}/pages.xml")
        server.script("/robots.txt", text("", 404))
        server.script("/pages.xml", urlset(f"{server.url}/a"))
        found = find_pages(fetcher, server.url)
    if "{}" not in form:
        assert len(server.requests) < 8
        assert ([page.url for page in found.pages], found.errors) == ([f"{server.url}/a"], ())
    else:
        assert len(server.requests) <= 500
        assert {type(error) for error in found.errors} == {SourceTooLarge}
        assert len(found.errors) <= 503


def test_an_index_of_invalid_addresses_is_bounded(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/sitemap.xml", index(*["mailto:a"] * 2_000))
    assert len(find_pages(fetcher, server.url).errors) == 501


def test_the_sitemap_is_looked_for_above_and_where_robots_name_it(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/robots.txt", text("Sitemap: nonsense\nSitemap: https://a.test/maps/all.xml\n"))
    server.script("/maps/all.xml", urlset("https://a.test/a/b/c", "https://a.test/x"))
    found = find_pages(fetcher, f"{server.url}/a/b", Robots(fetcher))
    assert [page.url for page in found.pages] == [f"{server.url}/a/b/c"]
    assert paths(server) == [
        *("/robots.txt", "/a/b/sitemap.xml", "/a/sitemap.xml", "/sitemap.xml", "/maps/all.xml"),
    ]


def test_no_sitemap_is_an_error_of_its_own(server: ScriptedServer, fetcher: Fetcher) -> None:
    with pytest.raises(SitemapNotFoundError, match="give the address of its sitemap"):
        find_pages(fetcher, server.url)
    for reply in (text("<html>every path</html>"), text("<urlset>"), text("", 403)):
        server.script("/sitemap.xml", reply)
        with pytest.raises(SitemapNotFoundError):
            find_pages(fetcher, f"{server.url}/sitemap.xml")
    server.script("/sitemap.xml", text("", 503))
    with pytest.raises(SiteUnreachable):
        find_pages(fetcher, server.url)
    server.script("/sitemap.xml", urlset(f"{server.url}/elsewhere"))
    with pytest.raises(EmptySource):
        find_pages(fetcher, f"{server.url}/book")


def test_a_site_that_has_moved_is_crawled_where_it_is_now(server: ScriptedServer, fetcher: Fetcher) -> None:
    now = server.url.replace("127.0.0.1", "localhost")
    server.script("/old/sitemap.xml", text("", 301, Location=f"{now}/old/sitemap.xml"), urlset(f"{now}/old/a"))
    found = find_pages(fetcher, f"{server.url}/old")
    assert found.pages == (SitePage(f"{now}/old/a", f"{now}/old/a"),)
    # Only the sitemap is kept elsewhere.
    server.script("/sitemap.xml", text("", 302, Location=f"{now}/maps/1"))
    server.script("/maps/1", urlset(f"{server.url}/a"))
    assert find_pages(fetcher, server.url).pages == (SitePage(f"{server.url}/a", f"{server.url}/a"),)


def test_robots_are_asked_once_and_obeyed(server: ScriptedServer, fetcher: Fetcher) -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Answerable\nDisallow: /private\nAllow: /private/open$\n"
    server.script("/robots.txt", text(rules))
    server.script("/sitemap.xml", urlset(*(f"{server.url}{path}" for path in ("/a", "/private/a", "/private/open"))))
    robots = Robots(fetcher)
    found = find_pages(fetcher, server.url, robots)
    assert [page.url for page in found.pages] == [f"{server.url}/a", f"{server.url}/private/open"]
    assert found.skipped == Counter({"disallowed by robots.txt": 1})
    assert paths(server) == ["/robots.txt", "/sitemap.xml"]
    server.script("/a", text("", 302, Location="/private/a"))
    with pytest.raises(AddressRefused, match=r"robots\.txt"):
        fetcher.fetch(f"{server.url}/a", check=robots.check)
    assert paths(server)[2:] == ["/a"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_site_without_robots_rules_allows_everything(server: ScriptedServer, fetcher: Fetcher, status: int) -> None:
    server.script("/robots.txt", text("Disallow: /", status))
    robots = Robots(fetcher)
    robots.check(f"{server.url}/a")
    robots.check(f"{server.url}/b")
    assert paths(server) == ["/robots.txt"]


def test_of_a_site_whose_rules_cannot_be_had_nothing_is_fetched(server: ScriptedServer, fetcher: Fetcher) -> None:
    server.script("/robots.txt", text("", 503), text("", 503), text("User-agent: *\nAllow: /"))
    robots = Robots(fetcher)
    with pytest.raises(SiteUnreachable):
        robots.check(f"{server.url}/a")
    robots.check(f"{server.url}/a")


def test_a_crawl_delay_is_kept_within_reason(server: ScriptedServer) -> None:
    waits: list[float] = []
    server.script("/robots.txt", text("User-agent: *\nCrawl-delay: 86400"))
    server.script("/a", text("a"))
    with Fetcher(AddressGuard(["127.0.0.1"]), QUICK, sleep=waits.append) as fetcher:
        robots = Robots(fetcher)
        for _ in range(3):
            fetcher.fetch(f"{server.url}/a", check=robots.check)
    # But for the time that has passed since the first.
    assert [round(wait, -1) for wait in waits] == [30, 60]


@pytest.mark.parametrize(
    ("rules", "allows"),
    [
        ("\0\xff" * 1000, True),
        ("\ufeffUser-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow: /" + "*a" * 4000, True),
        ("User-agent: *\nDisallow: /" + "*a" * 2000 + "*c", True),
        ("User-agent: *\nDisallow: " + "/*" + "*" * 5000, False),
        ("#" * 600_000 + "\nUser-agent: *\nDisallow: /", True),
    ],
)
def test_odd_rules_are_read_to_their_bound(server: ScriptedServer, fetcher: Fetcher, rules: str, allows: bool) -> None:
    server.script("/robots.txt", text(rules))
    robots = Robots(fetcher)
    refused = []
    try:
        robots.check(f"{server.url}/{'a' * 3000}b")
    except AddressRefused as error:
        refused.append(error)
    assert allows is not bool(refused)
    assert paths(server) == ["/robots.txt"]
