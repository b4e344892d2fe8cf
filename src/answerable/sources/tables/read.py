"""Tables and lists of objects (CSV, TSV, JSON, JSON lines) → Document: the file itself, a part for each record.

What isn't as its name says is read as plain text: a program's own JSON, prose with commas in it, a cut-off file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span, document_id
from answerable.sources.tables.rows import read_table
from answerable.sources.text import read_text, require_text, stem

_TABLES = frozenset({".csv", ".tsv", ".tab"})
_BLANK = re.compile(r"[ \t\n\r]*")
_LINE = re.compile(r"[^\n]+")
_DECODER = json.JSONDecoder()


def read_records(content: str, source: str) -> Document:
    """A document from decoded text. Raises EmptySource when there is nothing but white space."""
    require_text(content, source)
    columns: list[str] = []
    if PurePosixPath(source.lower()).suffix in _TABLES:
        columns, spans = read_table(content)
    else:
        spans = json_spans(content)
    if not spans:
        return read_text(content, source)
    parts = tuple(Part(start, end, PartKind.RECORD) for start, end in spans)
    metadata = {"columns": ", ".join(columns)} if columns else {}
    title = stem(source)
    return Document(
        document_id(source, content), content, source, title, DocumentType.RECORDS, metadata=metadata, parts=parts
    )


def json_spans(content: str) -> list[Span]:
    """Start and end of every record in a list of JSON or in lines of it; none where it is neither."""
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
        # Each record is parsed where it stands and forgotten.
        record, end = _DECODER.raw_decode(content, position)
        yield _checked(record, position, end)
        position = _skip_blank(content, end)
        if content.startswith(",", position):
            position = _skip_blank(content, position + 1)
        elif not content.startswith("]", position):
            raise ValueError("a list ends with a bracket")
    if _skip_blank(content, position + 1) < len(content):
        raise ValueError("something follows the list")


def _line_spans(content: str) -> Iterator[Span]:
    for line in _LINE.finditer(content):
        start = _skip_blank(content, line.start())
        if start >= line.end():
            continue
        record, end = _DECODER.raw_decode(content, start)
        if line[0][end - line.start() :].strip():
            raise ValueError("a line holds one record")
        yield _checked(record, start, end)


def _checked(record: object, start: int, end: int) -> Span:
    if not isinstance(record, dict | list) or not record:
        raise ValueError("a record is an object or a row")
    return start, end


def _skip_blank(content: str, position: int) -> int:
    match = _BLANK.match(content, position)
    return match.end() if match else position
