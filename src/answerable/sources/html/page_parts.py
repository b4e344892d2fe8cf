"""Files that are parts of a web page and aren't read as documents; and facts that decide if a site's page is read."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from html import unescape
from itertools import chain, islice
from pathlib import PurePath
from urllib.parse import unquote

from answerable.formats.marks import PAGES
from answerable.formats.registry import suffixes

# Also matches `site.css?v=2` and `app.js.download`, the names that some programs give to saved files.
_ASSET = re.compile(r"\.(?:m?js|css|svg|json|webmanifest)(?:[?@].*|\.download)?\Z", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(r"\.x?html?(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)
_REFERENCE = re.compile(
    rb"<(?:script|link|img|source|embed|object|use|image)\b[^<>]{0,2000}?\s(?:src|href|data)\s{0,9}=\s{0,9}"
    rb"(?:\"([^\"<>]{1,2000})\"|'([^'<>]{1,2000})'|([^\s\"'<>]{1,2000}))",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
# Files next to this file are the source of a program, even if a page of the program loads them.
_PROJECT = "package.json"
LONGEST_PAGE = 1_000_000  # bytes of a page to search; the files that a page loads are named at its beginning
MOST_PAGES = 200  # pages to search for references to a file; each is searched whole


def is_page(name: str) -> bool:
    """Whether a file is a page, by its name."""
    return _PAGE.search(name) is not None


def may_be_asset(name: str) -> bool:
    """Whether a file may be a script, a style sheet or data that a page loads, by its name."""
    return _ASSET.search(name) is not None


class PageAssets:
    """The files that pages load. `paths` are relative to the tree's root, `read` returns a page's bytes.

    `path in assets` reads the pages that may refer to this file, at most 200: first the pages in its folder and in the
    folders around it.
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
    """Yield the folder of a file and the folders around it, up to the root."""
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


class PageKind(str, Enum):
    """Kinds of pages of a Docusaurus site."""

    DOCUMENT = "document"
    CATEGORY = "category"
    TAGS = "tags"
    BLOG_POST = "blog post"
    BLOG_LIST = "blog list"
    STANDALONE = "standalone"
    SEARCH = "search"
    OTHER = "other"

    def __str__(self) -> str:
        return self.value


def header_directives(*texts: str) -> frozenset[str]:
    """Return the robots directives in X-Robots-Tag headers or meta elements."""
    words = {word.strip().lower() for text in texts for word in text.split(",")}
    return frozenset(words | ({"noindex", "nofollow"} if "none" in words else set()))


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page. Addresses are in plain form, "" if missing.

    `directives` are the robots directives of its meta elements, `refresh` the target of an immediate redirect there,
    `links` the pages it links to (none with nofollow). For a Docusaurus site: the `kind` of page, whether it lists
    tags, its locale, version and ids, and `latest`, the banner's link to the latest version.
    """

    directives: Sequence[str] = ()
    refresh: str = ""
    links: Sequence[str] = ()
    canonical: str = ""
    kind: str = ""
    lists_tags: bool = False
    locale: str = ""
    version: str = ""
    ids: Sequence[str] = ()
    latest: str = ""


PAGE_PART = "part of a web page"

# Browsers save the parts of a page in a folder with the page's name and an ending in the browser's language.
_ENDING = r"(?:_files|_archivos|_arquivos|_ficheiros|_fichiers|_file|_bestanden|_elemei|-Dateien|-filer|\.files)"
_FOLDER = re.compile(f"(.+){_ENDING}", re.IGNORECASE)
_FOLDER_AROUND = re.compile(rf"(?<=[^/]){_ENDING}(?=/)", re.IGNORECASE)
# Suffixes of files that are read even in such a folder: no page needs them to be displayed.
_DOCUMENTS = frozenset(
    suffix for suffix, form in suffixes().items() if form.name not in ("html", "code", "records", "picture")
) | {".csv", ".tsv", ".tab"}
# Also matches names with a question mark, which some programs keep: `site.css?v=2`.
_STYLES = re.compile(r".\.(?:css|map|min\.m?js)(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)


def is_page_folder(name: str, beside: Collection[str]) -> bool:
    """Whether a folder contains the parts of a saved page, by the names of the folder and of the files next to it."""
    match = _FOLDER.fullmatch(name)
    return match is not None and _has_page(match[1], beside)


def is_in_page_folder(path: str, paths: Collection[str]) -> bool:
    """Whether a file in an archive is in a folder with the parts of a page that is in the archive too."""
    return any(_has_page(path[: match.start()], paths) for match in _FOLDER_AROUND.finditer(path))


def is_page_part(name: str, in_page_folder: bool) -> bool:
    """Whether a file is part of a page: a stylesheet anywhere, or anything but a document in a page's folder."""
    is_style = _STYLES.search(name) is not None
    return is_style or (in_page_folder and PurePath(name).suffix.lower() not in _DOCUMENTS)


def _has_page(name: str, beside: Collection[str]) -> bool:
    return any(f"{name}{suffix}" in beside for suffix in PAGES)
