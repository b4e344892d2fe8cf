"""Sitemaps and sitemap indexes (sitemaps.org) → the addresses in them.

The XML is parsed as a stream, so that memory holds only the addresses. A document type, which could declare entities,
is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timezone

from answerable.errors import DamagedSource, SourceTooLarge, UnsupportedSource
from answerable.sources.site.connection import gunzip

# The protocol allows 50,000 addresses and 50 MB; some generators exceed the former.
MAX_ENTRIES = 200_000
MAX_BYTES = 50_000_000
_LONGEST_ADDRESS = 4096
_GZIP = b"\x1f\x8b"
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An address as written in a sitemap, and when it last changed, if stated."""

    url: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The pages in a sitemap, or the sitemaps in an index."""

    pages: tuple[SitemapEntry, ...] = ()
    sitemaps: tuple[SitemapEntry, ...] = ()


def parse_sitemap(data: bytes, source: str) -> Sitemap:
    """Parse a sitemap, compressed by gzip or not.

    Raise UnsupportedSource for anything else, DamagedSource if it is broken, cut or declares a document type, and
    SourceTooLarge over MAX_ENTRIES or MAX_BYTES.
    """
    from lxml.etree import XMLParser, XMLSyntaxError  # type: ignore[import-untyped]

    if data.startswith(_GZIP):
        data = gunzip(data, MAX_BYTES, source)
    # Without recovery: half a sitemap would make the other half's pages look deleted.
    reading = _Reading(source)
    parser = XMLParser(target=reading, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        parser.feed(data.lstrip(b" \t\r\n"))
        parser.close()
    except XMLSyntaxError as error:
        if reading.root in ("urlset", "sitemapindex"):
            raise DamagedSource(f"{source} is a broken sitemap ({error}): tell the site's owner") from error
        raise _no_sitemap(source) from error
    entries = tuple(reading.entries)
    return Sitemap(sitemaps=entries) if reading.root == "sitemapindex" else Sitemap(pages=entries)


def parse_date(text: str) -> datetime | None:
    """Parse a date in the W3C's profile of ISO 8601, in UTC unless it has a zone; None if invalid."""
    text = text.strip()
    try:
        if (match := _DATE.fullmatch(text)) is not None:
            return datetime(int(match[1]), int(match[2]), int(match[3] or 1), tzinfo=timezone.utc)
        # Python 3.10 supports neither Z nor fractions of other than 3 or 6 digits.
        plain = re.sub(r"\.\d+", "", re.sub(r"[Zz]$", "+00:00", text))
        date = datetime.fromisoformat(plain)
    except ValueError:
        return None
    return date.replace(tzinfo=date.tzinfo or timezone.utc)


def _no_sitemap(source: str) -> UnsupportedSource:
    return UnsupportedSource(f"{source} is not a sitemap: give the address of one, which usually ends in .xml")


@dataclass(slots=True)
class _Reading:
    """Parser target that keeps `loc` and `lastmod` of each entry, in any namespace."""

    source: str
    entries: list[SitemapEntry] = field(default_factory=list)
    root: str = ""
    _path: list[str] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _loc: str = ""
    _lastmod: str = ""

    def start(self, tag: str, _attributes: object) -> None:
        name = tag.rpartition("}")[2]
        if not self._path:
            self.root = name
            if name not in ("urlset", "sitemapindex"):
                raise _no_sitemap(self.source)
        self._path.append(name)
        self._texts.clear()

    def data(self, text: str) -> None:
        if len(self._path) == 3:
            self._texts.append(text)

    def end(self, _tag: str) -> None:
        match self._path:
            case [_, "url" | "sitemap", "loc"]:
                self._loc = "".join(self._texts).strip()
            case [_, "url" | "sitemap", "lastmod"]:
                self._lastmod = "".join(self._texts)
            case [_, "url" | "sitemap"]:
                self._keep()
        self._path.pop()

    def doctype(self, *_: object) -> None:
        raise DamagedSource(f"{self.source} declares a document type, which no sitemap needs: tell the site's owner")

    def close(self) -> None:
        """Do nothing; the parser requires it."""

    def _keep(self) -> None:
        if 0 < len(self._loc) <= _LONGEST_ADDRESS:
            self.entries.append(SitemapEntry(self._loc, parse_date(self._lastmod)))
        if len(self.entries) > MAX_ENTRIES:
            raise SourceTooLarge(f"{self.source} lists over {MAX_ENTRIES:,} addresses: give one of its parts instead")
        self._loc = self._lastmod = ""
