"""Imports an exported library into a store, document by document, after checking the whole file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from answerable.datatypes import Chunk, Document, FloatArray, Part, chunk_id
from answerable.filters import normalize_fields
from answerable.maintenance.archive import (
    CHUNKS,
    DOCUMENTS,
    OF_CHUNK,
    RECORDS,
    SCALES,
    SENTENCES,
    VECTORS,
    Archive,
    ArrayRows,
    ChunkRow,
    Counts,
    DocumentRow,
)
from answerable.maintenance.copy import CopyReport, OnCopied, put_unless_there, share_fingerprint
from answerable.protocols import IndexedChunk, Store, SyncRecord
from answerable.stores.records import dequantized

# Tolerance for the length of a vector, which is 1: more than the rounding error of sentence vectors, in 8-bit numbers.
_ROUNDING = 0.02

Whole = tuple[Document, list[IndexedChunk]]


def import_store(path: Path, make: Callable[[], Store], on_progress: OnCopied | None = None) -> CopyReport:
    """Add the documents of an export to the library that `make` opens, except those it already has.

    The whole file is checked before the library is opened. After an interruption, the same call imports the rest.
    Raise LibraryError that names the fault in the file, and EmbedderMismatch if the library has another embedder.
    """
    with Archive(path) as archive:
        for _ in _documents(archive):
            pass
        records = list(_records(archive))
        with closing(make()) as target:
            return _import(archive, records, target, on_progress)


def _import(archive: Archive, records: list[SyncRecord], target: Store, on_progress: OnCopied | None) -> CopyReport:
    share_fingerprint(archive.manifest.fingerprint, target)
    report = CopyReport(documents=archive.manifest.counts.documents)
    try:
        for document, chunks in _documents(archive):
            if put_unless_there(target, document, chunks):
                report = replace(report, copied=report.copied + 1, chunks=report.chunks + len(chunks))
            else:
                report = replace(report, unchanged=report.unchanged + 1)
            if on_progress:
                on_progress(report)
        target.remember(records)
    finally:
        target.refresh()
    return report


class _Arrays(NamedTuple):
    """The export's arrays of vectors, open for reading."""

    vectors: ArrayRows
    sentences: ArrayRows
    scales: ArrayRows


def _documents(archive: Archive) -> Iterator[Whole]:
    """Yield the documents with their chunks, all checked. Raise LibraryError."""
    counted, before, ids = Counts(records=archive.manifest.counts.records), ("", ""), set[str]()
    with ExitStack() as stack:
        arrays = _Arrays(*(stack.enter_context(archive.array(name)) for name in (VECTORS, SENTENCES, SCALES)))
        rows = archive.rows(CHUNKS, ChunkRow)
        for line, row in archive.rows(DOCUMENTS, DocumentRow):
            document, place = row.document, (row.document.source, row.document.id)
            with archive.reading(f"{DOCUMENTS}, line {line}"):
                if not document.id:
                    raise ValueError("it has no id")
                _check_parts(document.parts, len(document.content))
                if ids and (place <= before or document.id in ids):
                    raise ValueError("it is out of order (by source and id) or repeated")
            before = place
            ids.add(document.id)
            chunks = [_chunk(archive, rows, document, number, arrays) for number in range(row.chunks)]
            sentences = counted.sentences + sum(len(each.sentence_vectors) for each in chunks)
            counted = Counts(counted.documents + 1, counted.chunks + len(chunks), sentences, counted.records)
            yield document, chunks
        if next(rows, None) is not None or counted != archive.manifest.counts:
            raise archive.damaged(CHUNKS, "the number of documents, chunks or sentences isn't that of the manifest")


def _chunk(
    archive: Archive, rows: Iterator[tuple[int, ChunkRow]], document: Document, number: int, arrays: _Arrays
) -> IndexedChunk:
    line, row = next(rows, (0, None))
    if row is None:
        raise archive.damaged(CHUNKS, f"it ends before the last chunk of the document {document.id}")
    with archive.reading(f"{CHUNKS}, line {line}"):
        content = document.content[row.start : row.end] if 0 <= row.start <= row.end else ""
        if (row.document_id, row.sequence) != (document.id, number):
            raise ValueError(f"it isn't number {number} of the document {document.id}")
        if row.end - row.start != len(content) or row.id != chunk_id(document.id, row.start, content):
            raise ValueError("its text or id isn't that of its place in the document")
        _check_chunk(row, len(document.content))
    with archive.reading(f"{VECTORS}, row {line}"):
        vector = _unit(arrays.vectors.take(1))[0]
    with archive.reading(f"{SENTENCES}, of line {line} of {CHUNKS}"):
        sentence_vectors = _sentences(arrays, row.rows)
    chunk = Chunk(content=content, **{name: getattr(row, name) for name in OF_CHUNK})
    return IndexedChunk(chunk, vector, row.terms, row.fields, row.sentences, sentence_vectors)


def _records(archive: Archive) -> Iterator[SyncRecord]:
    before = ("", "")
    number = 0
    for number, record in archive.rows(RECORDS, SyncRecord):
        with archive.reading(f"{RECORDS}, line {number}"):
            if number > 1 and (record.origin, record.source) <= before:
                raise ValueError("it is out of order (by origin and source) or repeated")
            if record.seen.tzinfo is None:
                raise ValueError("the time has no time zone")
        before = record.origin, record.source
        yield record
    if number != archive.manifest.counts.records:
        raise archive.damaged(RECORDS, "the number of records isn't that of the manifest")


def _check_parts(parts: tuple[Part, ...], length: int) -> None:
    if any(not 0 <= part.start <= part.end <= length for part in parts):
        raise ValueError("a part of it lies outside the document")
    if any(one.end > other.start for one, other in pairwise(parts)):
        raise ValueError("its parts aren't in order")


def _check_chunk(row: ChunkRow, length: int) -> None:
    _check_parts(row.parts, length)
    if any(not 0 <= start <= end <= row.end - row.start for start, end in row.sentences):
        raise ValueError("a sentence lies outside it")
    if row.rows not in (0, len(row.sentences)):
        raise ValueError("its numbers of sentences and of sentence vectors differ")
    if any(count < 1 for count in row.terms.values()):
        raise ValueError("the count of a term is below 1")
    if normalize_fields(row.fields) != row.fields:
        raise ValueError("its fields aren't in the form that filters compare")


def _sentences(arrays: _Arrays, rows: int) -> FloatArray:
    with np.errstate(all="ignore"):
        return _unit(dequantized(arrays.scales.take(rows), arrays.sentences.take(rows)))


def _unit(rows: FloatArray) -> FloatArray:
    """Return the rows unchanged. Raise ValueError unless each has length 1 or is all zeros."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(rows, axis=1)
    # Written so that NaN fails, too.
    if not np.all((np.abs(lengths - 1) < _ROUNDING) | (lengths == 0)):
        raise ValueError("the length of a vector isn't 1")
    return rows
