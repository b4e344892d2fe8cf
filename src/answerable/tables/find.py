"""Find the tables of a document: records, tables drawn with bars, rows of PDFs, chats, calendars, contacts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from answerable.datatypes import Document, DocumentType, Part
from answerable.tables.bars import BarTable, bar_tables, plain_cell
from answerable.tables.chats import chat_table
from answerable.tables.entries import entry_tables
from answerable.tables.front_matter import front_matter
from answerable.tables.grid import Line, customs_of, make_table
from answerable.tables.records import records_table
from answerable.tables.table import Origin, Table
from answerable.tables.values import Customs

# Where a line below the first row of a table was written by its author.
_MARKDOWN = frozenset({DocumentType.MARKDOWN, DocumentType.NOTEBOOK, DocumentType.ORG})
_LONGEST_CAPTION = 100
_LOOKED_BACK = 1_000
_SENTENCE_END = re.compile(r"[.!?…]\s+")
_NO_CAPTION = ("- ", "* ", "---", "```", "+-")


def find_tables(document: Document) -> list[Table]:
    """Return the tables of a document in order, each with at most `grid.MOST_CELLS` cells."""
    match document.type:
        case DocumentType.CHAT:
            table = chat_table(document)
            return [table] if table else []
        case DocumentType.RECORDS:
            table = records_table(document, customs_of(document))
            return [table] if table else []
        case DocumentType.CALENDAR | DocumentType.CONTACTS:
            return list(entry_tables(document))
    bars, rows = list(bar_tables(document.content)), list(_pdf_tables(document))
    found = list(entry_tables(document)) if "BEGIN:V" in document.content else []
    starts_with_rule = document.type is DocumentType.MARKDOWN and document.content.startswith("---")
    if not (bars or rows or starts_with_rule):
        return found
    customs, titles = customs_of(document), _Titles(document)
    if document.type is DocumentType.SPREADSHEET:
        return [table for each in bars if (table := _sheet_table(each, titles, customs, document))]
    # Readers of other formats write the line below the first row of every table.
    is_markdown = document.type in _MARKDOWN
    made = [_front_matter(document, customs)] if starts_with_rule else []
    made += [_bar_table(each, titles, customs, is_markdown) for each in bars]
    made += [make_table(lines, titles.above(lines[0].start), customs) for lines in rows]
    return sorted((table for table in (*found, *made) if table), key=lambda table: table.span)


def _bar_table(found: BarTable, titles: _Titles, customs: Customs, is_markdown: bool) -> Table | None:
    header, *below = found.lines
    title = titles.above(header.start)
    if found.has_rule and not any(header.cells):
        return make_table(below, title, customs, names=header.cells)
    return make_table(found.lines, title, customs, has_header=is_markdown and found.has_rule)


def _sheet_table(found: BarTable, titles: _Titles, customs: Customs, document: Document) -> Table | None:
    """Return a table of a sheet: its reader has found the header, and shows numbers with one decimal mark."""
    customs = replace(customs, decimal=str(document.metadata.get("decimal_mark") or "."))
    header, *below = found.lines
    names = header.cells if found.has_rule else []
    rows = [line for line in below if line.cells != header.cells] if names else found.lines
    return make_table(rows, titles.above(header.start), customs, names=names, is_mark_known=True)


def _front_matter(document: Document, customs: Customs) -> Table | None:
    values, end = front_matter(document.content)
    if not values:
        return None
    end = len(document.content[:end].rstrip())
    line = Line(0, end, list(values.values()))
    return make_table([line], document.title, customs, origin=Origin.FRONT_MATTER, names=list(values))


def _pdf_tables(document: Document) -> Iterator[list[Line]]:
    """Yield runs of rows with the same number of cells, also across pages."""
    run: list[Line] = []
    page: int | None = None
    for part in document.parts:
        if not part.cells:
            if run and document.content[part.start : part.end].strip():
                yield run
                run = []
            continue
        follows = run and len(run[-1].cells) == len(part.cells) and (part.page or 0) - (page or 0) <= 1
        if run and not follows:
            yield run
            run = []
        run.append(_pdf_row(document.content, part))
        page = part.page
    if run:
        yield run


def _pdf_row(content: str, part: Part) -> Line:
    end = part.start + len(content[part.start : part.end].rstrip())
    bounds = [*part.cells, max(end, part.cells[-1])]
    cells = [content[start:stop].strip() for start, stop in pairwise(bounds)]
    return Line(part.start, end, cells)


class _Titles:
    """The titles of a document's tables: the line above, the nearest heading, or the document's title."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._starts = [part.start for part in document.parts]

    def above(self, start: int) -> str:
        """Return the title of the table whose first row begins at `start`."""
        return _caption(self._document.content, start) or self._heading(start) or self._document.title

    def _heading(self, start: int) -> str:
        place = bisect_right(self._starts, start) - 1
        headings: Sequence[str] = self._document.parts[place].headings if place >= 0 else ()
        return headings[-1] if headings else ""


def _caption(content: str, start: int) -> str:
    """Return what the paragraph above a table ends with if that is a colon, or all of it if it is a short line."""
    above = content[max(0, start - _LOOKED_BACK) : content.rfind("\n", 0, start) + 1].rstrip()
    paragraph = above[max(above.rfind("\n\n"), above.rfind("\n#")) + 1 :].strip().split("\n")
    if paragraph[0].startswith("#") and len(paragraph) > 1:
        del paragraph[0]
    text = plain_cell(" ".join(line.strip(" \t>#") for line in paragraph))
    if text.endswith(":"):
        text = _SENTENCE_END.split(text)[-1].rstrip(": ")
    elif len(paragraph) > 1 or text.startswith(_NO_CAPTION) or text[-1:] in ".,;!?…":
        return ""
    return text if "|" not in text and len(text) <= _LONGEST_CAPTION else ""
