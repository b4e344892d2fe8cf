"""What flows through the toolkit: plain, mutable copies of the engine's datatypes.

Offsets count characters: `document.content[chunk.start_char:chunk.end_char] == chunk.content`, always.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import answerable
from answerable.datatypes import Part, PartKind, document_id
from codomyrmex.llm.rag._reading import read_one

_PAGE = re.compile(r"[^\f]*\f?")
# What the engine renders as Markdown.
_RENDERED = frozenset({"docx", "odt", "rtf", "epub", "slides", "spreadsheet", "notebook", "outline"})


class DocumentType(str, Enum):
    """What a document is."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    CODE = "code"


@dataclass
class Document:
    """A text with its origin; `source` is a path, an address or a name, empty where there is none."""

    id: str
    content: str
    doc_type: DocumentType = DocumentType.TEXT
    source: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str, doc_id: str | None = None, **metadata: Any) -> Document:
        """A document from a string; without `doc_id` the id follows from source and text.

        The metadata `source` and `doc_type` set the fields of these names as well. Raises ValueError for an unknown
        `doc_type`, and for lone surrogates in the text.
        """
        source = str(metadata.get("source") or "")
        doc_type = DocumentType(metadata.get("doc_type") or DocumentType.TEXT)
        engine = answerable.Document.from_text(text, doc_id, source=source)
        return cls(engine.id, engine.content, doc_type, source, metadata)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], encoding: str = "utf-8") -> Document:
        """The document in a file of any format that the engine reads; what isn't among the types is text or Markdown.

        The encoding is tried first, then detected. The id follows from the path alone, so that a file that has changed
        replaces itself when it is indexed again. `metadata` has title, language and format where they are known, and
        what the file says of itself. Raises the engine's SourceError that says what is wrong with the file; it is a
        FileNotFoundError too when there is none, and an IsADirectoryError for a folder.
        """
        read = read_one(path, encoding)
        kind = str(read.type)
        known = {"title": read.title, "language": read.language, "format": kind}
        metadata = {**read.metadata, **{name: value for name, value in known.items() if value}}
        return cls(document_id(read.source, ""), read.content, type_of(kind), read.source, metadata)


@dataclass
class Chunk:
    """A passage of a document, the `sequence`-th from 0; `embedding` is set when it is indexed.

    `metadata` tells the `place` for people and, for a PDF, the `pages` that it touches; a pipeline adds the document's
    metadata, `source` and `doc_type`.
    """

    id: str
    content: str
    document_id: str
    sequence: int
    start_char: int
    end_char: int
    embedding: list[float] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class RetrievalResult:
    """A chunk that was found and its document, where that is known; a higher score is better."""

    chunk: Chunk
    score: float
    document: Document | None = None


@dataclass
class GenerationContext:
    """A query, what was retrieved for it (best first), and that as text for a language model."""

    query: str
    results: list[RetrievalResult]
    formatted_context: str


def type_of(kind: str) -> DocumentType:
    """The type of what the engine calls `kind`: the one of this name, or else how its content is written."""
    try:
        return DocumentType(kind)
    except ValueError:
        return DocumentType.MARKDOWN if kind in _RENDERED else DocumentType.TEXT


def to_engine(document: Document, language: str = "") -> answerable.Document:
    """The engine's document, with its pages for a PDF. Raises ValueError for lone surrogates in the text."""
    engine = answerable.Document.from_text(
        document.content, document.id, source=document.source, type=document.doc_type.value, language=language
    )
    if document.doc_type is not DocumentType.PDF:
        return engine
    return answerable.Document(engine.id, engine.content, engine.source, "", engine.type, language, {}, _pages(engine))


def from_engine(chunks: Sequence[answerable.Chunk]) -> list[Chunk]:
    """The toolkit's chunks."""
    return [
        Chunk(
            chunk.id, chunk.content, chunk.document_id, chunk.sequence, chunk.start, chunk.end, None, _metadata(chunk)
        )
        for chunk in chunks
    ]


def _pages(document: answerable.Document) -> tuple[Part, ...]:
    # Between the pages of a PDF stands a form feed.
    spans = [match.span() for match in _PAGE.finditer(document.content) if match[0]]
    return tuple(Part(start, end, PartKind.PAGE, page) for page, (start, end) in enumerate(spans, 1))


def _metadata(chunk: answerable.Chunk) -> dict[str, Any]:
    metadata: dict[str, Any] = {"place": str(chunk.location)} if str(chunk.location) else {}
    if chunk.location.pages:
        first, last = chunk.location.pages
        metadata["pages"] = list(range(first, last + 1))
    return metadata
