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
        return list(_spans(content))
    except (ValueError, RecursionError):
        return []


def _spans(content: str) -> Iterator[Span]:
    start = _skip_blank(content, 0)
    is_list = content.startswith("[", start)
    start = _skip_blank(content, start + is_list)
    while start < len(content) and not (is_list and content[start] == "]"):
        record, end = _DECODER.raw_decode(content, start)
        if not isinstance(record, dict | list) or not record:
            raise ValueError("a record is an object or a list")
        yield start, end
        following = _skip_blank(content, end)
        is_divided = content[following : following + 1] in (",", "]") if is_list else "\n" in content[end:following]
        if not (is_divided or following == len(content)) or (not is_list and "\n" in content[start:end]):
            raise ValueError("no comma is between two records of a list, or a record isn't on a line of its own")
        start = _skip_blank(content, following + content.startswith(",", following))
    if is_list and (start == len(content) or _skip_blank(content, start + 1) < len(content)):
        raise ValueError("the list has no closing bracket, or there is text after it")


def _skip_blank(content: str, position: int) -> int:
    match = _BLANK.match(content, position)
    return match.end() if match else position
