"""Find the tables of a document. They are derived from its text and parts when needed, so they are never stale."""

from __future__ import annotations

from collections.abc import Iterator

from answerable.datatypes import Document, DocumentType
from answerable.tables.delimited import read_table
from answerable.tables.entries import calendar_table, chat_table, contacts_table, front_matter_table, json_table
from answerable.tables.grids import bar_tables, pdf_tables
from answerable.tables.raw import RawTable
from answerable.tables.table import Table


def find_tables(document: Document) -> list[Table]:
    """Return the tables of a document, in order: only those with rows."""
    if document.type is DocumentType.CHAT:
        found = [chat_table(document)]
    else:
        found = [raw.typed(document.language) for raw in _raw_tables(document)]
    return [table for table in found if table.rows]


def _raw_tables(document: Document) -> Iterator[RawTable]:
    if document.type is DocumentType.RECORDS:
        yield from _records(document)
        return
    if document.type is DocumentType.PDF:
        yield from pdf_tables(document)
    if document.type is DocumentType.MARKDOWN and (fields := front_matter_table(document)):
        yield fields
    if "BEGIN:VEVENT" in document.content:
        yield calendar_table(document)
    if "BEGIN:VCARD" in document.content:
        yield contacts_table(document)
    if "|" in document.content:
        yield from bar_tables(document)


def _records(document: Document) -> Iterator[RawTable]:
    if document.content.lstrip().startswith(("[", "{")):
        if records := json_table(document):
            yield records
        return
    table = read_table(document.content)
    width = max(map(len, (row.cells for row in table.rows)), default=0)
    names = [" ".join(name.split()) for name in table.header]
    names += [str(number) for number in range(len(names) + 1, width + 1)]
    yield RawTable(names, [(row.start, row.end, row.cells) for row in table.rows], document.title)
