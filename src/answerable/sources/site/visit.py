"""A followed site: its pages → Documents, and on later visits which pages have changed and which are gone.

Pages come from the sitemaps, or else from links. No page counts as gone unless every listed page was seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timezone
from functools import partial

from answerable.errors import (
    DamagedSource,
    EmptySource,
    SitemapNotFoundError,
    SourceError,
    SourceNotFound,
    SourceTooLarge,
)
from answerable.protocols import SyncRecord, Visited
from answerable.protocols.sources import UnreadFile
from answerable.sources.context import skipped_summary
from answerable.sources.file_reader import FileReader, while_waiting
from answerable.sources.html.web_address import parse_address
from answerable.sources.site.choice import SAME, Choice, SiteOptions, Verdict
from answerable.sources.site.crawl import (
    ELSEWHERE,
    Asker,
    LinkedPages,
    ListedPages,
    Outcome,
    PassedOver,
    arrived_base,
    ask_ahead,
    parse_start,
)
from answerable.sources.site.fetch import Fetched, Fetcher
from answerable.sources.site.pages import DISALLOWED, SitePage, find_pages, page_key
from answerable.sources.site.reading import PageReader

# Yielded while the next page isn't known yet.
_WAITING = Visited("")
# Errors that a responding site causes: its listing is still reliable.
_ANSWERED = (SourceNotFound, SourceTooLarge, DamagedSource)


class SiteVisit:
    """One visit to a site, a part of it or a page, as in `protocols.Visit`; it closes the fetcher."""

    def __init__(
        self,
        address: str,
        fetcher: Fetcher,
        files: FileReader,
        options: SiteOptions | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        self._start = parse_start(address)
        # A page whose address the user gave is wanted, whatever kind of page it is.
        self._options = SiteOptions(everything=True) if self._start.is_page else options or SiteOptions()
        named = "" if self._start.is_page else str(self._options)
        self.origin = f"{self._start.base} ({named})" if named else self._start.base
        self._fetcher = fetcher
        self._files = files
        self._now = now
        self._asker = Asker(fetcher)
        self._known: Mapping[str, SyncRecord] = {}
        self._pages: ListedPages | LinkedPages | None = None
        self._reader: PageReader | None = None
        self._there: set[str] = set()
        # Single pages aren't in a listing, and a site may have any number of them.
        self.passed_over: Sequence[UnreadFile] = ()
        self._is_whole = True
        self._is_over = False

    @property
    def total(self) -> int:
        """Number of pages known so far, including those not yet fetched."""
        return self._pages.total if self._pages else 0

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of pages skipped so far, by reason."""
        counters = (each.skipped for each in (self._pages, self._reader) if each)
        return sum(counters, Counter[str]())

    @property
    def errors(self) -> list[SourceError]:
        """The errors for unreadable sitemaps and for limits that were reached."""
        return list(self._pages.errors) if self._pages else []

    def close(self) -> None:
        """End the requests under way. Idempotent."""
        self._fetcher.close()

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield every page in the order of sitemaps or links; closing this early ends the visit.

        Raise SourceError if the site can't be reached, EmptySource if it has nothing to read.
        """
        self._known = known
        was_read = any(record.documents for record in known.values())
        try:
            for visited in self._visits():
                was_read |= bool(visited.documents or visited.error or (visited.record and visited.record.documents))
                yield visited
            if not was_read:
                raise EmptySource(
                    f"{self.origin} has no page to read{skipped_summary(self.skipped)}: "
                    "give the address of another part of it, or other options (--everything, --docs-version, --locale)"
                )
            self._is_over = True
        finally:
            if not self._is_over:
                self.close()

    def gone(self) -> list[str]:
        """Return known addresses that the sitemaps no longer list; without sitemaps, those that now aren't found."""
        # If a sitemap or a page couldn't be fetched, it isn't known.
        if not (self._is_over and self._is_whole) or self.errors:
            return []
        pages = self._pages
        there = pages.there if isinstance(pages, ListedPages) else self._there
        unseen = [source for source in self._known if source not in there]
        if isinstance(pages, LinkedPages):
            return [source for source in unseen if self._asker.is_gone(pages.page(pages.url(source)))]
        return unseen

    def _visits(self) -> Generator[Visited, None, None]:
        listed = yield from while_waiting(self._listed, _WAITING, self.close)
        if listed is None:
            yield from self._from_start()
        else:
            reader = self._begin(listed, listed.locale_folders)
            yield from self._from_queue(listed, reader)
            listed.settle(reader.choice.seen_locales)

    def _listed(self) -> ListedPages | None:
        """Return the pages in the sitemaps, None if there is no sitemap for the address."""
        if self._start.is_page:
            return None
        options = self._options
        try:
            found = find_pages(self._fetcher, self._start.url, self._asker.robots, options.locales, options.public_base)
        except (SitemapNotFoundError, EmptySource):
            if self._start.is_sitemap:
                raise
            return None
        if not found.pages and not found.disallowed:
            raise found.errors[0]
        return ListedPages(found, options)

    def _begin(self, pages: ListedPages | LinkedPages, locale_folders: Collection[str]) -> PageReader:
        choice = Choice(self._options, pages.public_base, lambda: pages.keys, locale_folders)
        self._pages = pages
        self._asker.base = pages.base
        self._reader = PageReader(self.origin, pages, choice, self._known, self._files, self._now)
        return self._reader

    def _from_start(self) -> Generator[Visited, None, None]:
        """Visit the start page, then all pages that it leads to."""
        options = self._options
        remembered = self._known.get(self._start.url)
        validators = remembered.validators if remembered and self._start.is_page else {}
        start = partial(self._asker.start, self._start, validators)
        fetched = yield from while_waiting(start, _WAITING, self.close)
        base = arrived_base(self._start, fetched.url)
        public_base = f"{page_key(parse_address(options.public_base).url)}/" if options.public_base else base
        linked = LinkedPages(base, public_base, options.max_pages)
        reader = self._begin(linked, [f"{public_base}{name}/" for name in options.locales])
        linked.add(fetched.url)
        yield from self._read(reader, linked.page(fetched.url), fetched)
        if not self._start.is_page:
            yield from self._from_queue(linked, reader)

    def _from_queue(self, pages: ListedPages | LinkedPages, reader: PageReader) -> Generator[Visited, None, None]:
        def ask(page: SitePage) -> Fetched:
            return self._asker.page(page, reader.conditions(page))

        def leave_out(page: SitePage) -> str:
            return reader.choice.leaves_out(page.public)

        with closing(ask_ahead(pages.queue, ask, leave_out, self._fetcher.policy.concurrency)) as outcomes:
            while found := (yield from while_waiting(partial(next, outcomes, None), _WAITING, self.close)):
                yield from self._read(reader, *found)

    def _read(self, reader: PageReader, page: SitePage, outcome: Outcome) -> Generator[Visited, None, None]:
        work = partial(self._visited, reader, page, outcome)
        if visited := (yield from while_waiting(work, Visited(page.public), self._files.stop)):
            yield visited

    def _visited(self, reader: PageReader, page: SitePage, outcome: Outcome) -> Visited | None:
        """Return the result for a page; None for a broken link, a disallowed page, or one that was already visited."""
        linked = self._pages if isinstance(self._pages, LinkedPages) else None
        if linked and isinstance(outcome, SourceNotFound):
            reader.skipped["broken link"] += 1
            return None
        if linked and isinstance(outcome, Fetched) and outcome.url != page.url:
            if not linked.add(outcome.url):
                reader.skipped[SAME] += 1
                return None
            page = linked.page(outcome.url)
        self._there.add(page.public)
        if isinstance(outcome, PassedOver):
            return self._passed_over(reader, page, str(outcome))
        try:
            if isinstance(outcome, SourceError):
                self._is_whole &= isinstance(outcome, _ANSWERED)
                raise outcome
            return reader.read(page, outcome)
        except SourceError as error:
            return Visited(page.public, error=error)

    def _passed_over(self, reader: PageReader, page: SitePage, reason: str) -> Visited | None:
        """Return the result for a skipped page; if it now redirects out of the site, keep its earlier documents."""
        known = self._known.get(page.public)
        if reason == DISALLOWED:
            reader.skipped[reason] += 1
            return None
        if reason == ELSEWHERE and known and known.documents:
            error = SourceError(
                f"{page.public} now redirects out of the site: its earlier text is kept; remove "
                "it if the page has moved"
            )
            return Visited(page.public, error=error)
        return reader.pass_over(page, Verdict(reason))
