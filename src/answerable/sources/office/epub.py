"""E-books (EPUB 2 and 3) → Document: the chapters in reading order as Markdown, with a part for each section.

See w3.org/TR/epub-33. Elements are matched without their namespaces, which are wrong in many books.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import unquote

from answerable.datatypes import Document, DocumentType, Part
from answerable.errors import DamagedSource, EmptySource, EncryptedSource
from answerable.sources.context import ReadContext
from answerable.sources.html.parse import decode_html, parse_page, render, valid_markup
from answerable.sources.html.shown import write_forms
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
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_LANGUAGE = re.compile(r"([A-Za-z]{2})(?:[-_].*)?")
_ADVICE = "get the book again, or convert it with Calibre to a new EPUB"
_GAP = "\n\n"
# An empty element such as <a id="x"/> is closed in XML; an HTML parser would leave it open until the end of the page.
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_SELF_CLOSED = re.compile(rf"<(?!(?i:{_VOID})(?:\s|/>))([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")


# The title of a file in the table of contents, and its level there, from 1.
_Entry = tuple[str, int]
# A file's text and headings, and whether it begins a new path of headings.
_Chapter = tuple[str, Sequence[Heading], bool]


def read_epub(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a book. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ADVICE, "e-book") as package:
        files = _Files(package)
        names = list(files.chapters())
        _refuse_encrypted(package, names)
        chapters = list(_chapters(package, names, files.contents()))
        title, language, metadata = files.facts()
    if not names:
        raise DamagedSource(f"{source} is not a valid e-book, it names no chapters: {_ADVICE}")
    if not chapters:
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, convert it to PDF, run OCR on that, and add the PDF"
        )
    content = _GAP.join(text for text, _, _ in chapters)
    return make_document(source, content, DocumentType.EPUB, _parts(content, chapters), title, metadata, language)


def _chapters(package: Package, names: Sequence[str], contents: Mapping[str, _Entry]) -> Iterator[_Chapter]:
    notes: dict[str, str] = {}
    for name in names:
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
            yield _titled(text, headings, *contents.get(name, ("", 0)))


def _titled(text: str, headings: Sequence[Heading], title: str, depth: int) -> _Chapter:
    """Return the chapter; if it has no heading of its own, titled by the table of contents."""
    if not title:
        return text, headings, False
    if headings:
        # Text before the first heading (a number, a motto) belongs to this chapter, not to the previous one.
        return text, [replace(headings[0], start=0), *headings[1:]], depth == 1
    first, _, rest = text.partition("\n")
    # Many books write their titles as ordinary paragraphs.
    text = rest.strip() if " ".join(first.split()).casefold() == title.casefold() else text
    text = f"{'#' * min(depth, 6)} {title}{_GAP}{text}".rstrip()
    return text, [Heading(0, min(depth, 6), title, None)], depth == 1


def _parts(content: str, chapters: Sequence[_Chapter]) -> Iterator[Part]:
    """Yield the sections of the book. A chapter at the top level of the contents starts a new path of headings."""
    start = position = 0
    headings: list[Heading] = []
    for text, own, begins_path in chapters:
        if begins_path and position > start:
            yield from section_parts(content, headings, start, position)
            start, headings = position, []
        headings += [replace(each, start=each.start + position) for each in own]
        position += len(text) + len(_GAP)
    yield from section_parts(content, headings, start)


class _Files:
    """The files of a book by id, their order, its tables of contents, and what it says of itself."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._name = _package_file(package)
        self._root = package.xml(self._name)
        self._items = {item.get("id", ""): item for item in self._root.iter("{*}item")}

    def chapters(self) -> Iterator[str]:
        """Yield the archive members with chapters, in order, each once; not the cover and the tables of contents."""
        skipped = {"", *self._navs()}
        skipped |= {self._path(each) for each in self._root.iter("{*}reference") if each.get("type") in _NO_CHAPTER}
        items = (self._items.get(reference.get("idref", "")) for reference in self._root.iter("{*}itemref"))
        paths = dict.fromkeys(self._path(item) for item in items if item is not None and _is_chapter(item))
        yield from (path for path in paths if path not in skipped)

    def contents(self) -> dict[str, _Entry]:
        """Map each archive member to its first entry in the tables of contents, of EPUB 3 before that of EPUB 2."""
        older = (item for item in self._items.values() if item.get("media-type") == "application/x-dtbncx+xml")
        found: dict[str, _Entry] = {}
        # Each once: hostile books list one file many times.
        for name in dict.fromkeys((*self._navs(), *map(self._path, older))):
            for title, reference, depth in _entries(self._package.xml(name)) if name in self._package else ():
                path = _resolved(self._package, name, reference)
                if title and path:
                    found.setdefault(path, (title, depth))
        return found

    def facts(self) -> tuple[str, str, dict[str, str]]:
        """Return the book's title, language and metadata."""
        texts: dict[str, list[str]] = {}
        for element in (
            each for metadata in islice(self._root.iter("{*}metadata"), 1) for each in metadata.iter("{*}*")
        ):
            if text := _words(element):
                texts.setdefault(local_name(element), []).append(text)
        title, language, publisher = (texts.get(name, [""])[0] for name in ("title", "language", "publisher"))
        found = {
            "author": ", ".join(dict.fromkeys(texts.get("creator", ()))),
            "date": next((match[0] for text in texts.get("date", ()) if (match := _DATE.match(text))), ""),
            "publisher": publisher,
        }
        code = _LANGUAGE.fullmatch(language)
        return title, code[1].lower() if code else "", found

    def _navs(self) -> list[str]:
        items = (item for item in self._items.values() if "nav" in item.get("properties", "").split())
        return list(map(self._path, items))

    def _path(self, item: Any) -> str:
        return _resolved(self._package, self._name, item.get("href", ""))


def _entries(root: Any) -> Iterator[tuple[str, str, int]]:
    """Yield the title, address and level of each entry in a table of contents of EPUB 3 or 2."""
    navs = list(root.iter("{*}nav"))
    for nav in navs:
        kinds = {value for key, value in nav.attrib.items() if key.rsplit("}", 1)[-1] in ("type", "role")}
        for link in nav.iter("{*}a") if len(navs) == 1 or kinds & {"toc", "doc-toc"} else ():
            yield _words(link), link.get("href", ""), max(sum(True for _ in link.iterancestors("{*}ol", "{*}ul")), 1)
    for point in root.iter("{*}navPoint"):
        label, target = point.find("{*}navLabel"), point.find("{*}content")
        if label is not None and target is not None:
            yield _words(label), target.get("src", ""), 1 + sum(True for _ in point.iterancestors("{*}navPoint"))


def _resolved(package: Package, base: str, reference: str) -> str:
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
            path = _resolved(package, "", root_file.get("full-path", ""))
            if path:
                return path
    found = next((name for name in package.names if name.lower().endswith(".opf")), None)
    if found is None:
        raise DamagedSource(f"{package.source} is not an e-book, it has no package file: {package.advice}")
    return found


def _refuse_encrypted(package: Package, chapters: Collection[str]) -> None:
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


def _is_chapter(item: Any) -> bool:
    kind, path = item.get("media-type", ""), item.get("href", "").split("#", 1)[0].lower()
    return kind in _CHAPTER_TYPES or (not kind and path.endswith((".xhtml", ".html", ".htm", ".xml")))
