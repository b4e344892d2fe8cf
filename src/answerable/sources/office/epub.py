"""E-books (EPUB 2 and 3) → Document: the chapters in reading order as Markdown, a part for each section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.datatypes import Document, DocumentType, Part, document_id
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.html.parse import decode_html, parse_page, sound_markup
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.office.epub_package import Book, ContentsEntry, read_book
from answerable.sources.office.zip_package import Package
from answerable.sources.text import stem

_ADVICE = "get the book again, or convert it with Calibre to a new EPUB"
_GAP = "\n\n"
# XML may close an element at once, <a id="x"/>, where HTML would leave it open to the end of the page.
_CLOSED_AT_ONCE = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_PAGE_NUMBERS = "[role=doc-pagebreak], [epub\\:type~=pagebreak]"


@dataclass(frozen=True, slots=True)
class _Chapter:
    """One file of the book: its text, its headings at their places in it, and its entry in the table of contents."""

    text: str
    headings: Sequence[Heading]
    entry: ContentsEntry | None


def read_epub(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """A document from a book. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        book = read_book(package)
        chapters = [chapter for chapter in _chapters(package, book) if chapter.text]
    if not chapters:
        if not book.chapters:
            raise DamagedSource(f"{source} is no sound e-book, it names no chapters: {_ADVICE}")
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, convert it to PDF, recognise the text in that (OCR), "
            "and add the PDF"
        )
    content = _GAP.join(chapter.text for chapter in chapters)
    return Document(
        document_id(source, content),
        content,
        source,
        book.title or stem(source),
        DocumentType.EPUB,
        book.language,
        book.metadata,
        tuple(_parts(content, chapters)),
    )


def _chapters(package: Package, book: Book) -> Iterator[_Chapter]:
    from answerable.sources.html.walk import render

    for name in book.chapters:
        where = f"{package.source}!/{name}"
        markup = decode_html(package.read(name), where)
        page = parse_page(sound_markup(_CLOSED_AT_ONCE.sub(_opened, markup), where))
        page.strip_tags(["script", "style", "template"])
        body = page.body
        if body is None:
            continue
        for number in body.css(_PAGE_NUMBERS):
            number.decompose()
        text, headings = render(body)
        yield _titled(text, headings, book.contents.get(name))


def _opened(match: re.Match[str]) -> str:
    name, attributes = match.groups()
    return match[0] if name.lower() in _VOID else f"<{name}{attributes}></{name}>"


def _titled(text: str, headings: Sequence[Heading], entry: ContentsEntry | None) -> _Chapter:
    """The chapter with its title from the table of contents where it has no heading of its own."""
    if not text or entry is None:
        return _Chapter(text, headings, entry)
    if not headings:
        title = f"{'#' * min(entry.depth, 6)} {entry.title}"
        first, _, rest = text.partition("\n")
        # Many books set their titles as paragraphs.
        text = f"{title}{_GAP}{rest.strip() if _same(first, entry.title) else text}".rstrip()
        return _Chapter(text, [Heading(0, min(entry.depth, 6), entry.title, None)], entry)
    # What stands before the first heading (a number, a motto) belongs to this chapter, not to the one before.
    return _Chapter(text, [replace(headings[0], start=0), *headings[1:]], entry)


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _parts(content: str, chapters: Sequence[_Chapter]) -> Iterator[Part]:
    """The sections of the book. One that stands outermost in its contents is under nothing that came before."""
    start = position = 0
    headings: list[Heading] = []
    for chapter in chapters:
        if chapter.entry and chapter.entry.depth == 1 and position > start:
            yield from section_parts(content, headings, start, position)
            start, headings = position, []
        headings += [replace(each, start=each.start + position) for each in chapter.headings]
        position += len(chapter.text) + len(_GAP)
    yield from section_parts(content, headings, start)
