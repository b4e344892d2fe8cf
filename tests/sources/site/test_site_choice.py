"""Docusaurus sites: documents only, one version, the locales that are asked for; made up, and as it builds them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from docusaurus_build import BASE, LONGEST_BUILD, PUBLIC, docusaurus_site
from site_server import SiteServer
from site_visits import book_page, page, visit

from answerable.errors import EmptySource
from answerable.sources.site.choice import SiteOptions

OTHER = "of another version"
# Where the banner of every other version leads to.
LATEST = "/book/docs/a"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A site under /book/ that has no pages yet."""
    with SiteServer(base="/book/", public="https://public.test/book/") as site:
        yield site


def put(site: SiteServer, *versions: tuple[str, str], banner: str = "", pages: str = "ab") -> None:
    """Puts the same documents in the folder of each version."""
    for folder, version in versions:
        for name in pages:
            site.put(f"/book/docs/{folder}{name}", book_page(f"{name} of {version}", version=version, banner=banner))


def test_only_documents_are_read(site: SiteServer) -> None:
    kinds = {
        "blog": "blog-wrapper blog-list-page",
        "blog/post": "blog-wrapper blog-post-page",
        "docs/a": "docs-doc-page",
        "docs/tags": "docs-tags-list-page",
        "docs/tags/x": "docs-tags-doc-list-page",
        "about": "mdx-page",
    }
    for path, kind in kinds.items():
        site.put(f"/book/{path}", book_page(path, kind))
    site.put("/book/plain", page("no page of the theme"))
    seen = visit(site)
    assert seen.read == ["docs/a", "plain"]
    assert seen.skipped == {"blog list pages": 1, "blog post pages": 1, "tags pages": 2, "standalone pages": 1}
    again = visit(site, seen)
    assert (again.read, len(again.unchanged), again.skipped) == ([], 7, seen.skipped)
    assert len(visit(site, options=SiteOptions(everything=True)).read) == 7


def test_lists_below_a_list_of_tags_are_not_even_asked_for(site: SiteServer) -> None:
    site.put("/book/docs/tags", book_page("tags", "docs-tags-list-page"))
    for number in range(40):
        site.put(f"/book/docs/tags/{number}", book_page(f"tag {number}", "docs-tags-doc-list-page"))
    site.put("/book/docs/tagsoup", book_page("soup"))
    first = visit(site)
    assert (first.read, first.skipped) == (["docs/tagsoup"], {"tags pages": 41})
    asked = set(site.asked())
    assert len(asked) < 15
    site.forget()
    again = visit(site, first)
    assert (len(again.unchanged), again.skipped, set(site.asked())) == (42, first.skipped, asked)
    assert site.statuses[200] == 1


def test_the_latest_release_stands_in_no_folder_of_its_own(site: SiteServer) -> None:
    put(site, ("next/", "current"), ("1.0/", "1.0"), banner=LATEST, pages="abc")
    put(site, ("", "2.0"))
    site.put("/book/docs/releases/2.0", book_page("news", "docs-doc-page docs-doc-id-releases/2.0", "2.0"))
    site.put("/book/docs/releases/2.1", book_page("plans", "docs-doc-page docs-doc-id-releases/2.1", "2.0"))
    site.put("/book/more/a", book_page("a book with one version"))
    seen = visit(site)
    assert seen.read == ["docs/a", "docs/b", "docs/releases/2.0", "docs/releases/2.1", "more/a"]
    assert seen.skipped == {OTHER: 6}
    assert (visit(site, seen).skipped, visit(site, seen).read) == (seen.skipped, [])


@pytest.mark.parametrize(
    ("versions", "folders"),
    [
        (("1.0",), ["1.0/"]),
        (("next",), ["next/"]),
        (("current",), ["next/"]),
        (("2.0",), [""]),
        (("latest", "1.0"), ["1.0/", ""]),
        (("all",), ["next/", "1.0/", ""]),
    ],
)
def test_versions_are_chosen_by_name(site: SiteServer, versions: tuple[str, ...], folders: list[str]) -> None:
    put(site, ("next/", "current"), ("1.0/", "1.0"), banner=LATEST)
    put(site, ("", "2.0"))
    seen = visit(site, options=SiteOptions(versions=versions))
    assert seen.read == [f"docs/{folder}{name}" for folder in folders for name in "ab"]
    assert seen.gone == []


