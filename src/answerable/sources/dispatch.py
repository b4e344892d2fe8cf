"""File → Documents, read in this process; `ReadingProcess` reads files in a process with limits.

Each reader is imported on first use.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import cast

from answerable.datatypes import Document
from answerable.disk.names import source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound, SourceTooLarge, UnsupportedSource
from answerable.sources.context import ReadContext
from answerable.sources.formats import ARCHIVES, SAMPLE, Format, recognise
from answerable.sources.limits import with_short_metadata
from answerable.sources.text import decode
from answerable.sources.zotero import described

READERS_OF_BYTES = {
    Format.PDF: "answerable.sources.pdf.read:read_pdf",
    Format.HTML: "answerable.sources.html.read:read_saved",
    Format.CHAT_PAGE: "answerable.sources.chats.read:read_chat_page",
    Format.DOCX: "answerable.sources.office.docx:read_docx",
    Format.EPUB: "answerable.sources.office.epub:read_epub",
    Format.OPML: "answerable.sources.outlines.opml:read_opml",
    Format.PLUGIN: "answerable.sources.plugin_formats:read_by_plugin",
}
"""By format, a function of the file's bytes, its source and the context that returns the document or documents."""
READERS_OF_TEXT = {
    Format.MARKDOWN: "answerable.sources.chats.read:read_markdown_or_chat",
    Format.CODE: "answerable.sources.code.read:read_code",
    Format.RECORDS: "answerable.sources.chats.read:read_records_or_chats",
    Format.NOTEBOOK: "answerable.sources.notebook.read:read_notebook",
    Format.RST: "answerable.sources.markup.rst:read_rst",
    Format.ORG: "answerable.sources.markup.org:read_org",
    Format.ASCIIDOC: "answerable.sources.markup.asciidoc:read_asciidoc",
    Format.LATEX: "answerable.sources.markup.latex:read_latex",
    Format.SUBTITLES: "answerable.sources.subtitles:read_subtitles",
    Format.BOOKMARKS: "answerable.sources.outlines.bookmarks:read_bookmarks",
    Format.TEXT: "answerable.sources.plain:read_plain",
}
"""By format, a function of the decoded text and its source."""


def read_file(file: Path | bytes, context: ReadContext | None = None, source: str | None = None) -> list[Document]:
    """Return the documents in a file, given by path or bytes: one, or several from an archive. Raise SourceError.

    `source` defaults to the absolute path. Archive members that can't be read are recorded in `context.skipped`.
    """
    context = context or ReadContext()
    if source is None:
        source = source_of(file) if isinstance(file, Path) else ""
    if is_archive(file, source):
        from answerable.sources.archives.read import read_archive

        # An export with its media may be larger than the limit, which applies to what is unpacked.
        return read_archive(file, source, partial(read_bytes, context=context), context)
    documents = read_bytes(load(file, source, context.limits.max_file_size), source, context)
    return described(documents, file if isinstance(file, Path) else None)


def is_archive(file: Path | bytes, source: str) -> bool:
    """Whether a file is an archive of other files. Raise SourceError if it can't be opened or its format is unknown."""
    if isinstance(file, Path) and os.path.isdir(file):
        return False
    return recognise(_load(file, source, SAMPLE), source) in ARCHIVES


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
    if found in ARCHIVES:
        raise UnsupportedSource(f"{source} is an archive: read it with read_file, or unpack it and add the folder")
    read = _reader(found)
    if found in READERS_OF_BYTES:
        documents = read(data, source, context or ReadContext())
    else:
        documents = read(decode(data, source), source)
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
            from answerable.sources.chats.bundles import load_folder

            return load_folder(path, source, size)
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
