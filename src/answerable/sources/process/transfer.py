"""What passes between the engine and the reading process: documents and errors as JSON, in `frames`.

A request is a frame of JSON and a frame with the file; an answer is a frame of JSON and a frame with its text. More
answers follow one whose outcome is in `GOING_ON`.
"""

from __future__ import annotations

from typing import Any

from answerable import errors
from answerable.codec import part_to_row, parts_from_rows
from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, SourceError

GOING_ON = frozenset({"working", "file", "document", "error", "empty", "left out"})


def pack(document: Document) -> tuple[dict[str, Any], bytes]:
    """Return a document as JSON, and its content in UTF-8."""
    described = {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "type": document.type.value,
        "language": document.language,
        "metadata": dict(document.metadata),
        "parts": list(map(part_to_row, document.parts)),
    }
    return described, document.content.encode("utf-8")


def unpack(described: dict[str, Any], content: bytes) -> Document:
    """Return the document that was packed."""
    return Document(
        described["id"],
        content.decode("utf-8"),
        described["source"],
        described["title"],
        DocumentType(described["type"]),
        described["language"],
        described["metadata"],
        parts_from_rows(described["parts"]),
    )


def pack_error(error: AnswerableError) -> list[str]:
    """Return an error's class and message."""
    return [type(error).__name__, str(error)]


def unpack_error(packed: list[str]) -> SourceError:
    """Return the error that was packed, as a SourceError if it has another class."""
    kind = getattr(errors, packed[0], SourceError)
    return kind(packed[1]) if issubclass(kind, SourceError) else SourceError(packed[1])
