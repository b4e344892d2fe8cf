"""Read e-books (EPUB 2 and 3): the chapters in reading order as Markdown, a part for each section."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.datatypes import Document, DocumentType, Part, document_id
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.html.parse import decode_html, parse_page, valid_markup
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.office.epub_package import Book, ContentsEntry, read_book
from answerable.sources.office.zip_package import Package
from answerable.sources.text import stem

_ADVICE = "get the book again, or convert it with Calibre to a new EPUB"
_GAP = "\n\n"
# XML closes an element with <a id="x"/>; HTML would leave it open until the end of the page.
_VOID = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_SELF_CLOSED = re.compile(rf"<(?!(?i:{_VOID})(?:\s|/>))([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_PAGE_NUMBERS = "[role=doc-pagebreak], [epub\\:type~=pagebreak]"


@dataclass(frozen=True, slots=True)
class _Chapter:
    """One file of the book: its text, headings, and entry in the table of contents."""

    text: str
    headings: Sequence[Heading]
    entry: ContentsEntry | None


def read_epub(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a book. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        book = read_book(package)
        chapters = list(_chapters(package, book))
    if not chapters:
        if not book.chapters:
            raise DamagedSource(f"{source} is not a valid e-book, it names no chapters: {_ADVICE}")
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, convert it to PDF, run OCR on that, and add the PDF"
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
        page = parse_page(valid_markup(_SELF_CLOSED.sub(r"<\1\2></\1>", markup), where))
        page.strip_tags(["script", "style", "template"])
        if page.body is None:
            continue
        for number in page.body.css(_PAGE_NUMBERS):
            number.decompose()
        text, headings = render(page.body)
        if text:
            yield _titled(text, headings, book.contents.get(name))


def _titled(text: str, headings: Sequence[Heading], entry: ContentsEntry | None) -> _Chapter:
    """Return the chapter, titled by the table of contents if it has no heading of its own."""
    if entry is None:
        return _Chapter(text, headings, entry)
    if not headings:
        title = f"{'#' * min(entry.depth, 6)} {entry.title}"
        first, _, rest = text.partition("\n")
        # Many books set their titles as paragraphs.
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
