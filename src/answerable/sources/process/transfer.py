"""Documents and errors as data, on their way from the process that reads files to the engine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from answerable import errors
from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.errors import AnswerableError, SourceError


def pack(document: Document) -> tuple[dict[str, Any], bytes]:
    """What JSON can hold of a document, and its content in UTF-8."""
    described = {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "type": document.type.value,
        "language": document.language,
        "metadata": dict(document.metadata),
        "parts": [_row(part) for part in document.parts],
    }
    return described, document.content.encode("utf-8")


def unpack(described: dict[str, Any], content: bytes) -> Document:
    """The document that was packed."""
    # Most parts share what names their place: it is kept once.
    known: dict[Any, Any] = {}
    return Document(
        described["id"],
        content.decode("utf-8"),
        described["source"],
        described["title"],
        DocumentType(described["type"]),
        described["language"],
        described["metadata"],
        tuple(_part(row, known) for row in described["parts"]),
    )


def pack_error(error: AnswerableError) -> list[str]:
    """An error's kind and message."""
    return [type(error).__name__, str(error)]


def unpack_error(packed: list[str]) -> AnswerableError:
    """The error that was packed; of a kind that is none of ours, a SourceError."""
    kind = getattr(errors, packed[0], SourceError)
    made: AnswerableError = kind(packed[1])
    return made


def _row(part: Part) -> list[Any]:
    row = [
        part.start,
        part.end,
        part.kind.value,
        part.page,
        part.headings,
        part.anchor,
        part.time.isoformat() if part.time else None,
        part.sender,
        part.body,
        part.symbol,
        part.cells,
    ]
    while not row[-1] and row[-1] != 0:
        row.pop()
    return row


def _part(row: list[Any], known: dict[Any, Any]) -> Part:
    start, end, kind, page, headings, anchor, time, sender, body, symbol, cells = row + [None] * (11 - len(row))
    path = tuple(headings or ())
    return Part(
        start,
        end,
        _KINDS[kind],
        page,
        known.setdefault(path, path),
        anchor,
        datetime.fromisoformat(time) if time else None,
        known.setdefault(sender, sender),
        body,
        known.setdefault(symbol, symbol),
        tuple(cells or ()),
    )


_KINDS = {kind.value: kind for kind in PartKind}
