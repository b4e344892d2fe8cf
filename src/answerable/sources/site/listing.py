"""The pages of a site as its sitemaps list them, of the locales that are wanted."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable

from answerable.errors import SourceError
from answerable.sources.site.choice import OTHER_LOCALE, SiteOptions
from answerable.sources.site.pages import SitePage, SitePages, is_below, page_key, too_many_pages


class ListedPages:
    """The queue of a site's pages in the sitemaps' order, and what is known of its whole."""

    def __init__(self, found: SitePages, options: SiteOptions) -> None:
        self.base = found.base
        self.public_base = found.public_base
        self.skipped: Counter[str] = Counter(found.skipped)
        self.errors: list[SourceError] = [each for each in found.errors if each not in found.missing.values()]
        self.locale_folders = tuple(
            folder for name in options.locales if _has_page(folder := f"{found.public_base}{name}/", found.pages)
        )
        # A locale without a folder may be the one that stands at the address itself: its pages will tell.
        self._doubtful = {
            name: error
            for name, error in found.missing.items()
            if f"{found.public_base}{name}/" not in self.locale_folders
        }
        pages = [page for page in found.pages if not options.locales or self._doubtful or self._is_of_locale(page)]
        self.skipped += Counter({OTHER_LOCALE: len(found.pages) - len(pages)})
        if len(pages) > options.max_pages:
            self.errors.append(too_many_pages(found.base, options.max_pages))
        self.queue = deque(pages[: options.max_pages])
        self.total = len(self.queue)
        self.keys = frozenset(page_key(page.public) for page in pages)
        self._there = {page.public for page in found.pages} | {page.public for page in found.disallowed}

    def settle(self, locales_met: Collection[str]) -> None:
        """Takes note of the locales that are neither in a folder of their own nor named by any page."""
        self.errors += (error for name, error in self._doubtful.items() if name not in locales_met)

    def gone(self, known: Iterable[str]) -> list[str]:
        """Those of the public addresses that aren't listed."""
        return [source for source in known if source not in self._there]

    def _is_of_locale(self, page: SitePage) -> bool:
        return any(is_below(page.public, folder) for folder in self.locale_folders)


def _has_page(folder: str, pages: Iterable[SitePage]) -> bool:
    return any(is_below(page.public, folder) for page in pages)
