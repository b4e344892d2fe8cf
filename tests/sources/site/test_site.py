"""Sites by their sitemaps: what is read, what is asked again, what is passed over, and what counts as gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from providers.scripted_server import Ending, Reply
from site_server import SiteServer, redirect
from site_visits import QUICK, Seen, page, shared_files, visit, visiting

from answerable.errors import (
    AddressRefused,
    SiteUnreachable,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
)
from answerable.sources.html.web_address import is_site
from answerable.sources.site.choice import SiteOptions
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.crawl import is_at
from answerable.sources.site.fetch import Fetcher
from answerable.sources.site.visit import SiteVisit


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A plain site of five pages under /guide/, which its sitemap names by a public address."""
    with SiteServer(base="/guide/", public="https://public.test/guide/") as site:
        for name in ("a", "b", "c", "d", "e"):
            site.put(f"/guide/{name}", page(f"page {name}"))
        yield site


def names(seen: Seen) -> str:
    """The pages that were read."""
    return "".join(seen.read)


def test_every_page_is_read_in_order_under_its_public_address(site: SiteServer) -> None:
    seen = visit(site)
    assert (names(seen), seen.total, seen.failed, seen.skipped) == ("abcde", 5, {}, {})
    (document,) = seen.visited["a"].documents
    assert document.content == "page a."
    assert (document.title, document.metadata["url"]) == ("page a", "https://public.test/guide/a")
    record = seen.visited["a"].record
    assert record is not None
    assert record.documents == (document.id,)
    assert len(record.hash) == 64
    assert set(record.validators) == {"url", "etag", "last_modified"}
    assert record.validators["url"] == f"{site.home}a"


def test_an_unchanged_site_is_asked_by_conditions_only(site: SiteServer) -> None:
    first = visit(site)
    site.forget()
    again = visit(site, first)
    assert (again.read, again.gone) == ([], [])
    assert "".join(again.unchanged) == "abcde"
    assert site.statuses == {304: 5, 200: 1, 404: 1}  # The sitemap, and the missing robots.txt.
    assert [each.record.documents for each in again.visited.values() if each.record] == [
        each.record.documents for each in first.visited.values() if each.record
    ]


def test_exactly_what_changed_is_read_and_what_left_the_sitemap_is_gone(site: SiteServer) -> None:
    first = visit(site)
    site.put("/guide/b", page("another b"))
    site.put("/guide/f", page("page f"))
    site.remove("/guide/c")
    again = visit(site, first)
    assert (names(again), "".join(again.unchanged), again.gone) == ("bf", "ade", ["c"])
    assert "https://public.test/guide/c" not in again.known
    assert visit(site, again).read == []


def test_without_validators_the_bytes_tell_what_is_unchanged() -> None:
    with SiteServer(has_validators=False) as site:
        for name in ("a", "b"):
            site.put(f"/{name}", page(name))
        first = visit(site)
        site.put("/a", page("new"))
        again = visit(site, first)
    assert (again.read, again.unchanged) == (["a"], ["b"])


def test_nothing_is_gone_unless_the_site_answered_for_every_page(site: SiteServer) -> None:
    first = visit(site)
    site.remove("/guide/a")
    site.put("/guide/d", page("another d"))
    for failure in (
        Reply(500),
        Reply(403),
        Reply(429),
        Reply(None, ending=Ending.HANG),
        Reply(None, ending=Ending.CUT),
        site.drop_half_way,
    ):
        site.script("/guide/d", failure)
        again = visit(site, first)
        assert list(again.failed) == ["d"]
        assert (again.gone, "".join(again.unchanged)) == ([], "bce")
        assert again.known["https://public.test/guide/d"].documents
    site.script("/guide/d", site.serve)
    assert visit(site, first).gone == ["a"]


def test_a_page_that_the_sitemap_names_but_is_not_there_is_an_error_and_is_kept(site: SiteServer) -> None:
    first = visit(site)
    site.remove("/guide/a")
    for status in (404, 410):
        site.script("/guide/b", Reply(status))
        again = visit(site, first)
        assert again.failed == {"b": SourceNotFound}
        assert again.gone == ["a"]
        assert "https://public.test/guide/b" in again.known


