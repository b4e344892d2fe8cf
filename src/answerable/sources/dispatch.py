"""File → Documents, read in this process; `ReadingProcess` reads files in a process with limits.

Each reader is imported on first use.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, cast

from answerable.datatypes import Document, DocumentType
from answerable.disk.names import source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound, SourceTooLarge, UnsupportedSource
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import ARCHIVES, PACKAGES, SAMPLE, Format, recognise
from answerable.sources.limits import with_short_metadata
from answerable.sources.members import ReadArchive, ReadMember
from answerable.sources.packed import packed_format
from answerable.sources.text import decode
from answerable.sources.zotero import described
from answerable.text.locate import is_rendered_chat

Reader = Callable[..., Document | list[Document]]
READERS_OF_BYTES = {
    Format.PDF: "answerable.sources.pdf.read:read_pdf",
    Format.HTML: "answerable.sources.html.read:read_saved",
    Format.CHAT_PAGE: "answerable.sources.chats.read:read_chat_page",
    Format.DOCX: "answerable.sources.office.docx:read_docx",
    Format.XLSX: "answerable.sources.spreadsheets.xlsx:read_xlsx",
    Format.PPTX: "answerable.sources.slides.pptx:read_pptx",
    Format.ODT: "answerable.sources.office.odt:read_odt",
    Format.ODS: "answerable.sources.spreadsheets.ods:read_ods",
    Format.ODP: "answerable.sources.slides.odp:read_odp",
    Format.RTF: "answerable.sources.office.rtf:read_rtf",
    Format.EPUB: "answerable.sources.office.epub:read_epub",
    Format.OPML: "answerable.sources.outlines.opml:read_opml",
    Format.PLUGIN: "answerable.sources.plugin_formats:read_by_plugin",
    Format.PICTURE: "answerable.sources.pictures:read_picture",
    Format.RECORDING: "answerable.sources.recordings.read:read_recording",
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
    Format.CALENDAR: "answerable.sources.entries.read:read_calendar",
    Format.CONTACTS: "answerable.sources.entries.read:read_contacts",
    Format.TEXT: "answerable.sources.plain:read_plain",
}
"""By format, a function of the decoded text and its source."""
READERS_OF_ARCHIVES = {
    **dict.fromkeys(ARCHIVES, "answerable.sources.archives.read:read_archive"),
    Format.MBOX: "answerable.sources.mail.mailbox:read_mailbox",
    Format.MAIL: "answerable.sources.mail.read:read_mail",
    Format.OUTLOOK: "answerable.sources.mail.outlook:read_outlook",
}
"""By format, a `ReadArchive`: of what holds other files, as a message does its attachments."""


def read_file(file: Path | bytes, context: ReadContext | None = None, source: str | None = None) -> list[Document]:
    """Return the documents in a file, given by path or bytes: one, or several from an archive. Raise SourceError.

    `source` defaults to the absolute path. Archive members that can't be read are recorded in `context.skipped`.
    """
    options = context or ReadContext()
    if source is None:
        source = source_of(file) if isinstance(file, Path) else ""
    if read := archive_reader(format_of(file, source)):
        # An export with its media may be larger than the limit, which applies to what is unpacked.
        return read(file, source, partial(_read_member, context=options), options)
    if isinstance(file, Path):
        options = replace(options, beside=partial(beside_file, file, options.limits.max_file_size))
    documents = read_bytes(load(file, source, options.limits.max_file_size), source, options)
    return described(documents, file if isinstance(file, Path) else None)


def beside_file(file: Path, max_size: int, name: str) -> bytes | None:
    """Return the bytes of the file of this name in the folder of `file`, or None. Raise SourceError."""
    path = file.parent / PurePath(name).name
    return load(path, source_of(path), max_size) if path.is_file() else None


def format_of(file: Path | bytes, source: str) -> Format:
    """Return the format of a file. Raise SourceError if it can't be opened or no reader takes it."""
    if isinstance(file, Path) and os.path.isdir(file):
        # The files of one conversation.
        return Format.RECORDS
    found = recognise(_load(file, source, SAMPLE), source)
    # What is in the zip counts more than its suffix.
    is_zip = found is Format.ZIP or found in PACKAGES
    return (packed_format(file, source) if is_zip else None) or found


def archive_reader(found: Format) -> ReadArchive | None:
    """Return the reader of a format whose files hold others, or None."""
    return cast("ReadArchive", _function(READERS_OF_ARCHIVES[found])) if found in READERS_OF_ARCHIVES else None


def _read_member(
    data: bytes | Document,
    source: str,
    *,
    known: Format | None = None,
    metadata: Mapping[str, Any] | None = None,
    beside: Beside | None = None,
    context: ReadContext,
    outer: Mapping[str, Any] | None = None,
) -> list[Document]:
    """Read a member in this process; `outer` is the metadata of the members that it is in."""
    added = {**(outer or {}), **(metadata or {})}
    if isinstance(data, Document):
        return [with_metadata(data, added)]
    if is_archive(data, source, known):
        inside = partial(_read_member, context=context, outer=added)
        return read_bytes(data, source, context, known=known, read_member=inside)
    own = replace(context, beside=beside)
    return [with_metadata(each, added) for each in read_bytes(data, source, own, known=known)]


def is_archive(data: bytes, source: str, known: Format | None = None) -> bool:
    """Whether the bytes of a file, perhaps of a known format, are an archive, a mailbox or a message."""
    return (known or format_of(data, source)) in READERS_OF_ARCHIVES


def with_metadata(document: Document, metadata: Mapping[str, Any]) -> Document:
    """Return the document with more metadata, cut to what is stored."""
    return with_short_metadata(replace(document, metadata={**document.metadata, **metadata}))


def load(file: Path | bytes, source: str, max_size: int) -> bytes:
    """Return a file's bytes. Raise SourceError, SourceTooLarge over `max_size`, and EmptySource."""
    data = _load(file, source, max_size + 1)
    if len(data) > max_size:
        raise SourceTooLarge(f"{source} is over {max_size:,} bytes: split it, or raise the setting max_file_size")
    if not data:
        raise EmptySource(f"{source} is empty (0 bytes): download or save it again, or leave it out")
    return data


def read_bytes(
    data: bytes,
    source: str,
    context: ReadContext | None = None,
    *,
    known: Format | None = None,
    read_member: ReadMember | None = None,
) -> list[Document]:
    """Return the documents in a file's bytes, those of a message with the documents attached to it.

    `known` is the file's format, if its name and first bytes don't tell it. Raise UnsupportedSource for an archive.
    """
    context = context or ReadContext()
    found = known or format_of(data, source)
    if found in ARCHIVES:
        raise UnsupportedSource(f"{source} is an archive: read it with read_file, or unpack it and add the folder")
    if read_archive := archive_reader(found):
        return read_archive(data, source, read_member or partial(_read_member, context=context), context)
    by_bytes = found in READERS_OF_BYTES
    read = cast("Reader", _function(READERS_OF_BYTES[found] if by_bytes else READERS_OF_TEXT[found]))
    documents = read(data, source, context) if by_bytes else read(decode(data, source), source)
    if context.beside and isinstance(documents, Document) and _is_whatsapp(documents):
        from answerable.sources.whatsapp.voice_notes import with_voice_notes

        documents = with_voice_notes(documents, data, context)
    return [with_short_metadata(each) for each in ([documents] if isinstance(documents, Document) else documents)]


def _is_whatsapp(document: Document) -> bool:
    return document.type is DocumentType.CHAT and not is_rendered_chat(document)


def _function(path: str) -> object:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


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
