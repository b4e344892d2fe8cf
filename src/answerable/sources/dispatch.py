"""File → Documents, read in this process; `ReadingProcess` reads files in a process with limits.

Each reader is imported on first use.
"""

from __future__ import annotations

import stat
from functools import partial
from pathlib import Path

from answerable.datatypes import Document
from answerable.disk.names import source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound, SourceTooLarge, UnsupportedSource
from answerable.sources.context import ReadContext
from answerable.sources.formats import SAMPLE, Format, recognise
from answerable.sources.limits import with_short_metadata
from answerable.sources.text import decode, read_text


def read_file(file: Path | bytes, context: ReadContext | None = None, source: str | None = None) -> list[Document]:
    """Return the documents in a file, given by path or bytes: one, or several from an archive. Raise SourceError.

    `source` defaults to the absolute path. Archive members that can't be read are recorded in `context.skipped`.
    """
    context = context or ReadContext()
    if source is None:
        source = source_of(file) if isinstance(file, Path) else ""
    if is_archive(file, source):
        from answerable.sources.archives import read_zip

        # An export with its media may be larger than the limit, which applies to what is unpacked.
        return read_zip(file, source, partial(read_bytes, context=context), context)
    return read_bytes(load(file, source, context.limits.max_file_size), source, context)


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
    """Return the document in a file's bytes. Raise UnsupportedSource for an archive."""
    return [with_short_metadata(_read(data, source, context or ReadContext()))]


def _read(data: bytes, source: str, context: ReadContext) -> Document:
    match recognise(data[:SAMPLE], source):
        case Format.PDF:
            from answerable.sources.pdf.read import read_pdf

            return read_pdf(data, source, context)
        case Format.HTML:
            from answerable.sources.html.read import read_html

            return read_html(data, source)
        case Format.MARKDOWN:
            from answerable.sources.markdown import read_markdown

            return read_markdown(decode(data, source), source)
        case Format.DOCX:
            from answerable.sources.office.docx import read_docx

            return read_docx(data, source, context)
        case Format.EPUB:
            from answerable.sources.office.epub import read_epub

            return read_epub(data, source, context)
        case Format.CODE:
            from answerable.sources.code.read import read_code

            return read_code(decode(data, source), source)
        case Format.RECORDS:
            from answerable.sources.tables.read import read_records

            return read_records(decode(data, source), source)
        case Format.ZIP:
            raise UnsupportedSource(f"{source} is an archive within another: unpack it and add the folder instead")
    return _read_plain(decode(data, source), source)


def _read_plain(content: str, source: str) -> Document:
    from answerable.sources.whatsapp.read import is_chat, read_chat

    return read_chat(content, source) if is_chat(content) else read_text(content, source)


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
