"""The pages of a site: which are passed over, which can't be read, and what is read of those that are no HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from providers.scripted_server import Reply
from site_server import SiteServer, gzip_bomb, huge, redirect
from site_visits import Seen, page, visit

from answerable.datatypes import document_id
from answerable.errors import (
    DamagedSource,
    EmptySource,
    SourceNotFound,
    SourceTooLarge,
)
from answerable.sources.site.choice import SiteOptions


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


def site_page(text: str, **headers: str) -> Reply:
    """A page as a reply."""
    return Reply(200, {"Content-Type": "text/html", **headers}, (page(text),))


def test_of_addresses_that_lead_to_one_page_one_is_read(site: SiteServer) -> None:
    site.script("/guide/a", redirect(f"{site.home}e"))
    for name in ("b", "c"):
        site.script(f"/guide/{name}", redirect(f"{site.home}unlisted", 301))
    site.script("/guide/unlisted", site_page("unlisted"))
    site.script("/guide/d", redirect(f"{site.home}d/"))
    first = visit(site)
    assert (names(first), first.skipped) == ("bde", {"the same as another page": 2})
    again = visit(site, first)
    assert (again.read, again.skipped, len(again.unchanged)) == ([], first.skipped, 5)
    # What it was the same as has gone: now it is read itself.
    site.remove("/guide/e")
    moved = visit(site, again)
    assert (names(moved), moved.gone) == ("a", ["e"]) or moved.failed == {"a": SourceNotFound}


def test_a_page_that_names_another_one_as_canonical_is_passed_over(site: SiteServer) -> None:
    def canonical(name: str) -> str:
        return f"<link rel=canonical href='{site.public}{name}'>"

    site.put("/guide/a", page("print of b", head=canonical("b")))
    site.put("/guide/b", page("b", head=canonical("b/")))
    site.put("/guide/c", page("c", head=canonical("not-listed")))
    # They name each other: one is kept.
    site.put("/guide/d", page("d", head=canonical("e")))
    site.put("/guide/e", page("e", head=canonical("d")))
    site.put("/guide/", page("start"))
    site.put("/guide/f", page("f", head=canonical("")))
    first = visit(site)
    assert (names(first), first.skipped) == ("bcef", {"the same as another page": 2})
    again = visit(site, first)
    assert (again.read, again.skipped) == ([], first.skipped)
    site.remove("/guide/b")
    assert visit(site, again).read == ["a"]


def test_pages_that_send_on_or_ask_not_to_be_indexed_are_passed_over(site: SiteServer) -> None:
    site.put("/guide/a", page("moved", head="<meta http-equiv=Refresh content='0; URL=/guide/b'>"))
    site.put("/guide/b", page("b", head="<meta http-equiv=refresh content='300'><meta name=robots content='index'>"))
    site.put("/guide/c", page("c", head="<meta name=ROBOTS content='NoIndex, follow'>"))
    site.put("/guide/d", page("d", head="<meta name=answerable content=none>"))
    site.script("/guide/e", site_page("e", **{"X-Robots-Tag": "noindex"}))
    seen = visit(site)
    assert (names(seen), seen.skipped) == ("b", {"leads to another page": 1, "asks not to be indexed": 3})
    again = visit(site, seen)
    assert (again.read, again.skipped) == ([], seen.skipped)
    assert names(visit(site, options=SiteOptions(everything=True))) == "bcde"


def test_a_document_becomes_none_when_its_page_is_passed_over_later(site: SiteServer) -> None:
    first = visit(site)
    site.put("/guide/a", page("a", head="<meta name=robots content=noindex>"))
    again = visit(site, first)
    visited = again.visited["a"]
    assert (visited.documents, visited.is_unchanged, visited.error) == ((), False, None)
    assert visited.record is not None
    assert visited.record.documents == ()
    assert visit(site, again).visited["a"].is_unchanged


def test_what_robots_txt_disallows_is_neither_fetched_nor_gone(site: SiteServer) -> None:
    first = visit(site)
    site.script("/robots.txt", Reply(200, {}, (b"User-agent: answerable\nDisallow: /guide/b\nDisallow: /guide/x",)))
    site.script("/guide/c", redirect("/guide/x"))
    site.forget()
    again = visit(site, first)
    assert not {"/guide/b", "/guide/x"} & set(site.asked())
    assert (again.gone, again.skipped) == ([], {"disallowed by robots.txt": 2})
    assert "b" not in again.visited


def test_hostile_pages_are_errors_of_their_own(site: SiteServer) -> None:
    site.script("/guide/a", gzip_bomb(5_000_000))
    site.script("/guide/b", huge(5_000_000))
    site.script("/guide/c", Reply(200, {"Content-Type": "text/html"}, (b"<div>" * 20_000,)))
    first = visit(site)
    assert first.failed == {"a": SourceTooLarge, "b": SourceTooLarge, "c": DamagedSource}
    assert names(first) == "de"
    site.remove("/guide/e")
    assert visit(site, first).gone == ["e"]


def test_what_is_no_page_is_read_by_what_it_is(site: SiteServer, make_pdf: Callable[..., bytes]) -> None:
    files = {
        "a": (make_pdf(["Words of a paper."]), "application/pdf"),
        "b": (b"# Title\n\nSome *words*.", "text/markdown"),
        "c": ("<meta charset=latin1><p>Caf\u00e9 con le\u00f1a</p>".encode("latin-1"), "text/html"),
        "d": (b"\x89PNG\r\n\x1a\n", "image/png"),
        "e": (b"<script>draw()</script>", "text/html"),
    }
    for name, (body, kind) in files.items():
        site.script(f"/guide/{name}", Reply(200, {"Content-Type": kind, "ETag": name}, (body,)))
    seen = visit(site)
    found = {path: each.documents[0] for path, each in seen.visited.items() if each.documents}
    assert {path: str(document.type) for path, document in found.items()} == {"a": "pdf", "b": "markdown", "c": "html"}
    assert found["a"].id == document_id(found["a"].source, found["a"].content)
    assert "Words of a paper." in found["a"].content
    assert found["c"].content == "Caf\u00e9 con le\u00f1a"
    assert seen.skipped == {"in a format that isn't read": 1, "shows no text": 1}


def test_an_empty_site_says_what_was_left_out(site: SiteServer) -> None:
    for name in "abcde":
        site.put(f"/guide/{name}", page(name, head="<meta name=robots content=noindex>"))
    with pytest.raises(EmptySource, match=r"no page to read \(5 asks not to be indexed\).*--everything"):
        visit(site)
