"""File → Documents, read in this process; `ReadingProcess` reads files in a process with limits.

Each reader is imported on first use.
"""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import cast

from answerable.datatypes import Document, DocumentType
from answerable.disk.names import source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound, SourceTooLarge, UnsupportedSource
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import SAMPLE, Format, recognise
from answerable.sources.limits import with_short_metadata
from answerable.sources.text import decode

READERS_OF_BYTES = {
    Format.PDF: "answerable.sources.pdf.read:read_pdf",
    Format.HTML: "answerable.sources.html.read:read_saved",
    Format.DOCX: "answerable.sources.office.docx:read_docx",
    Format.EPUB: "answerable.sources.office.epub:read_epub",
    Format.RECORDING: "answerable.sources.recordings.read:read_recording",
}
"""By format, a function of the file's bytes, its source and the context that returns the document or documents."""
READERS_OF_TEXT = {
    Format.MARKDOWN: "answerable.sources.markdown:read_markdown",
    Format.CODE: "answerable.sources.code.read:read_code",
    Format.RECORDS: "answerable.sources.tables.read:read_records",
    Format.TEXT: "answerable.sources.plain:read_plain",
}
"""By format, a function of the decoded text and its source."""


def read_file(file: Path | bytes, context: ReadContext | None = None, source: str | None = None) -> list[Document]:
    """Return the documents in a file, given by path or bytes: one, or several from an archive. Raise SourceError.

    `source` defaults to the absolute path. Archive members that can't be read are recorded in `context.skipped`.
    """
    options = context or ReadContext()
    if source is None:
        source = source_of(file) if isinstance(file, Path) else ""
    if is_archive(file, source):
        from answerable.sources.archives import read_zip

        # An export with its media may be larger than the limit, which applies to what is unpacked.
        def read_member(data: bytes, name: str, beside: Beside | None) -> list[Document]:
            return read_bytes(data, name, replace(options, beside=beside))

        return read_zip(file, source, read_member, options)
    if isinstance(file, Path):
        options = replace(options, beside=partial(beside_file, file, options.limits.max_file_size))
    return read_bytes(load(file, source, options.limits.max_file_size), source, options)


def beside_file(file: Path, max_size: int, name: str) -> bytes | None:
    """Return the bytes of the file of this name in the folder of `file`, or None. Raise SourceError."""
    path = file.parent / PurePath(name).name
    return load(path, source_of(path), max_size) if path.is_file() else None


def is_archive(file: Path | bytes, source: str) -> bool:
    """Whether a file is an archive of other files. Raise SourceError if it can't be opened or its format is unknown."""
    return recognise(_load(file, source, SAMPLE), source) is Format.ZIP


def load(file: Path | bytes, source: str, max_size: int) -> bytes:
    """Return a file's bytes. Raise SourceError, SourceTooLarge over `max_size`, and EmptySource."""
    data = _load(file, source, max_size + 1)
    if len(data) > max_size:
        raise SourceTooLarge(f"{source} is over {max_size:,} bytes: split it, or raise the setting max_file_size")
    if not data:
        raise EmptySource(f"{source} is empty (0 bytes): download or save it again, or leave it out")
    return data


def read_bytes(data: bytes, source: str, context: ReadContext | None = None) -> list[Document]:
    """Return the documents in a file's bytes. Raise UnsupportedSource for an archive."""
    found = recognise(data[:SAMPLE], source)
    if found is Format.ZIP:
        raise UnsupportedSource(f"{source} is an archive within another: unpack it and add the folder instead")
    read = _reader(found)
    if found in READERS_OF_BYTES:
        documents = read(data, source, context or ReadContext())
    else:
        documents = read(decode(data, source), source)
    if isinstance(documents, Document) and documents.type is DocumentType.CHAT and context and context.beside:
        from answerable.sources.whatsapp.voice_notes import with_voice_notes

        documents = with_voice_notes(documents, data, context)
    return [with_short_metadata(each) for each in ([documents] if isinstance(documents, Document) else documents)]


def _reader(found: Format) -> Callable[..., Document | list[Document]]:
    module, _, name = (READERS_OF_BYTES.get(found) or READERS_OF_TEXT[found]).partition(":")
    return cast("Callable[..., Document | list[Document]]", getattr(import_module(module), name))


def _load(path: Path | bytes, source: str, size: int) -> bytes:
    """Return the first `size` bytes of a file."""
    if isinstance(path, bytes):
        return path[:size]
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise SourceError(f"{source} is a folder: use walk to read the files in it")
        if not stat.S_ISREG(status.st_mode):
            raise UnsupportedSource(f"{source} is a device or a pipe: save its output to a file, then add that file")
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError as error:
        raise SourceNotFound(f"there is no file at {source}: check the path") from error
    except PermissionError as error:
        raise SourceError(f"{source} can't be read, permission denied: give yourself the right to read it") from error
    except (OSError, ValueError) as error:
        raise SourceError(f"{source} can't be read ({error}): check the path and the disk, then try again") from error
