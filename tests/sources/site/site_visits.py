"""Small pages and visits for the tests of sites: what a Docusaurus theme, or a plain page, sends."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache

from site_server import SiteServer

from answerable.errors import SourceError
from answerable.protocols import SyncRecord, Visited
from answerable.sources.file_reader import FileReader
from answerable.sources.site.choice import SiteOptions
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher, FetchPolicy
from answerable.sources.site.visit import SiteVisit

QUICK = FetchPolicy(timeout=2, total=15, retries=1, first_wait=0.01, delay=0, max_bytes=200_000)
NOW = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Seen:
    """What came of a visit, by path."""

    visited: Mapping[str, Visited]
    skipped: Mapping[str, int]
    errors: Sequence[SourceError]
    gone: Sequence[str]
    total: int
    known: dict[str, SyncRecord] = field(default_factory=dict)

    @property
    def read(self) -> list[str]:
        """The paths that documents were made of, in order."""
        return [path for path, each in self.visited.items() if each.documents]

    @property
    def unchanged(self) -> list[str]:
        """The paths that hadn't changed, in order."""
        return [path for path, each in self.visited.items() if each.is_unchanged]

    @property
    def failed(self) -> dict[str, type[SourceError]]:
        """The paths that couldn't be read, and why."""
        return {path: type(each.error) for path, each in self.visited.items() if each.error}


@cache
def shared_files() -> FileReader:
    """What reads the pages of all visits: a process for each would take longer than the visits."""
    files = FileReader()
    atexit.register(files.close)
    return files


def visiting(address: str, options: SiteOptions | None = None, policy: FetchPolicy = QUICK) -> SiteVisit:
    """A visit that may ask this server and no other."""
    hosts = [address.split("/")[2]]
    return SiteVisit(address, Fetcher(AddressGuard(hosts), policy), shared_files(), options, now=lambda: NOW)


def visit(
    site: SiteServer,
    earlier: Seen | None = None,
    path: str = "",
    options: SiteOptions | None = None,
    policy: FetchPolicy = QUICK,
) -> Seen:
    """Visits the site, or what stands at a path below its base, after an earlier visit."""
    known = earlier.known if earlier else {}
    visit = visiting(site.home + path, options, policy)
    items = (each for each in visit.items(known) if not each.is_being_read)
    visited = {each.source.removeprefix(site.public): each for each in items}
    gone = visit.gone()
    visit.close()
    for each in visited.values():
        assert each.error or (each.record and each.record.origin == visit.origin and each.record.seen == NOW)
        assert all(document.source == each.source for document in each.documents)
    records = {each.source: each.record for each in visited.values() if each.record}
    kept = {source: record for source, record in (known | records).items() if source not in gone}
    short = [source.removeprefix(site.public) for source in gone]
    return Seen(visited, dict(visit.skipped), visit.errors, short, visit.total, kept)


def page(text: str, links: Sequence[str] = (), head: str = "") -> bytes:
    """A page of any kind of site."""
    anchors = "".join(f"<li><a href='{link}'>to there</a></li>" for link in links)
    return (
        f"<html lang=en><head><title>{text}</title>{head}</head><body><p>{text}.</p><ul>{anchors}</ul></html>".encode()
    )


def book_page(
    text: str,
    kind: str = "docs-doc-page",
    version: str = "current",
    locale: str = "en",
    banner: str = "",
    head: str = "",
) -> bytes:
    """A page as Docusaurus' theme makes it; `banner` is where its version's banner leads to."""
    shown = f"<div class='theme-doc-version-banner'>Old. <a href='{banner}'>latest</a></div>" if banner else ""
    return f"""<!doctype html><html lang="{locale}" class="docs-wrapper {kind}"><head>
<meta name="generator" content="Docusaurus v3.9.2"><meta name="docusaurus_locale" content="{locale}">
<meta name="docusaurus_version" content="{version}"><title>{text} | Book</title>{head}</head><body>
<div id="__docusaurus">{shown}<article><div class="theme-doc-markdown markdown"><h1>{text}</h1><p>About {text}.</p>
</div></article></div></body></html>""".encode()
