"""The book on the web: its pages by its sitemap, fetched politely and within bounds, read as text."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version

from answerable.errors import EmptySource, SiteUnreachable, SourceError, SourceNotFound
from answerable.sources import (
    AddressGuard,
    Fetched,
    Fetcher,
    FetchPolicy,
    FileReader,
    PageKind,
    Robots,
    SitePage,
    SitePages,
    Validators,
    ask_ahead,
    find_pages,
    page_key,
)
from book import settings
from book.errors import (
    ContentExtractionError,
    NetworkError,
    PageNotFoundError,
    SitemapNotFoundError,
    SitemapUnreachable,
)
from book.models import ContentPage, Heading

READER = f"answerable {version('answerable')}"
"""What reads pages: another version may read the same page otherwise."""

# They repeat other pages, and their titles would rank above those.
_LISTS = tuple(map(str, (PageKind.CATEGORY, PageKind.TAGS, PageKind.BLOG_LIST, PageKind.SEARCH)))
_WITH_TEXT = (str(PageKind.DOCUMENT), "")
_log = logging.getLogger("book")
_HTML = ("", "text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Visited:
    """What became of a page of the sitemap: read, unchanged, left out for a reason, or failed with an error.

    `url` is its public address.
    """

    url: str
    page: ContentPage | None = None
    validators: Validators | None = None
    is_unchanged: bool = False
    left_out: str = ""
    error: SourceError | None = None


class Site:
    """A web site, asked under the rules of its robots.txt. Raises NetworkError, PageNotFoundError and so on."""

    def __init__(self, fetcher: Fetcher, files: FileReader, max_pages: int) -> None:
        self._fetcher = fetcher
        self._files = files
        self._robots = Robots(fetcher)
        self._max_pages = max_pages

    def pages(self, base_url: str) -> SitePages:
        """What the sitemap names, in its order. Raises SitemapNotFoundError also where it names nothing, and
        SitemapUnreachable, which is a NetworkError too, where it can't be had."""
        try:
            return find_pages(self._fetcher, base_url, self._robots, max_pages=self._max_pages)
        except EmptySource as error:
            raise SitemapNotFoundError(str(error)) from error
        except SitemapNotFoundError:
            raise
        except SiteUnreachable as error:
            raise SitemapUnreachable(
                f"The sitemap isn't accessible: {error}. Check the address, or give that of another sitemap.",
                error.retry_after,
            ) from error
        except SourceError as error:
            raise _network_error(error) from error

    def fetch(self, url: str, validators: Validators | None = None) -> Fetched:
        """A page, unless these validators still hold."""
        try:
            found = self._fetcher.fetch(url, validators, self._robots.check)
        except SourceNotFound as error:
            raise PageNotFoundError(str(error)) from error
        except SourceError as error:
            raise _network_error(error) from error
        _log.debug("%s: %s", found.url, "unchanged" if found.is_unchanged else f"{len(found.body)} bytes")
        return found

    def visit(self, pages: Sequence[SitePage], known: Mapping[str, Validators]) -> Iterator[Visited]:
        """Every page in order, fetched a few at a time; `known` are validators by public address."""
        asked = ask_ahead(
            deque(pages),
            lambda page: self.fetch(page.url, known.get(page.public)),
            lambda page: "",
            self._fetcher.policy.concurrency,
        )
        # A page has one address: what redirects to another one of the sitemap is that one.
        met = {page_key(page.url) for page in pages}
        with closing(asked):
            for page, found in asked:
                if isinstance(found, Fetched) and (at := page_key(found.url)) != page_key(page.url):
                    if at in met:
                        yield Visited(page.public, left_out="redirects to a page that is there")
                        continue
                    met.add(at)
                yield self._visited(page, found)

    def content(self, found: Fetched, url: str) -> ContentPage:
        """The text of what was fetched, a page with this public address. Raises ContentExtractionError."""
        if not _is_html(found):
            raise ContentExtractionError(f"{url} is no page of HTML ({found.content_type[:80]}): leave it out")
        try:
            (document,) = self._files.read_page(found.body, url)
        except SourceError as error:
            raise ContentExtractionError(str(error)) from error
        headings = [
            Heading(part.headings[-1], part.start, part.anchor or "") for part in document.parts if part.headings
        ]
        return ContentPage(
            url, document.title, document.content, [*headings], str(document.metadata.get("chapter", ""))
        )

    def _visited(self, page: SitePage, found: Fetched | SourceError) -> Visited:
        if isinstance(found, PageNotFoundError):
            return Visited(page.public, left_out="gone although the sitemap names them")
        if isinstance(found, SourceError):
            return Visited(page.public, error=found)
        if found.is_unchanged:
            return Visited(page.public, is_unchanged=True)
        if not _is_html(found):
            return Visited(page.public, left_out=f"no HTML but {found.content_type[:80]}")
        try:
            kind = self._files.page_facts(found.body, page.public, "").kind
            if kind in _LISTS:
                return Visited(page.public, left_out=f"lists of other pages ({kind})")
            return Visited(page.public, self.content(found, page.public), found.validators)
        except ContentExtractionError as error:
            # A start page may be all pictures, or lead to another one.
            is_wanted = kind in _WITH_TEXT
            return Visited(page.public, error=error) if is_wanted else Visited(page.public, left_out="without text")
        except SourceError as error:
            return Visited(page.public, error=error)


@contextmanager
def open_site() -> Iterator[Site]:
    """The web as it may be asked here. Raises SettingsError where ANSWERABLE_ALLOW_HOSTS makes no sense."""
    given = settings.engine()
    hosts = [host.strip() for host in given.allow_hosts.split(",") if host.strip()]
    policy = FetchPolicy(delay=1 / given.requests_per_second)
    with Fetcher(AddressGuard(hosts), policy) as fetcher, closing(FileReader()) as files:
        yield Site(fetcher, files, given.max_pages)


def scrape_sitemap(base_url: str) -> list[str]:
    """The addresses of the book's pages as its sitemap names them, moved to the host of `base_url`.

    Raises SitemapNotFoundError where there is none that can be read, NetworkError where the site can't be asked; where
    it fails, what is raised is both.
    """
    with open_site() as site:
        return [page.url for page in site.pages(base_url).pages]


def scrape_page(url: str) -> ContentPage:
    """A page with its text as Markdown.

    Raises PageNotFoundError where there is none, ContentExtractionError where it shows no text, NetworkError where
    it can't be had.
    """
    with open_site() as site:
        return site.content(site.fetch(url), url)


def _is_html(found: Fetched) -> bool:
    return found.content_type.partition(";")[0].strip().lower() in _HTML


def left_out_before(book: SitePages) -> dict[str, list[str]]:
    """The addresses that a sitemap names and nobody asks for, by reason."""
    disallowed = sorted(page.public for page in book.disallowed)
    return {"robots.txt asks not to fetch them": disallowed} if disallowed else {}


def _network_error(error: SourceError) -> NetworkError:
    wait = error.retry_after if isinstance(error, SiteUnreachable) else None
    return NetworkError(str(error), wait)
