"""A library → a zip. The same documents, chunks, vectors and records give the same bytes, whichever store has them.

Members are written to temporary files first, since the manifest, which comes before them, says how large they are and
how many rows they have: a library of any size takes the memory of its largest document.
"""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from answerable.codec import to_line
from answerable.datatypes import Document
from answerable.errors import LibraryError
from answerable.maintenance.backup.members import (
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
from answerable.protocols import IndexedChunk, Store, StoredDocument
from answerable.stores.records import quantized, vector_to_bytes

_BLOCK = 1 << 20
# The earliest that a zip can say: files differ in nothing but what they hold.
_MOMENT = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16
_ABANDONED_AFTER = 3600.0


@dataclass(frozen=True, slots=True)
class ExportReport:
    """How far exporting has come: documents, of how many, their chunks, and the bytes of the file once it is there."""

    exported: int = 0
    documents: int = 0
    chunks: int = 0
    bytes: int = 0


OnExported = Callable[[ExportReport], None]


def export_store(
    store: Store, path: Path, overwrite: bool = False, on_progress: OnExported | None = None
) -> ExportReport:
    """Writes everything that a library holds to a file, which is there whole or not at all.

    What is added or removed meanwhile may be in it or not, but each document is of one moment. Raises LibraryError
    where a file is there already, unless `overwrite` says so, and EmbedderMismatch where the vectors are replaced
    meanwhile.
    """
    if path.exists() and not overwrite:
        raise LibraryError(f"{path} is there already. Choose another name, or give --force to write over it.")
    try:
        with ExitStack() as stack:
            members = {name: _Spool(stack.enter_context(tempfile.TemporaryFile(dir=path.parent))) for name in MEMBERS}
            report, manifest = _fill(members, store, on_progress)
            _write(path, manifest, members)
    except OSError as error:
        raise LibraryError(
            f"{path} can't be written ({error.strerror or error}). Check the folder and the space on its disk "
            "(twice the size of the file is needed), then try again."
        ) from error
    return replace(report, bytes=path.stat().st_size)


class _Spool:
    """What a member will be, in a temporary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def size(self, header: bytes) -> Size:
        """What it is with its header."""
        self.file.seek(0)
        digest = sha256(header)
        while block := self.file.read(_BLOCK):
            digest.update(block)
        return Size(len(header) + self.file.tell(), digest.hexdigest())


def _fill(members: dict[str, _Spool], store: Store, on_progress: OnExported | None) -> tuple[ExportReport, Manifest]:
    # It binds the store: when the vectors are replaced meanwhile, there is an error rather than a mixture.
    fingerprint = store.fingerprint
    for record in (records := store.records()):
        members[RECORDS].file.write(to_line(record))
    listed = list(store.documents())
    report, counts = ExportReport(documents=len(listed)), Counts(records=len(records))
    for document, chunks in _whole_documents(store, listed):
        members[DOCUMENTS].file.write(to_line(DocumentRow(document, len(chunks))))
        sentences = sum(_write_chunk(members, indexed) for indexed in chunks)
        counts = Counts(counts.documents + 1, counts.chunks + len(chunks), counts.sentences + sentences, counts.records)
        report = replace(report, exported=counts.documents, chunks=counts.chunks)
        if on_progress:
            on_progress(report)
    manifest = Manifest(FORMAT, fingerprint, counts)
    sizes = {name: members[name].size(_header(manifest, name)) for name in MEMBERS}
    return report, replace(manifest, members=sizes)


def _write_chunk(members: dict[str, _Spool], indexed: IndexedChunk) -> int:
    """Writes a chunk and its vectors; gives how many of its sentences have one."""
    # The sign of a zero, which not every store keeps, goes.
    members[CHUNKS].file.write(to_line(chunk_row(indexed)))
    members[VECTORS].file.write(vector_to_bytes(indexed.vector + np.float32(0)))
    scales, rows = quantized(indexed.sentence_vectors)
    members[SCALES].file.write(scales.tobytes())
    members[SENTENCES].file.write(rows.tobytes())
    return len(rows)


def _whole_documents(store: Store, listed: list[StoredDocument]) -> Iterator[tuple[Document, list[IndexedChunk]]]:
    """The listed documents with their chunks, each as it is at one moment; those that are gone are left out."""
    for known in listed:
        now: StoredDocument | None = known
        while now is not None:
            before, document, chunks = now, store.document(now.id), store.indexed_chunks(now.id)
            now = next((stored for stored in store.lookup(known.id, "") if stored.id == known.id), None)
            if now == before and document is not None:
                yield document, chunks
                break


def _header(manifest: Manifest, member: str) -> bytes:
    if member not in ARRAYS:
        return b""
    return array_header(member, manifest.counts.shape(member, manifest.dimension))


def _write(path: Path, manifest: Manifest, members: dict[str, _Spool]) -> None:
    """Writes the zip under another name first, and gives it its own once it is on the disk."""
    _remove_abandoned(path)
    # Nobody else may read what `mkstemp` makes, and so the export.
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            with ZipFile(file, "w") as archive:
                with archive.open(_info(MANIFEST), "w") as member:
                    member.write(to_line(manifest))
                for name in MEMBERS:
                    members[name].file.seek(0)
                    with archive.open(_info(name), "w", force_zip64=True) as member:
                        member.write(_header(manifest, name))
                        shutil.copyfileobj(members[name].file, member, _BLOCK)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _remove_abandoned(path: Path) -> None:
    """What was left by an export to this name that was killed. One that is alive writes all the time."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > _ABANDONED_AFTER:
                draft.unlink()


def _info(member: str) -> ZipInfo:
    info = ZipInfo(member, _MOMENT)
    # Vectors hardly become smaller; stored as they are they can be mapped into memory.
    info.compress_type = ZIP_DEFLATED if member in LINES else ZIP_STORED
    info.create_system, info.external_attr = 3, _MODE
    return info
