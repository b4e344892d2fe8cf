"""An e-book's package file (EPUB 2 and 3): metadata, the chapters in order, and the table of contents.

See w3.org/TR/epub-33. Elements are matched without their namespaces, which are wrong in many books.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import unquote

from answerable.errors import DamagedSource, EncryptedSource
from answerable.sources.office.zip_package import Package

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# Scrambled fonts don't protect any text.
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_CHAPTER_SUFFIXES = (".xhtml", ".html", ".htm", ".xml")
_NO_CHAPTER = frozenset({"cover", "toc"})
_METADATA = frozenset({"title", "language", "creator", "date", "publisher"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_LANGUAGE = re.compile(r"([A-Za-z]{2})(?:[-_].*)?")


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A file's title in the table of contents, and its depth there from 1."""

    title: str
    depth: int


@dataclass(frozen=True, slots=True)
class Book:
    """A book's metadata. `chapters` are names of members in reading order."""

    title: str
    language: str
    metadata: dict[str, str]
    chapters: tuple[str, ...]
    contents: dict[str, ContentsEntry] = field(default_factory=dict)


def read_book(package: Package) -> Book:
    """Read the package file. Raises DamagedSource and EncryptedSource."""
    name = _package_file(package)
    root = package.xml(name)
    manifest = _Manifest(package, name, root)
    chapters = tuple(manifest.chapters())
    _refuse_encrypted(package, chapters)
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for metadata in islice(named(root, "metadata"), 1):
        for element in metadata.iter():
            if local(element) in _METADATA:
                texts[local(element)].append(words(element))
    first = {key: next(filter(None, values), "") for key, values in texts.items()}
    language = _LANGUAGE.fullmatch(first.get("language", ""))
    found = {
        "author": ", ".join(dict.fromkeys(filter(None, texts["creator"]))),
        "date": next((match[0] for text in texts["date"] if (match := _DATE.match(text))), ""),
        "publisher": first.get("publisher", ""),
    }
    return Book(
        title=first.get("title", ""),
        language=language[1].lower() if language else "",
        metadata={key: text for key, text in found.items() if text},
        chapters=chapters,
        contents=manifest.contents(),
    )


def resolve(package: Package, base: str, reference: str) -> str:
    """Return the member that a reference in the member `base` points to, "" for a web address.

    Raises DamagedSource if it points outside the book.
    """
    path = unquote(reference.split("#", 1)[0].split("?", 1)[0])
    if not path or _SCHEME.match(path):
        return ""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(base), path))
    if found.startswith(("/", "../")) or found == ".." or "\\" in found or "\0" in found:
        raise DamagedSource(
            f"{package.source} is refused, its reference {reference[:80]!r} points outside the book: {package.advice}"
        )
    return found


def local(element: Any) -> str:
    """Return an element's name without its namespace, "" for comments."""
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def named(root: Any, name: str) -> Iterator[Any]:
    """Return the elements of that name under an element, in order."""
    return (element for element in root.iter() if local(element) == name)


def words(element: Any) -> str:
    """Return the words of an element on one line."""
    return " ".join("".join(element.itertext(with_tail=False)).split())


def _package_file(package: Package) -> str:
    if _CONTAINER in package:
        for root_file in named(package.xml(_CONTAINER), "rootfile"):
            path = resolve(package, "", root_file.get("full-path", ""))
            if path:
                return path
    found = next((name for name in package.names if name.lower().endswith(".opf")), None)
    if found is None:
        raise DamagedSource(f"{package.source} is not an e-book, it has no package file: {package.advice}")
    return found


def _refuse_encrypted(package: Package, chapters: tuple[str, ...]) -> None:
    if _ENCRYPTION not in package:
        return
    for data in named(package.xml(_ENCRYPTION), "EncryptedData"):
        method = next((each.get("Algorithm", "") for each in named(data, "EncryptionMethod")), "")
        paths = {unquote(each.get("URI", "")).lstrip("/") for each in named(data, "CipherReference")}
        if not method.startswith(_FONT_SCRAMBLING) and not paths.isdisjoint(chapters):
            raise EncryptedSource(
                f"{package.source} is protected against copying (DRM): get an edition without it, "
                "from the publisher or a library"
            )


class _Manifest:
    """The files of a book by id, their order, and its tables of contents."""

    def __init__(self, package: Package, name: str, root: Any) -> None:
        self._package = package
        self._name = name
        self._root = root
        self._items = {item.get("id", ""): item for item in named(root, "item")}

    def chapters(self) -> Iterator[str]:
        """Yield the members with text, in order, each once, without cover and tables of contents."""
        skipped = {"", *self._navs()}
        skipped |= {self._path(each) for each in named(self._root, "reference") if each.get("type") in _NO_CHAPTER}
        items = (self._items.get(reference.get("idref", "")) for reference in named(self._root, "itemref"))
        paths = dict.fromkeys(self._path(item) for item in items if item is not None and _is_chapter(item))
        yield from (path for path in paths if path not in skipped)

    def contents(self) -> dict[str, ContentsEntry]:
        """Map each member to its first entry in the table of contents: EPUB 3's, or else EPUB 2's."""
        found: dict[str, ContentsEntry] = {}
        for path in self._navs():
            self._collect(self._entries_of_nav(path), path, found)
        older = (item for item in self._items.values() if item.get("media-type") == "application/x-dtbncx+xml")
        for path in dict.fromkeys(map(self._path, older)):
            if not found:
                self._collect(self._entries_of_ncx(path), path, found)
        return found

    def _navs(self) -> dict[str, None]:
        """Return the tables of contents of EPUB 3, each once: hostile books list one file many times."""
        items = (item for item in self._items.values() if "nav" in item.get("properties", "").split())
        return dict.fromkeys(map(self._path, items))

    def _path(self, item: Any) -> str:
        return resolve(self._package, self._name, item.get("href", ""))

    def _collect(self, entries: Iterator[tuple[str, str, int]], base: str, found: dict[str, ContentsEntry]) -> None:
        for title, reference, depth in entries:
            path = resolve(self._package, base, reference)
            if title and path:
                found.setdefault(path, ContentsEntry(title, depth))

    def _entries_of_nav(self, name: str) -> Iterator[tuple[str, str, int]]:
        if name not in self._package:
            return
        navs = list(named(self._package.xml(name), "nav"))
        for nav in navs:
            kinds = {value for key, value in nav.attrib.items() if key.rsplit("}", 1)[-1] in ("type", "role")}
            if len(navs) == 1 or kinds & {"toc", "doc-toc"}:
                depths: dict[Any, int] = {}
                for element in nav.iter():
                    # Parents come before their children.
                    depth = depths.get(element.getparent(), 0) + (local(element) in ("ol", "ul"))
                    depths[element] = depth
                    if local(element) == "a":
                        yield words(element), element.get("href", ""), max(depth, 1)

    def _entries_of_ncx(self, name: str) -> Iterator[tuple[str, str, int]]:
        if name not in self._package:
            return
        for point in named(self._package.xml(name), "navPoint"):
            depth = 1 + sum(local(each) == "navPoint" for each in point.iterancestors())
            label = next((each for each in point if local(each) == "navLabel"), None)
            content = next((each for each in point if local(each) == "content"), None)
            if label is not None and content is not None:
                yield words(label), content.get("src", ""), depth


def _is_chapter(item: Any) -> bool:
    kind, path = item.get("media-type", ""), item.get("href", "").split("#", 1)[0].lower()
    return kind in _CHAPTER_TYPES or (not kind and path.endswith(_CHAPTER_SUFFIXES))
