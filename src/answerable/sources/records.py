"""Tables and lists of objects (CSV, TSV, JSON, JSON lines) → Document: the unchanged file, a part for each record.

A file that isn't a valid table or list is read as plain text: other JSON, prose with commas, a truncated file.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span
from answerable.sources.text import make_document, read_text, require_text
from answerable.tables.delimited import DELIMITED, SAMPLE_ROWS, has_values, readings

_BLANK = re.compile(r"[ \t\n\r]*")
_LINE = re.compile(r"[^\n]+")
_DECODER = json.JSONDecoder()


def read_records(content: str, source: str) -> Document:
    """Return a document from decoded text. Raises EmptySource for white space."""
    require_text(content, source)
    is_table = PurePosixPath(source.lower()).suffix in DELIMITED
    spans, metadata = _table(content) if is_table else (json_spans(content), {})
    if not spans:
        return read_text(content, source)
    parts = (Part(start, end, PartKind.RECORD) for start, end in spans)
    return make_document(source, content, DocumentType.RECORDS, parts, metadata=metadata)


def _table(content: str) -> tuple[list[Span], dict[str, str]]:
    """Return the spans of a table's lines, those above its header too, and the header's names and line."""
    for above, header, found in readings(content):
        try:
            below = list(found)
        except csv.Error:
            continue
        metadata = {}
        if header:
            metadata["columns"] = ", ".join(" ".join(cell.split()) for cell in header.cells if cell.strip())
            if line := content.count("\n", 0, header.start):
                metadata["header_line"] = str(line + 1)
        # If there is only text below, the first row may be data, so it stays quotable.
        first = [header] if header and not has_values(below[:SAMPLE_ROWS]) else []
        return [(row.start, row.end) for row in (*above, *first, *below)], metadata
    return [], {}


def json_spans(content: str) -> list[Span]:
    """Return the spans of the records in a JSON list or in JSON lines; empty if it is neither."""
    try:
        return list(_list_spans(content)) or list(_line_spans(content))
    except (ValueError, RecursionError):
        return []


def _list_spans(content: str) -> Iterator[Span]:
    position = _skip_blank(content, 0)
    if not content.startswith("[", position):
        return
    position = _skip_blank(content, position + 1)
    while not content.startswith("]", position):
        end = _record_end(content, position)
        yield position, end
        position = _skip_blank(content, end)
        if content.startswith(",", position):
            position = _skip_blank(content, position + 1)
        elif not content.startswith("]", position):
            raise ValueError("the list has no closing bracket")
    if _skip_blank(content, position + 1) < len(content):
        raise ValueError("there is text after the list")


def _line_spans(content: str) -> Iterator[Span]:
    for line in _LINE.finditer(content):
        start = _skip_blank(content, line.start())
        if start >= line.end():
            continue
        end = _record_end(content, start)
        if content[end : line.end()].strip():
            raise ValueError("the line has several records")
        yield start, end


def _record_end(content: str, start: int) -> int:
    record, end = _DECODER.raw_decode(content, start)
    if not isinstance(record, dict | list) or not record:
        raise ValueError("a record is an object or a list")
    return end


def _skip_blank(content: str, position: int) -> int:
    match = _BLANK.match(content, position)
    return match.end() if match else position
