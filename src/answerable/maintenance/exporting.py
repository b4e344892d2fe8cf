"""Exports a library to a zip file. Equal contents give identical bytes, whatever store they come from.

Archive members are written to temporary files first, since the manifest, which precedes them, has their sizes. The
largest document determines how much memory is used.
"""

from __future__ import annotations

import glob
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from answerable.codec import to_line
from answerable.disk.files import is_full, no_room, replacing
from answerable.errors import LibraryError
from answerable.maintenance.archive import (
    ARRAYS,
    CHUNKS,
    DOCUMENTS,
    FORMAT,
    LINES,
    MANIFEST,
    MEMBERS,
    RECORDS,
    SCALES,
    SENTENCES,
    VECTORS,
    Counts,
    DocumentRow,
    Manifest,
    Size,
    array_header,
    chunk_row,
)
from answerable.maintenance.copy import whole_document
from answerable.protocols import IndexedChunk, Store
from answerable.stores.records import quantized, vector_to_bytes

# Bytes in memory at once.
_BLOCK = 1 << 20
# The earliest time in the zip format, so that the time of the export doesn't change the bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)
# File permissions (owner may write, all may read) in the upper 16 bits, as zip programs store them.
_MODE = 0o644 << 16
# Seconds without a write after which an export must have been killed.
_ABANDONED_AFTER = 3600.0


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Progress of exporting: documents done and in total, their chunks, and the size of the finished file."""

    exported: int = 0
    documents: int = 0
    chunks: int = 0
    bytes: int = 0


OnExported = Callable[[ExportReport], None]


def export_store(
    store: Store, path: Path, overwrite: bool = False, on_progress: OnExported | None = None
) -> ExportReport:
    """Write the whole library to a file, completely or not at all.

    Of documents added or removed meanwhile, the file may have any, each of them consistent. Raise LibraryError if the
    file exists, unless `overwrite`, and EmbedderMismatch if the vectors are replaced meanwhile.
    """
    if path.exists() and not overwrite:
        raise LibraryError(f"{path} exists already. Choose another name, or overwrite it with --force.")
    try:
        with ExitStack() as stack:
            members = {name: stack.enter_context(tempfile.TemporaryFile(dir=path.parent)) for name in MEMBERS}
            report, manifest = _fill(members, store, on_progress)
            _write(path, manifest, members)
    except OSError as error:
        if is_full(error, path):
            raise no_room(path) from error
        raise LibraryError(
            f"{path} can't be written ({error.strerror or error}). Check the folder and the space on its disk "
            "(twice the size of the file is needed), then try again."
        ) from error
    return replace(report, bytes=path.stat().st_size)


def _fill(
    members: Mapping[str, IO[bytes]], store: Store, on_progress: OnExported | None
) -> tuple[ExportReport, Manifest]:
    # Reading `fingerprint` binds the store: if vectors are replaced meanwhile, it raises an error and doesn't mix them.
    fingerprint = store.fingerprint
    for record in (records := store.records()):
        members[RECORDS].write(to_line(record))
    listed = list(store.documents())
    report, counts = ExportReport(documents=len(listed)), Counts(records=len(records))
    for _, document, chunks in filter(None, (whole_document(store, each) for each in listed)):
        members[DOCUMENTS].write(to_line(DocumentRow(document, len(chunks))))
        sentences = sum(_write_chunk(members, indexed) for indexed in chunks)
        counts = Counts(counts.documents + 1, counts.chunks + len(chunks), counts.sentences + sentences, counts.records)
        report = replace(report, exported=counts.documents, chunks=counts.chunks)
        if on_progress:
            on_progress(report)
    manifest = Manifest(FORMAT, fingerprint, counts)
    sizes = {name: _size(members[name], _header(manifest, name)) for name in MEMBERS}
    return report, replace(manifest, members=sizes)


def _write_chunk(members: Mapping[str, IO[bytes]], indexed: IndexedChunk) -> int:
    """Write a chunk and its vectors; return the number of its sentence vectors."""
    # Add 0 to drop the sign of zeros, which not every store keeps.
    members[CHUNKS].write(to_line(chunk_row(indexed)))
    members[VECTORS].write(vector_to_bytes(indexed.vector + np.float32(0)))
    scales, rows = quantized(indexed.sentence_vectors)
    members[SCALES].write(scales.tobytes())
    members[SENTENCES].write(rows.tobytes())
    return len(rows)


def _size(file: IO[bytes], header: bytes) -> Size:
    """Return the size and SHA-256 of a member with these rows, both including its header."""
    file.seek(0)
    digest = sha256(header)
    while block := file.read(_BLOCK):
        digest.update(block)
    return Size(len(header) + file.tell(), digest.hexdigest())


def _header(manifest: Manifest, member: str) -> bytes:
    if member not in ARRAYS:
        return b""
    return array_header(member, manifest.counts.shape(member, manifest.dimension))


def _write(path: Path, manifest: Manifest, members: Mapping[str, IO[bytes]]) -> None:
    """Write the zip under another name, and rename it once it is on disk."""
    _remove_abandoned(path)
    with replacing(path, ".part") as file, ZipFile(file, "w") as archive:
        with archive.open(_info(MANIFEST), "w") as member:
            member.write(to_line(manifest))
        for name in MEMBERS:
            members[name].seek(0)
            with archive.open(_info(name), "w", force_zip64=True) as member:
                member.write(_header(manifest, name))
                shutil.copyfileobj(members[name], member, _BLOCK)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of killed exports to this path, which nobody has written to for a while."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _ABANDONED_AFTER:
                draft.unlink()


def _info(member: str) -> ZipInfo:
    info = ZipInfo(member, _MOMENT)
    # Store vectors uncompressed: they hardly compress, and this way they can be mapped into memory.
    info.compress_type = ZIP_DEFLATED if member in LINES else ZIP_STORED
    info.create_system, info.external_attr = 3, _MODE
    return info
