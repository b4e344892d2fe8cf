"""Conversions of datatypes to columns of a row and back: JSON for small values, bytes for vectors."""

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
from answerable.datatypes import Chunk, Document, FloatArray, Location, Part, PartKind
from answerable.protocols import SyncRecord

# No compressed text begins with it.
_PLAIN = b"\0"


def parts_to_json(parts: Sequence[Part]) -> str:
    """Return parts as a list of rows."""
    if not parts:
        return "[]"
    return to_json(list(map(part_to_row, parts)))


def parts_from_json(text: str) -> tuple[Part, ...]:
    """Return the inverse of `parts_to_json`."""
    # Most chunks have none.
    if text == "[]":
        return ()
    return parts_from_rows(json.loads(text))


def parts_to_bytes(parts: Sequence[Part]) -> bytes:
    """Return parts as a compressed list of rows."""
    return pack(parts_to_json(parts)) if parts else _NO_PARTS


def location_to_json(location: Location) -> str:
    """Return a location as an object with all its fields."""
    return to_json({field.name: getattr(location, field.name) for field in fields(location)})


def location_from_json(text: str) -> Location:
    """Return the inverse of `location_to_json`, also for texts of versions whose locations had fewer fields."""
    raw = json.loads(text)
    lines, pages, seconds = (tuple(raw[name]) if raw.get(name) else None for name in ("lines", "pages", "seconds"))
    times = (datetime.fromisoformat(raw["times"][0]), datetime.fromisoformat(raw["times"][1])) if raw["times"] else None
    named = raw["anchor"], times, tuple(raw["senders"]), raw.get("symbol")
    unit = PartKind(raw.get("unit", PartKind.PAGE))
    return Location(lines, pages, tuple(raw["headings"]), *named, unit, raw.get("place"), seconds)


def chunk_from_row(row: Any, document: Document, decode: Callable[[str], str] = str) -> Chunk:
    """Read the columns of a chunk, given its document; `decode` reads the store's texts."""
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


def sync_record_to_row(record: SyncRecord) -> tuple[str, str, str, str, str, str]:
    """Return a record as texts: origin, source, seen, hash, and validators and documents as JSON."""
    return (
        record.origin,
        record.source,
        record.seen.isoformat(),
        record.hash,
        to_json(dict(record.validators)),
        to_json(record.documents),
    )


def sync_record_from_row(row: Mapping[str, str]) -> SyncRecord:
    """Read a sync record from a row by column names."""
    return SyncRecord(
        row["origin"],
        row["source"],
        datetime.fromisoformat(row["seen"]),
        row["hash"],
        json.loads(row["validators"]),
        tuple(json.loads(row["documents"])),
    )


def pack(text: str) -> bytes:
    """Compress a long text."""
    return zlib.compress(text.encode("utf-8"), 1)


_NO_PARTS = pack("[]")


def unpack(data: bytes) -> str:
    """Decompress a text compressed by `pack`."""
    return zlib.decompress(data).decode("utf-8")


def content_to_bytes(text: str) -> bytes:
    """Return a document's text with a checksum, uncompressed, since a search reads many documents."""
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
    vectors: FloatArray = numbers.astype(np.float32) * scales[:, None]
    return vectors


def spans_to_json(spans: Sequence[tuple[int, int]]) -> str:
    """Return spans as one flat list."""
    return to_json([edge for span in spans for edge in span])


def spans_from_json(text: str) -> tuple[tuple[int, int], ...]:
    """Return the inverse of `spans_to_json`."""
    flat = json.loads(text)
    return tuple(zip(flat[::2], flat[1::2], strict=True))