def test_folders_with_other_names_are_told_by_their_banner(site: SiteServer) -> None:
    put(site, ("v3/", "3.x.x"), ("old/", "2.0"), banner=LATEST)
    put(site, ("", "4.x.x"))
    seen = visit(site)
    assert (seen.read, seen.skipped) == (["docs/a", "docs/b"], {OTHER: 4})


@pytest.mark.parametrize("banner", ["", LATEST])
def test_a_version_can_be_asked_for_by_its_address(site: SiteServer, banner: str) -> None:
    put(site, ("1.0/", "1.0"), banner=banner)
    put(site, ("", "2.0"))
    assert visit(site, path="docs/1.0").read == ["docs/1.0/a", "docs/1.0/b"]


def test_pages_of_a_version_that_is_no_longer_the_latest_are_none_any_more(site: SiteServer) -> None:
    put(site, ("", "1.0"))
    first = visit(site)
    put(site, ("", "2.0"), pages="a")
    put(site, ("1.0/", "1.0"), banner=LATEST)
    site.remove("/book/docs/b")
    again = visit(site, first)
    assert (again.read, again.gone, again.skipped) == (["docs/a"], ["docs/b"], {OTHER: 2})


def test_locales_are_folders_or_what_pages_say_they_are(site: SiteServer) -> None:
    empty = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>"
    site.put("/book/docs/a", book_page("a"))
    site.put("/book/es/sitemap.xml", empty, "application/xml")
    site.put("/book/docs/b", book_page("b", locale="pt-BR"))
    site.put("/book/es/docs/a", book_page("a", locale="es"))

    def read(*locales: str) -> list[str]:
        first = visit(site, options=SiteOptions(locales))
        assert not first.errors
        again = visit(site, first, options=SiteOptions(locales))
        assert (again.read, again.gone, again.errors, again.skipped) == ([], [], [], first.skipped)
        return first.read

    assert read() == ["docs/a", "docs/b"]
    assert read("es") == ["es/docs/a"]
    assert read("en") == ["docs/a"]
    assert read("pt") == ["docs/b"]
    assert read("es", "en") == ["docs/a", "es/docs/a"]
    with pytest.raises(EmptySource, match="2 of another locale"):
        visit(site, options=SiteOptions(("fr",)))
    seen = visit(site, options=SiteOptions(("fr", "es")))
    assert (seen.read, len(seen.errors)) == (["es/docs/a"], 1)


@pytest.mark.long
@pytest.mark.timeout(LONGEST_BUILD)
def test_a_real_site_is_read_in_the_way_that_is_asked_for() -> None:
    with SiteServer(docusaurus_site(), BASE, PUBLIC) as site:
        latest = visit(site)
        assert latest.read == ["docs/intro", "docs/water/watering"]
        assert (latest.failed, latest.errors) == ({}, [])
        site.forget()
        again = visit(site, latest)
        assert (again.read, again.skipped, again.gone) == ([], latest.skipped, [])
        assert len(again.unchanged) == again.total == site.statuses[304]
        coming = visit(site, options=SiteOptions(versions=("next",))).read
        assert len(coming) > 2
        assert all(path.startswith("docs/next/") for path in coming)
        assert visit(site, options=SiteOptions(versions=("all",))).read == [*coming, *latest.read]
        spanish = visit(site, options=SiteOptions(("es",)))
        assert spanish.read == [f"es/{path}" for path in latest.read]
        assert all(each.documents[0].metadata["locale"] == "es" for each in spanish.visited.values() if each.documents)
        assert visit(site, options=SiteOptions(("en",))).read == latest.read
