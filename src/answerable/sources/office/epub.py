"""E-books (EPUB 2 and 3) → Document: the chapters in reading order as Markdown, with a part for each section.

See w3.org/TR/epub-33. Elements are matched without their namespaces, which are wrong in many books.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any
from urllib.parse import unquote

from answerable.datatypes import Document, DocumentType, Part
from answerable.errors import DamagedSource, EmptySource, EncryptedSource
from answerable.sources.context import ReadContext
from answerable.sources.html.parse import decode_html, parse_page, valid_markup
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.office.packages import Package
from answerable.sources.text import make_document
from answerable.sources.xml import local_name

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# Scrambled fonts don't protect any text, so the book can be read.
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_NO_CHAPTER = frozenset({"cover", "toc"})
_METADATA = frozenset({"title", "language", "creator", "date", "publisher"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_LANGUAGE = re.compile(r"([A-Za-z]{2})(?:[-_].*)?")
_ADVICE = "get the book again, or convert it with Calibre to a new EPUB"
_GAP = "\n\n"
# An empty element such as <a id="x"/> is closed in XML; an HTML parser would leave it open until the end of the page.
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_SELF_CLOSED = re.compile(rf"<(?!(?i:{_VOID})(?:\s|/>))([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")


def read_epub(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a book. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ADVICE, "e-book") as package:
        book = read_book(package)
        chapters = list(_chapters(package, book))
    if not chapters:
        if not book.chapters:
            raise DamagedSource(f"{source} is not a valid e-book, it names no chapters: {_ADVICE}")
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, convert it to PDF, run OCR on that, and add the PDF"
        )
    content = _GAP.join(chapter.text for chapter in chapters)
    parts = _parts(content, chapters)
    return make_document(source, content, DocumentType.EPUB, parts, book.title, book.metadata, book.language)


def _chapters(package: Package, book: Book) -> Iterator[_Chapter]:
    from answerable.sources.html.parse import render
    from answerable.sources.html.shown import write_forms

    notes: dict[str, str] = {}
    for name in book.chapters:
        where = f"{package.source}!/{name}"
        markup = decode_html(package.read(name), where)
        page = parse_page(valid_markup(_SELF_CLOSED.sub(r"<\1\2></\1>", markup), where))
        write_forms(page, notes, posixpath.basename(name))
        if page.body is None:
            continue
        for number in page.body.css("[role=doc-pagebreak], [epub\\:type~=pagebreak]"):
            number.decompose()
        text, headings = render(page.body)
        if text:
            yield _titled(text, headings, book.contents.get(name))


def _titled(text: str, headings: Sequence[Heading], entry: ContentsEntry | None) -> _Chapter:
    """Return the chapter; if it has no heading of its own, titled by the table of contents."""
    if entry is None:
        return _Chapter(text, headings, entry)
    if not headings:
        title = f"{'#' * min(entry.depth, 6)} {entry.title}"
        first, _, rest = text.partition("\n")
        # Many books write their titles as ordinary paragraphs.
        text = f"{title}{_GAP}{rest.strip() if _same(first, entry.title) else text}".rstrip()
        return _Chapter(text, [Heading(0, min(entry.depth, 6), entry.title, None)], entry)
    # Text before the first heading (a number, a motto) belongs to this chapter, not to the previous one.
    return _Chapter(text, [replace(headings[0], start=0), *headings[1:]], entry)


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _parts(content: str, chapters: Sequence[_Chapter]) -> Iterator[Part]:
    """Yield the sections of the book. A chapter at the top level of the contents starts a new path of headings."""
    start = position = 0
    headings: list[Heading] = []
    for chapter in chapters:
        if chapter.entry and chapter.entry.depth == 1 and position > start:
            yield from section_parts(content, headings, start, position)
            start, headings = position, []
        headings += [replace(each, start=each.start + position) for each in chapter.headings]
        position += len(chapter.text) + len(_GAP)
    yield from section_parts(content, headings, start)


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A file's title in the table of contents, and its level in the table, from 1."""

    title: str
    depth: int


