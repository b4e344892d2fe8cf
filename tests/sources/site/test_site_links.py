"""Sites without a sitemap: which links are followed, where that ends, and what counts as gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from providers.scripted_server import Reply, Request
from site_server import SiteServer, redirect
from site_visits import Seen, page, visit

from answerable.errors import AddressRefused, EmptySource, SiteUnreachable, SourceError, SourceNotFound, SourceTooLarge
from answerable.sources.html.links import page_links
from answerable.sources.html.parse import parse_page
from answerable.sources.site.choice import SiteOptions


class UnlistedSite(SiteServer):
    """A site under /wiki/ without a sitemap, made of pages and where they link to."""

    def __init__(self) -> None:
        super().__init__(base="/wiki/")

    def put(self, path: str, body: bytes, content_type: str = "text/html") -> None:
        """Adds or changes what a path serves, and takes the sitemap away again."""
        super().put(path, body, content_type)
        self._files.pop("/wiki/sitemap.xml", None)

    def link(self, **pages: str) -> None:
        """Puts pages: each by its name, with the names that it links to; `start` is that of the folder itself."""
        for name, links in pages.items():
            self.put(f"/wiki/{name}".replace("start", ""), page(f"page {name}", links.split()))


@pytest.fixture
def site() -> Iterator[UnlistedSite]:
    """The site, with no pages yet."""
    with UnlistedSite() as site:
        yield site


def endless(text: Callable[[str], str]) -> Callable[[Request], Reply]:
    """A step that makes a page of the path."""
    return lambda request: Reply(200, {"Content-Type": "text/html"}, (text(request.path).encode(),))


def reasons(seen: Seen) -> list[str]:
    """Why something was passed over."""
    return sorted(seen.skipped)


def test_links_are_followed_breadth_first_within_the_folder(site: UnlistedSite) -> None:
    site.link(start="b a /other/x //elsewhere.test/ mailto:me #top ?", a="c ../wiki/b", b="d", c="", d="/wiki/ a#part")
    site.put("/other/x", page("outside"))
    seen = visit(site)
    assert seen.read == ["", "b", "a", "d", "c"]
    assert (seen.total, seen.failed, seen.skipped) == (5, {}, {})
    assert not {"/other/x", "/other"} & set(site.asked())
    assert site.asked()["/wiki/b"] == 1


def test_a_second_visit_knows_what_is_unchanged_and_still_follows_its_links(site: UnlistedSite) -> None:
    site.link(start="a", a="b paper", b="")
    site.put("/wiki/paper", b"# Words", "text/markdown")
    first = visit(site)
    assert first.read == ["", "a", "b", "paper"]
    site.link(b="c", c="")
    site.forget()
    again = visit(site, first)
    assert (again.read, again.unchanged, again.gone) == (["b", "c"], ["", "a", "paper"], [])
    assert site.statuses[304] == 1  # A page's links are in its text, so it is sent; other files aren't.


def test_only_what_the_site_itself_says_is_not_there_is_gone(site: UnlistedSite) -> None:
    site.link(start="a b c d", a="", b="", c="", d="")
    first = visit(site)
    site.link(start="d c")
    site.remove("/wiki/a")
    site.remove("/wiki/c")
    again = visit(site, first)
    # b isn't linked any more, but stands where it stood.
    assert (again.read, again.gone, again.skipped) == ([""], ["a", "c"], {"broken link": 1})
    site.script("/wiki/a", Reply(500))
    assert visit(site, first).gone == ["c"]
    site.script("/wiki/d", Reply(503))
    cut = visit(site, first)
    assert (cut.failed, cut.gone) == ({"d": SiteUnreachable}, [])
    bounded = visit(site, first, options=SiteOptions(max_pages=2))
    assert (bounded.gone, [type(error) for error in bounded.errors]) == ([], [SourceTooLarge])
    assert bounded.total == 2


def test_a_start_that_cannot_be_had_is_an_error_and_nothing_is_gone(site: UnlistedSite) -> None:
    site.link(start="a", a="")
    first = visit(site)
    site.script("/wiki/", Reply(404))
    with pytest.raises(SourceNotFound):
        visit(site, first)
    site.script("/wiki/", redirect("http://localhost/wiki/"))
    with pytest.raises(SourceError, match="give the address http://localhost/wiki/ if that is meant"):
        visit(site, first)
    site.script("/robots.txt", Reply(200, {}, (b"User-agent: *\nDisallow: /",)))
    with pytest.raises(AddressRefused, match=r"robots\.txt"):
        visit(site, first)


def test_a_start_that_moved_on_its_host_is_read_where_it_is(site: UnlistedSite) -> None:
    site.link(**{"start": "/other/x", "en/": "a", "en/a": "../de/b"})
    site.put("/wiki/de/b", page("b"))
    site.script("/wiki/", redirect("/wiki/en/"))
    assert visit(site).read == ["en/", "en/a", "de/b"]
    site.script("/wiki/", redirect("/new/"))
    site.put("/new/", page("new", ["a", "/wiki/en/"]))
    site.put("/new/a", page("new a"))
    assert [path.removeprefix(site.url) for path in visit(site).read] == ["/new/", "/new/a"]


@pytest.mark.parametrize("name", ["page.html", "page.php?id=3", "paper.md"])
def test_an_address_of_a_page_means_this_page_only(site: UnlistedSite, name: str) -> None:
    body, kind = (page("one", ["a"]), "text/html") if name.startswith("page") else (b"# one\n[a](a)", "text/markdown")
    site.link(a="")
    site.put(f"/wiki/{name.partition('?')[0]}", body, kind)
    first = visit(site, path=name)
    assert (first.read, first.total) == ([name], 1)
    site.forget()
    again = visit(site, first, path=name)
    assert (again.unchanged, again.gone) == ([name], [])
    assert not [path for path in site.asked() if path.endswith(("/a", "sitemap.xml"))]


def test_loops_and_traps_come_to_an_end(site: UnlistedSite) -> None:
    site.link(start="a deep/ calendar same/", a="start ./a .")
    for depth in range(40):
        path = "/wiki/deep/" + "x/" * depth
        site.script(path, endless(lambda path: f"<p>page {path}</p><a href='x/'>deeper</a>"))
        site.script("/wiki/same/" + "y/" * depth, endless(lambda path: "<p>always the same</p><a href='y/'>more</a>"))
    for month in range(60):
        step = f"<a href='calendar?month={month + 1}'>next</a>"
        site.script(f"/wiki/calendar?month={month}", endless(f"<p>{{}}</p>{step}".format))
    site.script("/wiki/calendar", endless(lambda path: "".join(f"<a href='?month={m}'>{m}</a>" for m in range(50))))
    seen = visit(site)
    assert seen.failed == {}
    assert len([path for path in seen.read if path.startswith("deep/")]) == 16
    assert len([path for path in seen.read if path.startswith("same/")]) == 1
    assert len([path for path in seen.read if path.startswith("calendar?")]) == 20
    assert {"over 16 links from the start", "over 20 queries to one page", "the same as another page"} <= set(
        seen.skipped
    )


def test_an_address_is_asked_for_once_whatever_tracks_its_visitors(site: UnlistedSite) -> None:
    links = "a?utm_source=x a?fbclid=1 a;jsessionid=AB12 a?x=1&y=2 a?y=2&x=1&sid=9 a#b logo.PNG data.zip app.js"
    site.link(start=links, a="")
    for path in ("a", "a?x=1&y=2"):
        site.script(f"/wiki/{path}", endless(lambda path: f"<p>page {path}</p>"))
    seen = visit(site)
    assert seen.read == ["", "a", "a?x=1&y=2"]
    assert seen.skipped == {"not a page, by its name": 3}


def test_what_asks_not_to_be_followed_or_fetched_is_not(site: UnlistedSite) -> None:
    site.script("/robots.txt", Reply(200, {}, (b"User-agent: *\nDisallow: /wiki/b",)))
    site.link(start="a b c d", b="", x="", y="", z="")
    site.put("/wiki/a", page("a", ["x"], "<meta name=robots content=nofollow>"))
    site.put("/wiki/c", b"<p>c</p><a rel='nofollow noopener' href=y>y</a>")
    site.put("/wiki/d", page("d", ["z"], "<meta name=robots content=noindex>"))
    seen = visit(site)
    assert seen.read == ["", "a", "c", "z"]
    assert seen.skipped == {"disallowed by robots.txt": 1, "asks not to be indexed": 1}
    assert not {"/wiki/b", "/wiki/x", "/wiki/y"} & set(site.asked())
    site.script("/robots.txt", Reply(200, {}, (b"User-agent: *\nDisallow: /wiki/c",)))
    again = visit(site, seen)
    assert (again.read, again.gone) == (["b"], [])
    assert "c" not in again.visited


def test_redirects_and_pages_that_send_on_lead_to_one_page(site: UnlistedSite) -> None:
    site.link(start="old older sent copy away new", new="")
    for name in ("old", "older"):
        site.script(f"/wiki/{name}", redirect("/wiki/moved"))
    site.put("/wiki/moved", page("moved"))
    site.put("/wiki/sent", page("sent", head="<meta http-equiv=refresh content='0;url=target'>"))
    site.put("/wiki/target", page("target"))
    site.put("/wiki/copy", page("copy", head="<link rel=canonical href=/wiki/new>"))
    site.script("/wiki/away", redirect("http://169.254.169.254/"))
    seen = visit(site)
    assert seen.read == ["", "moved", "new", "target"]
    assert seen.skipped == {"the same as another page": 2, "leads to another page": 1, "redirects elsewhere": 1}
    again = visit(site, seen)
    assert (again.read, again.gone, again.skipped) == ([], [], seen.skipped)


def test_pages_are_cited_by_the_public_address_that_was_given(site: UnlistedSite) -> None:
    site.link(start="a b", a="", b="")
    options = SiteOptions(public_base="https://wiki.test/help")
    seen = visit(site, options=options)
    assert seen.read == ["https://wiki.test/help/", "https://wiki.test/help/a", "https://wiki.test/help/b"]
    site.link(start="b")
    site.remove("/wiki/a")
    assert visit(site, seen, options=options).gone == ["https://wiki.test/help/a"]


def test_a_site_that_shows_no_text_says_so(site: UnlistedSite) -> None:
    site.put("/wiki/", b"<div id=app></div><script src=app.js></script>")
    with pytest.raises(EmptySource, match="1 shows no text"):
        visit(site)


def test_a_sitemap_of_another_part_is_no_answer(site: UnlistedSite) -> None:
    other = f"<urlset><url><loc>{site.url}/shop/</loc></url></urlset>"
    site.script("/sitemap.xml", Reply(200, {"Content-Type": "application/xml"}, (other.encode(),)))
    site.link(start="a", a="")
    assert visit(site).read == ["", "a"]
    site.script("/wiki/sitemap.xml", Reply(200, {"Content-Type": "application/xml"}, (other.encode(),)))
    with pytest.raises(EmptySource, match="lists no page under"):
        visit(site, path="sitemap.xml")


def test_links_of_a_page_are_made_whole() -> None:
    tree = parse_page(
        "<base href=/b/><a href=' c d '>x</a><a href='//h.test:99999/'>x</a><a href='javascript:x'>x</a>"
        "<a href='http://[::1'>x</a><area href='?q=1#f'><a>x</a><iframe src=../e></iframe><a href=c%20d>x</a>"
    )
    assert page_links(tree, "http://h.test/a") == ["http://h.test/b/c%20d", "http://h.test/b/?q=1", "http://h.test/e"]
