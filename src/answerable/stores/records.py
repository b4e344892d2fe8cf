"""Conversion of documents, chunks and sync records to rows and back, for every store: JSON for what isn't searched.

`encode` converts a string to one that the store can hold, `decode` converts it back. `Binding` makes an open store use
one embedder only, so that vectors of two embedders are never mixed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.codec import part_to_row, parts_from_rows
from answerable.codec import to_json as to_json
from answerable.datatypes import Chunk, Document, DocumentType, FloatArray, Location, Part, PartKind
from answerable.errors import EmbedderMismatch, LibraryError
from answerable.left_out import from_rows, to_rows
from answerable.protocols import Fingerprint, IndexedChunk, StoredDocument, SyncRecord

UNREADABLE = (zlib.error, ValueError, LookupError, TypeError, AttributeError)
"""Errors that reading a damaged row raises."""

STORED = ("id", "source", "title", "type", "language", "content_hash", "chunks", "characters", "metadata")
CHUNK = ("id", "sequence", "start", "end", "context", "location", "parts")
RECORD = ("origin", "source", "seen", "hash", "validators", "documents")

# The key in the column of the metadata for what was left out: no front matter and no header has such a name.
_LEFT_OUT = "answerable:left out"
_ADDED = "answerable:added"
# Marks uncompressed text: compressed text never begins with this byte.
_PLAIN = b"\0"
# Most documents have no parts, and zlib clears 256 kB for each text.
_NO_PARTS = zlib.compress(b"[]", 1)


def parts_to_json(parts: Sequence[Part]) -> str:
    """Return parts as a list of rows."""
    return to_json(list(map(part_to_row, parts))) if parts else "[]"


def parts_from_json(text: str) -> tuple[Part, ...]:
    """Return the inverse of `parts_to_json`."""
    # Most chunks have no parts.
    return () if text == "[]" else parts_from_rows(json.loads(text))


def location_to_json(location: Location) -> str:
    """Return a location as an object with all its fields."""
    return to_json({field.name: getattr(location, field.name) for field in fields(location)})


def location_from_json(text: str) -> Location:
    """Return the inverse of `location_to_json`; also read JSON of earlier versions, which had fewer fields."""
    raw = json.loads(text)
    lines, pages, seconds = (tuple(raw[name]) if raw.get(name) else None for name in ("lines", "pages", "seconds"))
    times = (datetime.fromisoformat(raw["times"][0]), datetime.fromisoformat(raw["times"][1])) if raw["times"] else None
    named = raw["anchor"], times, tuple(raw["senders"]), raw.get("symbol")
    unit = PartKind(raw.get("unit", PartKind.PAGE))
    return Location(lines, pages, tuple(raw["headings"]), *named, unit, raw.get("place"), seconds)


def document_values(document: Document, chunks: int, encode: Callable[[str], str] = str) -> tuple[Any, ...]:
    """Return the values of the columns `STORED` of a document, given the number of its chunks."""
    texts = document.id, document.source, document.title, str(document.type), document.language
    left_out = {_LEFT_OUT: to_rows(document.left_out)} if document.left_out else {}
    added = {_ADDED: document.added} if document.added else {}
    metadata = encode(to_json({**document.metadata, **left_out, **added}))
    return *map(encode, texts), document.content_hash, chunks, len(document.content), metadata


def stored_document(row: Any, decode: Callable[[str], str] = str) -> StoredDocument:
    """Read a document's description from a row with the columns `STORED`."""
    values: dict[str, Any] = {name: decode(each) if isinstance(each := row[name], str) else each for name in STORED}
    return StoredDocument(**{**values, **_metadata(values["metadata"])})


def _metadata(text: str) -> dict[str, Any]:
    """Return a document's metadata, and apart from it what was left out and when it was added, from their column."""
    metadata = dict(json.loads(text))
    left_out, added = from_rows(metadata.pop(_LEFT_OUT, ())), metadata.pop(_ADDED, 0.0)
    return {"left_out": left_out, "added": added, "metadata": metadata}


