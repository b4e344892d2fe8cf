"""Find the tables of a document: records, tables drawn with bars, rows of PDFs, chats, calendars, contacts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from answerable.datatypes import Document, DocumentType, Part
from answerable.tables.bars import bar_tables, plain_cell
from answerable.tables.chats import chat_table
from answerable.tables.entries import entry_tables
from answerable.tables.front_matter import front_matter
from answerable.tables.grid import Line, Setting, make_table, setting_of
from answerable.tables.records import records_table
from answerable.tables.table import Origin, Table

_LONGEST_CAPTION = 100
_LOOKED_BACK = 1_000


def find_tables(document: Document) -> list[Table]:
    """Return the tables of a document in order, each with at most `grid.MOST_CELLS` cells."""
    match document.type:
        case DocumentType.CHAT:
            table = chat_table(document)
            return [table] if table else []
        case DocumentType.RECORDS:
            table = records_table(document, setting_of(document))
            return [table] if table else []
    runs = [*bar_tables(document.content), *_pdf_tables(document)]
    found = list(entry_tables(document)) if "BEGIN:V" in document.content else []
    starts_with_rule = document.type is DocumentType.MARKDOWN and document.content.startswith("---")
    if not runs and not starts_with_rule:
        return found
    setting = setting_of(document)
    if starts_with_rule and (table := _front_matter(document, setting)):
        found.append(table)
    title = _Titles(document)
    made = (make_table(lines, title.of(lines[0].start), setting) for lines in runs)
    found += [table for table in made if table]
    return sorted(found, key=lambda table: table.span)


def _front_matter(document: Document, setting: Setting) -> Table | None:
    values, end = front_matter(document.content)
    if not values:
        return None
    end = len(document.content[:end].rstrip())
    line = Line(0, end, list(values.values()))
    return make_table([line], document.title, setting, Origin.FRONT_MATTER, list(values))


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
    cells = [content[start:stop].strip() for start, stop in zip(bounds, bounds[1:], strict=False)]
    return Line(part.start, end, cells)


class _Titles:
    """The titles of a document's tables: the line above, the nearest heading, or the document's title."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._starts = [part.start for part in document.parts]

    def of(self, start: int) -> str:
        """Return the title of the table whose first row begins at `start`."""
        return _caption(self._document.content, start) or self._heading(start) or self._document.title

    def _heading(self, start: int) -> str:
        place = bisect_right(self._starts, start) - 1
        headings: Sequence[str] = self._document.parts[place].headings if place >= 0 else ()
        return headings[-1] if headings else ""


def _caption(content: str, start: int) -> str:
    """Return the line above a table if it is a caption: it ends in a colon, or is short and stands alone."""
    lines = content[max(0, start - _LOOKED_BACK) : content.rfind("\n", 0, start) + 1].rstrip().split("\n")
    line = lines[-1].strip(" \t>#")
    is_alone = len(lines) < 2 or not lines[-2].strip()
    text = plain_cell(line)
    if not text or "|" in text or len(text) > _LONGEST_CAPTION:
        return ""
    if text.endswith(":"):
        return text.rstrip(": ")
    return text if is_alone and text[-1] not in ".,;!?…" and not text.startswith(("- ", "* ", "---", "```")) else ""