def test_a_crawl_that_ends_half_way_finds_nothing_gone(site: SiteServer) -> None:
    first = visit(site)
    site.remove("/guide/a")
    ended = visiting(site.home)
    with closing(ended.items(first.known)) as items:
        next(items)
    assert ended.gone() == []
    bounded = visit(site, first, options=SiteOptions(max_pages=2))
    assert (len(bounded.visited), bounded.gone) == (2, [])
    assert [type(error) for error in bounded.errors] == [SourceTooLarge]


@pytest.mark.parametrize("damage", [Reply(500), Reply(200, {}, (b"<urlset><url><loc>",)), Reply(200, {}, (b"x",))])
def test_a_sitemap_that_is_lost_makes_nothing_gone(site: SiteServer, damage: Reply) -> None:
    index = f"<sitemapindex><sitemap><loc>{site.public}sitemap.xml</loc></sitemap></sitemapindex>"
    site.script("/guide/maps.xml", Reply(200, {}, (index.encode(),)))
    first = visit(site, path="maps.xml")
    assert names(first) == "abcde"
    other = index.replace("</sitemapindex>", f"<sitemap><loc>{site.public}2.xml</loc></sitemap></sitemapindex>")
    site.script("/guide/maps.xml", Reply(200, {}, (other.encode(),)))
    site.script("/guide/2.xml", damage)
    site.remove("/guide/a")
    again = visit(site, first, path="maps.xml")
    assert ("".join(again.unchanged), again.gone, len(again.errors)) == ("bcde", [], 1)


def test_a_site_that_cannot_be_asked_is_one_error(site: SiteServer) -> None:
    site.script("/guide/sitemap.xml", Reply(503))
    with pytest.raises(SiteUnreachable, match="503"):
        visit(site)
    with pytest.raises(SourceNotFound):
        visit(site, path="missing.xml")
    site.script("/robots.txt", Reply(500))
    with pytest.raises(SiteUnreachable, match="500"):
        visit(site)


def test_a_private_address_is_never_asked(site: SiteServer) -> None:
    port = site.url.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"):
        visit = SiteVisit(f"http://{host}:{port}/guide/", Fetcher(AddressGuard(), QUICK), shared_files())
        with closing(visit), pytest.raises(AddressRefused, match="public internet"):
            list(visit.items({}))
    with pytest.raises(AddressRefused, match="user name"):
        SiteVisit(f"http://me@127.0.0.1:{port}/", Fetcher(), shared_files())
    assert site.connections == 0


def test_a_redirect_that_leaves_the_site_is_not_followed(site: SiteServer) -> None:
    with SiteServer() as private:
        private.put("/secret", page("secret"))
        targets = {
            "a": f"{private.url}/secret",
            "b": "http://169.254.169.254/",
            "c": f"{site.url}/elsewhere",
            "d": "file:///etc/passwd",
        }
        for name, target in targets.items():
            site.script(f"/guide/{name}", redirect(target))
        seen = visit(site)
        assert private.connections == 0
    assert (seen.read, seen.failed) == (["e"], {"d": AddressRefused})
    assert seen.skipped == {"redirects elsewhere": 3}
    assert "/elsewhere" not in site.asked()
    assert not seen.known["https://public.test/guide/a"].documents


def test_a_page_that_leads_elsewhere_all_at_once_is_an_error_and_is_kept(site: SiteServer) -> None:
    first = visit(site)
    for name in ("a", "b"):
        site.script(f"/guide/{name}", redirect("https://login.test/"))
    site.remove("/guide/c")
    again = visit(site, first)
    assert (again.failed, again.gone, again.skipped) == ({"a": SourceError, "b": SourceError}, ["c"], {})


