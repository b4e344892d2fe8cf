"""The steps from a file to its documents, which the reading process takes within limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.disk.files import source_of
from answerable.errors import EmptySource, ReaderFailed, SourceTooLarge, UnsupportedSource
from answerable.formats.format import Format
from answerable.formats.registry import is_rendered_chat, with_format
from answerable.sources.archives.members import ReadMember
from answerable.sources.context import ReadContext, with_short_metadata
from answerable.sources.formats import first_bytes, packed_format, recognise
from answerable.text.characters import sendable

# Builtin exceptions that a file causes, by its size, nesting or bytes, or by a memory limit that keeps a library from
# loading. Other builtin exceptions are bugs of this project; parsers raise their own exceptions for damaged files.
_OF_FILES = (MemoryError, RecursionError, OSError, UnicodeError, ImportError)


def beside_file(file: Path, max_size: int, name: str) -> bytes | None:
    """Return the bytes of the file of this name in the folder of `file`, or None. Raise SourceError."""
    path = file.parent / PurePath(name).name
    return load(path, source_of(path), max_size) if path.is_file() else None


def format_of(file: Path | bytes, source: str) -> Format:
    """Return the format of a file. Raise SourceError if it can't be opened or its format isn't supported."""
    found = recognise(first_bytes(file, source), source)
    # The members of a zip file count more than its suffix.
    is_zip = found.packed or found.name == "zip"
    return (packed_format(file, source) if is_zip else None) or found


def read_members(
    form: Format, file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext
) -> list[Document]:
    """Return the documents of all members of a file whose format contains other files. Raise SourceError."""
    assert form.read_members
    with _naming_bugs(form, source):
        return form.read_members(file, source, read_member, context)


@contextmanager
def _naming_bugs(form: Format, source: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if type(error).__module__ != "builtins" or isinstance(error, _OF_FILES):
            raise
        what = f"{type(error).__name__}: {sendable(str(error)[:300])}"
        raise ReaderFailed(
            f"{source}: the reader of {form.name} failed ({what}): please report it, or leave the file out"
        ) from error


def with_metadata(document: Document, metadata: Mapping[str, Any]) -> Document:
    """Return the document with this metadata added; cut the metadata to the lengths that are stored."""
    return with_short_metadata(replace(document, metadata={**document.metadata, **metadata}))


def load(file: Path | bytes, source: str, max_size: int) -> bytes:
    """Return a file's bytes. Raise SourceError, SourceTooLarge over `max_size`, and EmptySource."""
    data = first_bytes(file, source, max_size + 1)
    if len(data) > max_size:
        raise SourceTooLarge(f"{source} is over {max_size:,} bytes: split it, or raise the setting max_file_size")
    if not data:
        raise EmptySource(f"{source} is empty (0 bytes): download or save it again, or leave it out")
    return data


def read_bytes(
    data: bytes, source: str, context: ReadContext | None = None, *, known: Format | None = None
) -> list[Document]:
    """Return the documents in a file's bytes.

    `known` is the file's format, if its name and first bytes don't show it. Raise UnsupportedSource for a file that
    contains others.
    """
    context = replace(context or ReadContext(), left_out=[])
    found = known or format_of(data, source)
    if found.read is None:
        raise UnsupportedSource(f"{source} contains other files: read it with a FileReader")
    with _naming_bugs(found, source):
        documents = found.read(data, source, context)
    if context.beside and isinstance(documents, Document) and documents.type is DocumentType.CHAT:
        from answerable.sources.whatsapp.voice_notes import with_voice_notes

        documents = documents if is_rendered_chat(documents) else with_voice_notes(documents, data, context)
    listed = [documents] if isinstance(documents, Document) else documents
    described = (replace(each, left_out=(*each.left_out, *context.left_out)) for each in listed)
    return [with_short_metadata(with_format(each, found)) for each in described]
