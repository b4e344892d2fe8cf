"""The web site that other tests visit: what it serves, and that it misbehaves as it is told to."""

from __future__ import annotations

from pathlib import Path

import pytest
from providers.scripted_server import Reply
from site_server import SiteServer, gzip_bomb, huge, redirect

from answerable.errors import AddressRefused, DamagedSource, SiteUnreachable, SourceNotFound, SourceTooLarge
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher, FetchPolicy, Validators
from answerable.sources.site.pages import find_pages

SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"
QUICK = FetchPolicy(timeout=2, total=15, retries=1, first_wait=0.01, delay=0, max_bytes=100_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site of two locales as static generators write it."""
    for locale, name in (("", "a"), ("es/", "b")):
        (tmp_path / locale / "docs").mkdir(parents=True)
        (tmp_path / locale / "index.html").write_text("start")
        (tmp_path / locale / f"docs/{name}.html").write_text(f"page {name}")
        entry = f"<url><loc>https://public.test/{locale}docs/{name}</loc><lastmod>2024-01-01</lastmod></url>"
        (tmp_path / locale / "sitemap.xml").write_text(SITEMAP.format(entry))
    return tmp_path


def fetcher() -> Fetcher:
    return Fetcher(AddressGuard(["127.0.0.1"]), QUICK)


def pages(site: SiteServer) -> list[str]:
    """The paths that its sitemaps name."""
    with fetcher() as fetching:
        found = find_pages(fetching, site.home, locales=["es"])
    assert not found.errors
    return [page.url.removeprefix(site.home) for page in found.pages]


def test_files_are_served_as_a_static_host_does(folder: Path) -> None:
    with SiteServer(folder, "/book/") as site, fetcher() as fetching:
        for path in ("docs/a", "docs/a/", "docs/a.html", "docs/%61?b=c"):
            assert fetching.fetch(site.home + path).body == b"page a"
        for path in ("", "index.html", "es/", "es"):
            assert fetching.fetch(site.home + path).body == b"start"
        for path in ("docs", "docs/c", "docs/a/b"):
            with pytest.raises(SourceNotFound):
                fetching.fetch(site.home + path)
        assert site.asked()["/book/docs/a"] == 1
        assert site.statuses == {200: 8, 404: 3}
        assert site.connections == 1


def test_conditions_are_answered_until_the_page_changes(folder: Path) -> None:
    with SiteServer(folder) as site, fetcher() as fetching:
        url = site.home + "docs/a"
        first = fetching.fetch(url).validators
        dated = Validators(url, "", first.last_modified)
        for validators in (first, dated):
            assert fetching.fetch(url, validators).is_unchanged
        site.forget()
        site.put("/docs/a", b"changed")
        for validators in (first, dated):
            assert fetching.fetch(url, validators).body == b"changed"
        assert site.statuses == {200: 2}
    with SiteServer(folder, has_validators=False) as site, fetcher() as fetching:
        assert fetching.fetch(site.home + "docs/a").validators == Validators(site.home + "docs/a")


def test_sitemaps_follow_what_is_put_and_removed(folder: Path) -> None:
    with SiteServer(folder, "/book/", "https://public.test/") as site:
        assert pages(site) == ["docs/a", "es/docs/b"]
        site.put("/book/docs/c", b"new")
        site.put("/book/es/docs/c", b"nuevo")
        site.put("/book/docs/a", b"changed")
        assert pages(site) == ["docs/a", "docs/c", "es/docs/b", "es/docs/c"]
        assert b"2024" in site.body("/book/es/sitemap.xml")
        assert b"2024" not in site.body("/book/sitemap.xml")
        site.remove("/book/docs/a")
        assert pages(site) == ["docs/c", "es/docs/b", "es/docs/c"]
        site.put("/book/robots.txt", b"User-agent: *", "text/plain")
        assert len(pages(site)) == 3


def test_a_site_may_begin_empty() -> None:
    with SiteServer() as site, fetcher() as fetching:
        site.put("/a", b"first")
        site.put("/", b"start")
        assert [page.url for page in find_pages(fetching, site.home).pages] == [site.home + "a", site.home]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (redirect("http://169.254.169.254/"), AddressRefused),
        (huge(200_000), SourceTooLarge),
        (gzip_bomb(50_000_000), SourceTooLarge),
        (Reply(410), SourceNotFound),
    ],
)
def test_it_misbehaves_as_told(folder: Path, reply: Reply, error: type[Exception]) -> None:
    with SiteServer(folder) as site, fetcher() as fetching:
        site.script("/docs/a", reply, site.serve)
        with pytest.raises(error):
            fetching.fetch(site.home + "docs/a")
        assert fetching.fetch(site.home + "docs/a").body == b"page a"


def test_a_page_may_be_slow_cut_or_of_another_length(folder: Path) -> None:
    with SiteServer(folder) as site, fetcher() as fetching:
        url = site.home + "docs/a"
        site.script("/docs/a", site.slowly(0.1))
        assert fetching.fetch(url).body == b"page a"
        for failing in (site.slowly(30), site.drop_half_way):
            site.script("/docs/a", failing)
            with pytest.raises(SiteUnreachable):
                fetching.fetch(url)
        site.script("/docs/a", site.with_wrong_length)
        assert fetching.fetch(url).body == b"pag"
        site.script("/docs/a")
        site.script("/broken", Reply(200, {"Content-Encoding": "gzip"}, (b"none",)))
        with pytest.raises(DamagedSource):
            fetching.fetch(site.home + "broken")
