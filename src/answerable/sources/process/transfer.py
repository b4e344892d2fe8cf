"""Documents and errors as data, on their way from the process that reads files to the engine."""

from __future__ import annotations

from typing import Any

from answerable import errors
from answerable.codec import part_to_row, parts_from_rows
from answerable.datatypes import Document, DocumentType
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
        "parts": list(map(part_to_row, document.parts)),
    }
    return described, document.content.encode("utf-8")


def unpack(described: dict[str, Any], content: bytes) -> Document:
    """The document that was packed."""
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
    """An error's kind and message."""
    return [type(error).__name__, str(error)]


def unpack_error(packed: list[str]) -> AnswerableError:
    """The error that was packed; of a kind that is none of ours, a SourceError."""
    kind = getattr(errors, packed[0], SourceError)
    made: AnswerableError = kind(packed[1])
    return made
