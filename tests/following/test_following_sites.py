"""Test a followed site: added, added again, changed, interrupted; on other stores only in long tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import READER, HashEmbedder
from postgres_server import new_library
from qdrant_server import api_key
from qdrant_server import new_library as new_qdrant_library
from site_server import Reply, SiteServer
from sources.site.site_visits import QUICK, page

from answerable.answering.decide import Answering
from answerable.errors import SourceError
from answerable.indexing.ingest import AddReport
from answerable.library import Library
from answerable.protocols import Store
from answerable.sources.file_reader import FileReader
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher
from answerable.sources.site.visit import SiteVisit
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

PAGES = 40
STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "embedded": lambda folder: EmbeddedStore(folder / "library"),
    "postgres": lambda folder: PostgresStore(new_library()),
    "qdrant": lambda folder: QdrantStore(new_qdrant_library(), key=api_key()),
}


class SiteReader(FileReader):
    """Visits sites on this machine without pauses."""

    def visit(self, source: str) -> SiteVisit:  # type: ignore[override]
        return SiteVisit(source, Fetcher(AddressGuard(["127.0.0.1"]), QUICK), files=READER)


@dataclass
class Followed:
    """A site and the library that follows it."""

    site: SiteServer
    library: Library
    store: Store
    embedder: HashEmbedder

    def add(self) -> AddReport:
        """One visit; the server forgets the ones before."""
        self.site.forget()
        return self.library.add(self.site.home)

    def pages(self) -> set[str]:
        """The paths of the documents in the library."""
        return {stored.source.removeprefix(self.site.url) for stored in self.library.documents()}


@pytest.fixture(
    params=["embedded", *(pytest.param(name, marks=pytest.mark.long) for name in STORES if name != "embedded")]
)
def followed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Followed]:
    """A library that has all pages."""
    store, embedder = STORES[request.param](tmp_path), HashEmbedder()
    with SiteServer() as site:
        for number in range(PAGES):
            site.put(f"/guide/{number}", text(number))
        with Library(store, embedder, SplitterByType(), SiteReader(), Answering()) as library:
            made = Followed(site, library, store, embedder)
            assert made.add().added == PAGES
            yield made


def text(number: int, changed: str = "") -> bytes:
    """A page about something that no other page is about."""
    return page(f"Step {number} of the guide: turn the {number}. valve by {number} degrees, then wait. {changed}")


def counts(report: AddReport) -> dict[str, int]:
    """What was done, without what is 0."""
    named = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed", "kept")}
    return {name: count for name, count in {**named, "failed": len(report.failures)}.items() if count}


def test_an_unchanged_site_costs_conditional_requests_only(followed: Followed) -> None:
    embedded, passages = followed.embedder.embedded, followed.store.count()
    assert counts(followed.add()) == {"unchanged": PAGES}
    assert followed.embedder.embedded == embedded
    assert followed.store.count() == passages
    assert followed.site.statuses[304] == PAGES
    # The sitemap itself, and the look for a robots.txt.
    assert followed.site.statuses.total() == PAGES + 2


def test_only_changes_are_embedded_and_removed_pages_go(followed: Followed) -> None:
    for number in (3, 14, 15):
        followed.site.put(f"/guide/{number}", text(number, "It hisses."))
    for number in (9, 21):
        followed.site.remove(f"/guide/{number}")
    followed.site.put("/guide/new", text(1000))
    embedded = followed.embedder.embedded
    assert counts(followed.add()) == {"added": 1, "changed": 3, "unchanged": PAGES - 5, "removed": 2}
    assert followed.embedder.embedded == embedded + 4
    expected = {f"/guide/{number}" for number in range(PAGES)} - {"/guide/9", "/guide/21"} | {"/guide/new"}
    assert followed.pages() == expected
    assert len([record for record in followed.store.records() if record.origin]) == len(expected)
    answer = followed.library.ask("What does it do at step 14?")
    assert any("It hisses." in result.chunk.content for result in answer.results)
    assert counts(followed.add()) == {"unchanged": PAGES - 1}


def test_a_crawl_that_is_cut_half_way_deletes_nothing(followed: Followed) -> None:
    followed.site.remove("/guide/5")
    for number in range(20, PAGES):
        followed.site.script(f"/guide/{number}", *[Reply(503)] * 10)
    report = followed.add()
    assert counts(report) == {"unchanged": 19, "kept": 1, "failed": PAGES - 20}
    assert followed.pages() == {f"/guide/{number}" for number in range(PAGES)}


def test_a_sitemap_that_is_lost_deletes_nothing(followed: Followed) -> None:
    for lost in (Reply(500), Reply(200, {}, (b"<urlset",)), Reply(200, {}, (b"<urlset></urlset>",)), Reply(404)):
        followed.site.script("/sitemap.xml", *[lost] * 10)
        # Whatever is said of the site, the library is as it was.
        with suppress(SourceError):
            followed.add()
        assert followed.pages() == {f"/guide/{number}" for number in range(PAGES)}, lost


def test_an_interrupted_visit_is_finished_by_the_next(followed: Followed) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(progress: object) -> None:
        if followed.site.asked().total() > 20:
            raise Interrupted

    for number in range(PAGES):
        followed.site.put(f"/guide/{number}", text(number, "It hisses."))
    followed.site.remove(f"/guide/{PAGES - 1}")
    followed.site.forget()
    with pytest.raises(Interrupted):
        followed.library.add(followed.site.home, on_progress=interrupt)
    assert len(followed.pages()) == PAGES
    report = followed.add()
    assert report.changed + report.unchanged == PAGES - 1
    assert report.removed == 1
    assert counts(followed.add()) == {"unchanged": PAGES - 1}