def document_from_row(row: Any, content: str, parts: str = "[]", decode: Callable[[str], str] = str) -> Document:
    """Read a document from a row with some columns of `STORED`, given its text, and its parts as JSON."""
    texts: dict[str, Any] = {name: decode(row[name]) for name in ("id", "source", "title", "language")}
    return Document(
        **{**texts, **_metadata(decode(row["metadata"]))},
        content=content,
        type=DocumentType(row["type"]),
        parts=parts_from_json(parts),
    )


def chunk_values(indexed: IndexedChunk, encode: Callable[[str], str] = str) -> tuple[Any, ...]:
    """Return the values of the columns `CHUNK` of a chunk, then its term counts and its sentences."""
    chunk = indexed.chunk
    texts = chunk.context, location_to_json(chunk.location), parts_to_json(chunk.parts), to_json(dict(indexed.terms))
    numbers = chunk.sequence, chunk.start, chunk.end
    return encode(chunk.id), *numbers, *map(encode, texts), spans_to_json(indexed.sentences)


def chunk_from_row(row: Any, document: Document, decode: Callable[[str], str] = str) -> Chunk:
    """Read a chunk from a row with the columns `CHUNK`, given its document."""
    return Chunk(
        id=decode(row["id"]),
        document_id=document.id,
        content=document.content[row["start"] : row["end"]],
        start=row["start"],
        end=row["end"],
        sequence=row["sequence"],
        location=location_from_json(decode(row["location"])),
        context=decode(row["context"]),
        parts=parts_from_json(decode(row["parts"])),
    )


def indexed_chunk_from_row(
    row: Any,
    document: Document,
    vector: FloatArray | None = None,
    fields: Mapping[str, Any] | None = None,
    decode: Callable[[str], str] = str,
) -> IndexedChunk:
    """Read a chunk from a row that also has its terms, sentences and their vectors.

    `vector` and `fields` are either given or read from the row's bytes and JSON.
    """
    vector = vector_from_bytes(row["vector"]) if vector is None else vector
    return IndexedChunk(
        chunk=chunk_from_row(row, document, decode),
        vector=vector,
        terms=json.loads(decode(row["terms"])),
        fields=json.loads(row["fields"]) if fields is None else fields,
        sentences=spans_from_json(row["sentences"]),
        sentence_vectors=dequantize(row["sentence_vectors"], len(vector)),
    )


def sync_record_to_row(record: SyncRecord) -> tuple[str, ...]:
    """Return a record as strings, in the order of `RECORD`."""
    lists = to_json(dict(record.validators)), to_json(record.documents)
    return record.origin, record.source, record.seen.isoformat(), record.hash, *lists


def sync_record_from_row(row: Any, decode: Callable[[str], str] = str) -> SyncRecord:
    """Read a sync record from a row with the columns `RECORD`."""
    origin, source, seen, seen_hash, validators, documents = (decode(row[name]) for name in RECORD)
    made = datetime.fromisoformat(seen)
    return SyncRecord(origin, source, made, seen_hash, json.loads(validators), tuple(json.loads(documents)))


def pack(text: str) -> bytes:
    """Compress a long text."""
    return _NO_PARTS if text == "[]" else zlib.compress(text.encode("utf-8"), 1)


def unpack(data: bytes) -> str:
    """Decompress a text compressed by `pack`."""
    return zlib.decompress(data).decode("utf-8")


def content_to_bytes(text: str) -> bytes:
    """Return a document's text with a checksum; uncompressed, since a search reads many documents."""
    data = text.encode("utf-8")
    return _PLAIN + zlib.crc32(data).to_bytes(4, "little") + data


def content_from_bytes(data: bytes) -> str:
    """Read a text written by `content_to_bytes` or, in older formats, by `pack`. Raise zlib.error if it is damaged."""
    if not data:
        raise zlib.error("its text is lost")
    if data[:1] != _PLAIN:
        return unpack(data)
    if zlib.crc32(memoryview(data)[5:]) != int.from_bytes(data[1:5], "little"):
        raise zlib.error("the checksum is wrong")
    return data[5:].decode("utf-8")