@dataclass(frozen=True, slots=True)
class Book:
    """A book's metadata. `chapters` are the names of the archive members with the chapters, in reading order."""

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
    for metadata in islice(root.iter("{*}metadata"), 1):
        for element in metadata.iter():
            if local_name(element) in _METADATA:
                texts[local_name(element)].append(_words(element))
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
    """Return the archive member that a reference within the member `base` points to, "" for a web address.

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


def _words(element: Any) -> str:
    """Return the text of an element on one line."""
    return " ".join("".join(element.itertext()).split())


def _package_file(package: Package) -> str:
    if _CONTAINER in package:
        for root_file in package.xml(_CONTAINER).iter("{*}rootfile"):
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
    for data in package.xml(_ENCRYPTION).iter("{*}EncryptedData"):
        method = next((each.get("Algorithm", "") for each in data.iter("{*}EncryptionMethod")), "")
        paths = {unquote(each.get("URI", "")).lstrip("/") for each in data.iter("{*}CipherReference")}
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
        self._items = {item.get("id", ""): item for item in root.iter("{*}item")}

    def chapters(self) -> Iterator[str]:
        """Yield the archive members with chapters, in order, each once; not the cover and the tables of contents."""
        skipped = {"", *self._navs()}
        skipped |= {self._path(each) for each in self._root.iter("{*}reference") if each.get("type") in _NO_CHAPTER}
        items = (self._items.get(reference.get("idref", "")) for reference in self._root.iter("{*}itemref"))
        paths = dict.fromkeys(self._path(item) for item in items if item is not None and _is_chapter(item))
        yield from (path for path in paths if path not in skipped)

    def contents(self) -> dict[str, ContentsEntry]:
        """Map each archive member to its first entry in the table of contents of EPUB 3, or else in that of EPUB 2."""
        found: dict[str, ContentsEntry] = {}
        for path in self._navs():
            self._collect(self._entries_of_nav(path), path, found)
        older = (item for item in self._items.values() if item.get("media-type") == "application/x-dtbncx+xml")
        for path in dict.fromkeys(map(self._path, older)):
            if not found:
                self._collect(self._entries_of_ncx(path), path, found)
        return found

    def _navs(self) -> dict[str, None]:
        """Return the files with tables of contents of EPUB 3, each once: hostile books list one file many times."""
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
        navs = list(self._package.xml(name).iter("{*}nav"))
        for nav in navs:
            kinds = {value for key, value in nav.attrib.items() if key.rsplit("}", 1)[-1] in ("type", "role")}
            if len(navs) == 1 or kinds & {"toc", "doc-toc"}:
                depths: dict[Any, int] = {}
                for element in nav.iter():
                    # `iter` yields parents before their children.
                    depth = depths.get(element.getparent(), 0) + (local_name(element) in ("ol", "ul"))
                    depths[element] = depth
                    if local_name(element) == "a":
                        yield _words(element), element.get("href", ""), max(depth, 1)

    def _entries_of_ncx(self, name: str) -> Iterator[tuple[str, str, int]]:
        if name not in self._package:
            return
        for point in self._package.xml(name).iter("{*}navPoint"):
            depth = 1 + sum(local_name(each) == "navPoint" for each in point.iterancestors())
            label = next((each for each in point if local_name(each) == "navLabel"), None)
            content = next((each for each in point if local_name(each) == "content"), None)
            if label is not None and content is not None:
                yield _words(label), content.get("src", ""), depth


def _is_chapter(item: Any) -> bool:
    kind, path = item.get("media-type", ""), item.get("href", "").split("#", 1)[0].lower()
    return kind in _CHAPTER_TYPES or (not kind and path.endswith((".xhtml", ".html", ".htm", ".xml")))


@dataclass(frozen=True, slots=True)
class _Chapter:
    """One file of the book: its text, headings, and entry in the table of contents."""

    text: str
    headings: Sequence[Heading]
    entry: ContentsEntry | None
