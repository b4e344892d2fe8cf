"""The parts of an exported library: the members of the zip, their rows, and the manifest."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from answerable.datatypes import Document, Location, Part
from answerable.protocols import Fingerprint, IndexedChunk

FORMAT = 1
MANIFEST = "manifest.json"
DOCUMENTS = "documents.jsonl"
CHUNKS = "chunks.jsonl"
RECORDS = "records.jsonl"
VECTORS = "vectors.npy"
SENTENCES = "sentence_vectors.npy"
SCALES = "sentence_scales.npy"
LINES = (DOCUMENTS, CHUNKS, RECORDS)
ARRAYS = (VECTORS, SENTENCES, SCALES)
MEMBERS = (*LINES, *ARRAYS)

TYPES: Mapping[str, np.dtype[Any]] = {VECTORS: np.dtype("<f4"), SENTENCES: np.dtype("|i1"), SCALES: np.dtype("<f4")}


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A line of documents.jsonl: a document, and the number of its lines in chunks.jsonl."""

    document: Document
    chunks: int


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A line of chunks.jsonl; the chunk's content is `content[start:end]` of the document.

    `rows` is the number of its sentence vectors: one for each of `sentences`, or none.
    """

    document_id: str
    id: str
    sequence: int
    start: int
    end: int
    location: Location
    terms: Mapping[str, int]
    fields: Mapping[str, Any]
    context: str = ""
    parts: tuple[Part, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an unpacked member in bytes, and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of rows of each kind."""

    documents: int = 0
    chunks: int = 0
    sentences: int = 0
    records: int = 0

    def shape(self, member: str, dimension: int) -> tuple[int, ...]:
        """Return the shape of an array."""
        if member == SCALES:
            return (self.sentences,)
        return (self.chunks if member == VECTORS else self.sentences), dimension


@dataclass(frozen=True, slots=True)
class Manifest:
    """manifest.json: format, embedder (None for an empty library), counts, and sizes of the members."""

    format: int
    fingerprint: Fingerprint | None = None
    counts: Counts = field(default_factory=Counts)
    members: Mapping[str, Size] = field(default_factory=dict)

    @property
    def dimension(self) -> int:
        """Dimension of the vectors."""
        return self.fingerprint.dimension if self.fingerprint else 0


def chunk_row(indexed: IndexedChunk) -> ChunkRow:
    """Return a chunk's row, without vectors; equal chunks give equal rows, whatever store they come from."""
    chunk = indexed.chunk
    return ChunkRow(
        document_id=chunk.document_id,
        id=chunk.id,
        sequence=chunk.sequence,
        start=chunk.start,
        end=chunk.end,
        location=chunk.location,
        terms=dict(sorted(indexed.terms.items())),
        fields={name: [_usual(value) for value in values] for name, values in sorted(indexed.fields.items())},
        context=chunk.context,
        parts=chunk.parts,
        sentences=indexed.sentences,
        rows=len(indexed.sentence_vectors),
    )


def array_header(member: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of an array in NumPy's format."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": TYPES[member].str, "fortran_order": False, "shape": shape})
    return header.getvalue()


def _usual(value: Any) -> Any:
    """Return a whole float as an int, since stores may return either."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
