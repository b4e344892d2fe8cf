"""The start address of a site: a folder with all below it, a sitemap, or one page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from answerable.sources.formats import ARCHIVES, SUFFIXES, Format
from answerable.sources.site.pages import is_below
from answerable.sources.web_address import parse_address

_SITEMAP = re.compile(r".*\.xml(\.gz)?", re.IGNORECASE)
# These names mean the folder they are in.
_OF_FOLDERS = re.compile(r"(?:sitemap\.xml|index\.(?:html?|xhtml|php))", re.IGNORECASE)
_PROGRAMS = {".php", ".asp", ".aspx", ".jsp", ".shtml", ".cgi"}
_WEB = {80, 443}
# `node.js` and `1.0` are folders.
_PAGES = _PROGRAMS | {suffix for suffix, form in SUFFIXES.items() if form not in {Format.CODE, *ARCHIVES}}


@dataclass(frozen=True, slots=True)
class SiteStart:
    """An address in plain form, and the folder, sitemap or page that it means."""

    url: str
    base: str
    is_page: bool = False
    is_sitemap: bool = False


def parse_start(address: str) -> SiteStart:
    """Parse a start address. Raise AddressRefused."""
    given = parse_address(address)
    path = given.target.partition("?")[0]
    folder, _, name = path.rpartition("/")
    if _OF_FOLDERS.fullmatch(name):
        return SiteStart(given.url, f"{given.origin}{folder}/", is_sitemap=name.lower() == "sitemap.xml")
    if _SITEMAP.fullmatch(name):
        return SiteStart(given.url, given.url, is_sitemap=True)
    if PurePosixPath(name).suffix.lower() in _PAGES:
        return SiteStart(given.url, given.url, is_page=True)
    return SiteStart(given.url, f"{given.origin}{path}" if path.endswith("/") else f"{given.origin}{path}/")


def is_same_host(one: str, other: str) -> bool:
    """Whether two addresses have the same host, with or without `www.`, by http or https."""
    first, second = parse_address(one), parse_address(other)
    ports = {first.port, second.port}
    return first.host.removeprefix("www.") == second.host.removeprefix("www.") and (len(ports) == 1 or ports == _WEB)


def is_at(url: str, base: str) -> bool:
    """Whether an address is in the folder `base`, with or without `www.`, by http or https."""
    if is_below(url, base):
        return True
    return is_same_host(url, base) and is_below(parse_address(base).origin + parse_address(url).target, base)


def arrived_base(start: SiteStart, final: str) -> str:
    """Return the folder or page to read on a site without sitemap whose start page redirects to `final`."""
    if start.is_page:
        return final
    given, found = parse_address(start.base), parse_start(final)
    moved = parse_address(final).origin + given.target
    return moved if is_below(final, moved) else final.rpartition("/")[0] + "/" if found.is_page else found.base
