"""Tables in the text of documents: lines with bars, as readers write those of web pages and Word, and rows of PDFs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from answerable.datatypes import Document, Part
from answerable.tables.raw import RawTable

LONGEST_TITLE = 120
_ROW = re.compile(r"(?m)^[ \t>]*(\|[^\n]*\|)[ \t]*$")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]+")
_MARKUP = re.compile(r"\*\*|__|`|^[*_]|[*_]$|!?\[([^\]\n]{0,300})\]\([^()\s]{0,500}\)")
_EDGES = re.compile(r"^[#>*_\s-]+|[*_\s]+$")


def bar_tables(document: Document) -> Iterator[RawTable]:
    """Yield the tables whose rows are lines between bars."""
    content, table, reached = document.content, None, -1
    for line in _ROW.finditer(content):
        start, end = line.span(1)
        cells = [_plain(cell) for cell in _BAR.split(line[1])[1:-1]]
        if table is None or content[reached : line.start()].strip(" \t>\n") or content.count("\n", reached, start) > 1:
            if table is not None and table.rows:
                yield table
            table = RawTable(cells, title=_title(document, start))
        elif not _RULE.fullmatch(line[1]) or "-" not in line[1]:
            table.rows.append((start, end, cells))
        reached = end
    if table is not None and table.rows:
        yield table


def pdf_tables(document: Document) -> Iterator[RawTable]:
    """Yield the tables of a PDF: runs of rows with as many cells each."""
    run: list[Part] = []
    for part in [*document.parts, None]:
        if run and (part is None or len(part.cells) != len(run[-1].cells) or _is_apart(document, run[-1], part)):
            if len(run) > 1:
                header, *rows = [(each.start, each.end, _pdf_cells(document, each)) for each in run]
                yield RawTable(header[2], rows, title=_title(document, run[0].start))
            run = []
        if part is not None and part.cells:
            run.append(part)


def _is_apart(document: Document, one: Part, other: Part) -> bool:
    return bool(document.content[one.end : other.start].strip())


def _pdf_cells(document: Document, part: Part) -> list[str]:
    edges = [*part.cells, part.end]
    return [" ".join(document.content[start:end].split()) for start, end in pairwise(edges)]


def _plain(cell: str) -> str:
    """Return a cell without markup and escapes."""
    return _MARKUP.sub(r"\1", cell.strip()).replace("\\|", "|").replace("<br>", " ").strip()


def _title(document: Document, start: int) -> str:
    """Return the line above a table if it introduces it, otherwise the heading above, or the document's title."""
    above = document.content[max(0, start - 500) : start].rstrip()
    line = _EDGES.sub("", above.rpartition("\n")[2])
    if line and len(line) <= LONGEST_TITLE and not line.endswith((".", "|")):
        return line.rstrip(": ")
    starts = [part.start for part in document.parts]
    part = document.parts[max(bisect_right(starts, start) - 1, 0)] if document.parts else None
    return part.headings[-1] if part and part.headings else document.title