def vector_to_bytes(vector: FloatArray) -> bytes:
    """Return a vector in float32, little-endian."""
    return np.ascontiguousarray(vector, "<f4").tobytes()


def vector_from_bytes(data: bytes) -> FloatArray:
    """Return the inverse of `vector_to_bytes`."""
    return np.frombuffer(data, "<f4")


def quantize(rows: FloatArray) -> bytes:
    """Return vectors as 8-bit numbers with a scale per row: a quarter of the size, cosines off by about .0001."""
    scales, numbers = quantized(rows)
    return bytes(scales.tobytes() + numbers.tobytes())


def quantized(rows: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return the scale of each row and its 8-bit numbers; `dequantized` is the inverse, except for rounding."""
    if not len(rows):
        return np.zeros(0, "<f4"), np.zeros(rows.shape, np.int8)
    scales: FloatArray = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype("<f4") / np.float32(127)
    return scales, np.rint(rows / scales[:, None]).astype(np.int8)


def dequantize(data: bytes, dimension: int) -> FloatArray:
    """Return the inverse of `quantize`, shape (rows, dimension)."""
    count = len(data) // (dimension + 4)
    scales = np.frombuffer(data, "<f4", count)
    return dequantized(scales, np.frombuffer(data, np.int8, offset=4 * count).reshape(count, dimension))


def dequantized(scales: FloatArray, numbers: npt.NDArray[np.int8]) -> FloatArray:
    """Return the inverse of `quantized`, except for rounding."""
    vectors: FloatArray = numbers * scales[:, None]
    return vectors


def spans_to_json(spans: Sequence[tuple[int, int]]) -> str:
    """Return spans as one flat list."""
    return to_json([edge for span in spans for edge in span])


def spans_from_json(text: str) -> tuple[tuple[int, int], ...]:
    """Return the inverse of `spans_to_json`."""
    flat = json.loads(text)
    return tuple(zip(flat[::2], flat[1::2], strict=True))


class Binding:
    """Remembers the first embedder that the store reported: the store's caller continues to embed with it."""

    def __init__(self) -> None:
        self._bound: Fingerprint | None = None

    def pin(self, found: Fingerprint | None) -> Fingerprint | None:
        """Return `found`, the store's embedder, and pin it if no embedder is pinned yet."""
        self._bound = self._bound or found
        return found

    def check(self, found: Fingerprint | None) -> None:
        """Raise EmbedderMismatch if `found`, the embedder of the stored vectors, differs from the pinned one."""
        if self._bound is not None and found != self._bound:
            raise EmbedderMismatch(
                f"The library was opened with the embedder {self._bound}, and its vectors have since been replaced by "
                f"those of {found or 'another'}. Open it again with "
                + (f"the setting embedder = {found.provider}:{found.model}." if found else "that one.")
            )

    def move(self, fingerprint: Fingerprint) -> None:
        """Pin another embedder, after the store itself replaced the vectors."""
        self._bound = fingerprint


def check_embedder(made_by: Fingerprint | None, used: Fingerprint) -> None:
    """Raise EmbedderMismatch if a library's vectors come from another embedder than the one in use."""
    if made_by is not None and made_by != used:
        raise EmbedderMismatch(
            f"This library was made with the embedder {made_by}, you are using {used}. "
            f"Use the one that made it (the setting embedder is {made_by.provider}:{made_by.model}), "
            "change the library's with `answerable reindex`, or add your documents to a new library with --library."
        )


def other_reindex(there: Fingerprint, wanted: Fingerprint) -> EmbedderMismatch:
    """Return the error for collecting vectors while those of another embedder are being collected."""
    return EmbedderMismatch(
        f"An unfinished reindex of this library uses the embedder {there}, not {wanted}. Finish it with "
        "answerable reindex, or drop it with answerable reindex --abandon, then try again."
    )


def reindex_ended() -> LibraryError:
    """Return the error for using collected vectors that another process has dropped or put into use."""
    return LibraryError(
        "This reindex can't go on: another process has finished or abandoned it. "
        "Run the same command again to see what is left to do."
    )