def test_pages_are_asked_for_a_little_ahead_and_come_in_order(site: SiteServer) -> None:
    for number in range(30):
        site.put(f"/guide/{number}", page(f"page {number}"))
    site.script("/guide/3", site.slowly(0.2))
    with closing(visiting(site.home)) as visit, closing(visit.items({})) as items:
        first = next(each for each in items if each.documents)
        time.sleep(0.3)
        asked = [path for path in site.asked() if path.removeprefix("/guide/") not in ("sitemap.xml", "/robots.txt")]
        assert first.source.endswith("/a")
        assert len(asked) - 1 <= 2 * QUICK.concurrency
        rest = [each.source.removeprefix(site.public) for each in items if each.documents]
    assert rest == ["b", "c", "d", "e", *map(str, range(30))]
    assert site.most_at_once <= QUICK.concurrency


def test_closing_half_way_ends_what_is_under_way(site: SiteServer) -> None:
    # One connection stays silent, one pauses half-way, one is to be tried again, and the host asks to wait.
    site.script("/guide/b", Reply(None, ending=Ending.HANG))
    site.script("/guide/c", Reply(200, {}, (b"half",), Ending.HANG))
    site.script("/guide/d", Reply(500))
    site.script("/guide/e", Reply(429, {"Retry-After": "50"}))
    patient = replace(QUICK, timeout=60, total=120, retries=5, first_wait=30)
    visit = visiting(site.home, policy=patient)
    items = visit.items({})
    next(each for each in items if each.documents)
    while site.asked()["/guide/e"] == 0:
        time.sleep(0.01)
    start = time.monotonic()
    items.close()
    for thread in threading.enumerate():
        if thread.name.startswith("site"):
            thread.join(10)
            assert not thread.is_alive()
    # Each of them had half a minute or more to wait.
    assert time.monotonic() - start < 10
    assert visit.gone() == []


@pytest.mark.parametrize("source", ["http://a.test", "HTTPS://a.test/b"])
def test_addresses_of_the_web_are_sites(source: str) -> None:
    assert is_site(source)
    assert not is_site(f"./{source}")


@pytest.mark.parametrize(
    ("address", "options", "origin"),
    [
        ("https://A.test:443/book", SiteOptions(), "https://a.test/book/"),
        ("https://a.test/book/sitemap.xml", SiteOptions(max_pages=7), "https://a.test/book/"),
        ("https://a.test/book/index.html#x", SiteOptions(), "https://a.test/book/"),
        ("https://a.test/maps/docs.xml.gz", SiteOptions(), "https://a.test/maps/docs.xml.gz"),
        ("https://a.test/paper.pdf", SiteOptions(("es",)), "https://a.test/paper.pdf"),
        ("https://a.test/docs/1.0", SiteOptions(("es", "en")), "https://a.test/docs/1.0/ (locales: en, es)"),
        ("https://a.test", SiteOptions((), ("1.0",), True), "https://a.test/ (versions: 1.0; everything)"),
    ],
)
def test_the_origin_names_the_place_and_what_is_wanted_of_it(address: str, options: SiteOptions, origin: str) -> None:
    with closing(SiteVisit(address, Fetcher(), shared_files(), options)) as visit:
        assert visit.origin == origin


@pytest.mark.parametrize(
    ("url", "base", "is_of_it"),
    [
        ("https://a.test/b/c", "https://a.test/b/", True),
        ("https://a.test/b", "https://a.test/b/", True),
        ("https://www.a.test/b/c", "http://a.test/b/", True),
        ("http://a.test/b?c", "https://www.a.test/b/", True),
        ("https://a.test/bc", "https://a.test/b/", False),
        ("https://www.a.test/c", "https://a.test/b/", False),
        ("https://b.test/b/c", "https://a.test/b/", False),
        ("https://a.test:8080/b/c", "https://a.test/b/", False),
        ("http://127.0.0.1:3001/", "http://127.0.0.1:3000/", False),
    ],
)
def test_a_folder_is_the_same_by_every_name_of_its_host(url: str, base: str, is_of_it: bool) -> None:
    assert is_at(url, base) is is_of_it
