"""What passes between the engine and the reading process: documents and errors as JSON, in frames.

A frame is a length in eight bytes, then the bytes. A request is a frame of JSON and a frame with the file; an answer is
a frame of JSON and a frame with its text. More answers follow one whose outcome is in `GOING_ON`.
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any

from answerable import errors
from answerable.codec import part_to_row, parts_from_rows
from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, SourceError


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


_LENGTH = struct.Struct(">Q")
GOING_ON = frozenset({"working", "file", "document", "error", "empty", "left out"})


def write_pair(stream: IO[bytes], message: dict[str, Any], data: bytes, flush: bool = True) -> None:
    """Send a message as JSON with its bytes."""
    # By default json escapes everything beyond ASCII, lone surrogates too.
    for frame in (json.dumps(message).encode("ascii"), data):
        stream.write(_LENGTH.pack(len(frame)))
        stream.write(frame)
    if flush:
        stream.flush()


def read_pair(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Receive a message with its bytes, or None if the other side is gone."""
    message = _read_frame(stream)
    data = None if message is None else _read_frame(stream)
    return None if message is None or data is None else (json.loads(message), data)


def _read_frame(stream: IO[bytes]) -> bytes | None:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(header)
    data = stream.read(size)
    return data if len(data) == size else None
