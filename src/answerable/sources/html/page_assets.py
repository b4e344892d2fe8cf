"""Scripts, styles and drawings that the pages of a folder or archive refer to: parts of these pages, no documents."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import chain, islice
from urllib.parse import unquote

# Also `site.css?v=2` and `app.js.download`, as some programs name what they save.
_ASSET = re.compile(r"\.(?:m?js|css|svg|json|webmanifest)(?:[?@].*|\.download)?\Z", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(r"\.x?html?(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(
    rb"<(?:script|link|img|source|embed|object|use|image)\b[^<>]{0,2000}?\s(?:src|href|data)\s{0,9}=\s{0,9}"
    rb"(?:\"([^\"<>]{1,2000})\"|'([^'<>]{1,2000})'|([^\s\"'<>]{1,2000}))",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
# What lies beside this file is a program's source, also if a page of it loads the scripts.
_PROJECT = "package.json"
LONGEST_PAGE = 1_000_000
MOST_PAGES = 200


def is_page(name: str) -> bool:
    """Whether a file is a page, by its name."""
    return _PAGE.search(name) is not None


def may_be_asset(name: str) -> bool:
    """Whether a file is one that pages load, by its name."""
    return _ASSET.search(name) is not None


class PageAssets:
    """Tells which files belong to pages. `paths` are relative to the tree's root, `read` returns a page's bytes.

    A page is read when a file is asked for that it may refer to. At most 200 pages are asked about a file: first those
    in its folder and the folders around it.
    """

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes]) -> None:
        self._read = read
        self._pages: defaultdict[str, list[str]] = defaultdict(list)
        self._projects: set[str] = set()
        self._references: dict[str, frozenset[str]] = {}
        for path in paths:
            folder, name = posixpath.split(path)
            if is_page(name):
                self._pages[folder].append(path)
            elif name == _PROJECT:
                self._projects.add(folder)

    def __contains__(self, path: str) -> bool:
        if not self._pages or not may_be_asset(path):
            return False
        around = tuple(_folders(path))
        if not self._projects.isdisjoint(around):
            return False
        near = chain.from_iterable(self._pages.get(folder, ()) for folder in around)
        far = chain.from_iterable(pages for folder, pages in self._pages.items() if folder not in around)
        return any(path in self._of(page) for page in islice(chain(near, far), MOST_PAGES))

    def _of(self, page: str) -> frozenset[str]:
        if page not in self._references:
            folder = posixpath.dirname(page)
            found = _references(self._read(page)[:LONGEST_PAGE])
            self._references[page] = frozenset(
                posixpath.normpath(posixpath.join(folder, each) if not each.startswith("/") else each.lstrip("/"))
                for each in found
            )
        return self._references[page]


def _folders(path: str) -> Iterator[str]:
    """Yield the folder of a file and those around it, up to the root."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _references(page: bytes) -> Iterator[str]:
    """Yield the paths that a page's elements load, with and without what follows a question mark."""
    for match in _REFERENCE.finditer(page):
        value = unescape(next(filter(None, match.groups())).decode("utf-8", "replace")).strip()
        if value and not _ELSEWHERE.match(value):
            plain = value.partition("#")[0]
            yield unquote(plain)
            yield unquote(plain.partition("?")[0])
