"""What a document holds: its summary, outline and tables, and the statistics of a chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from answerable.datatypes import Citation, Document, Part, Span
from answerable.library import Library
from answerable.tables.find import find_tables
from answerable.tables.table import Origin, Table
from answerable.text.chats import ChatStatistics, chat_statistics

MOST_HEADINGS = 1_000
MOST_TABLES = 50
_SHOWN = (Origin.TABLE, Origin.CALENDAR, Origin.CONTACTS)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, or a name in code: its level from 0, the span of its first line, and its page if it has one."""

    title: str
    level: int
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentOverview:
    """A document and what it holds. `statistics` are those of a chat."""

    document: Document
    chunks: int
    extracts: tuple[Citation, ...]
    outline: tuple[Heading, ...]
    tables: tuple[Table, ...]
    statistics: ChatStatistics | None


def document_overview(library: Library, document_id: str) -> DocumentOverview:
    """Look through a document. Raise DocumentNotFound."""
    document = library.document(document_id)
    tables = [table for table in find_tables(document) if table.origin in _SHOWN]
    return DocumentOverview(
        document,
        len(library.chunks(document_id)),
        tuple(library.summary(document_id)),
        tuple(outline(document))[:MOST_HEADINGS],
        tuple(tables[:MOST_TABLES]),
        chat_statistics(document),
    )


def outline(document: Document) -> Iterator[Heading]:
    """Yield the headings of a document, or the names in its code, in order; the document's title isn't one of them."""
    before: tuple[str, ...] = ()
    for part in document.parts:
        path = part.headings or tuple((part.symbol or "").split(".")) * bool(part.symbol)
        if path[:1] == (document.title,):
            path = path[1:]
        for level, title in enumerate(path):
            if path[: level + 1] != before[: level + 1]:
                yield Heading(title, level, *_first_line(document.content, part), part.page)
        before = path or before


def _first_line(content: str, part: Part) -> Span:
    """Return the span of a part's first line with text, without the marks of a heading, which the page doesn't show."""
    text = content[part.start : part.end]
    start = part.start + len(text) - len(text.lstrip(" \t\r\n#"))
    end = content.find("\n", start, part.end)
    return start, part.end if end < 0 else end
