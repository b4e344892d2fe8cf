"""A file → the engine's document, in the encoding that the caller names where it fits."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import answerable
from answerable.errors import EmptySource, SourceError, SourceNotFound, UnsupportedSource
from answerable.settings import load_settings
from answerable.sources import (
    SUFFIXES,
    ReadContext,
    ReadingProcess,
    ReadLimits,
    source_of,
)

_NO_TEXT = frozenset(suffix for suffix, form in SUFFIXES.items() if form.is_binary or form.name == "opml")
_BLANK = b" \t\r\n\v\f\0\xef\xbb\xbf\xfe\xff"
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"{\\rtf")


class FileMissing(SourceNotFound, FileNotFoundError):
    """There is no file at the path."""


class IsFolder(SourceError, IsADirectoryError):
    """There is a folder at the path."""


def read_one(path: str | os.PathLike[str], encoding: str) -> answerable.Document:
    """The one document in a file. Raises SourceError, for a missing file one that is a FileNotFoundError too.

    Raises LookupError when there is no such encoding, UnsupportedSource for an archive of several documents.
    """
    codec = codecs.lookup(encoding).name
    file = Path(os.path.expanduser(path))
    if file.is_dir():
        raise IsFolder(f"{os.fspath(path)} is a folder: give its files one by one")
    try:
        # UTF-8 is what the engine tries first as well, and it gets along with a broken character.
        documents = None if codec == "utf-8" else _read_as(file, encoding)
        documents = answerable.read(path) if documents is None else documents
    except SourceNotFound as error:
        raise FileMissing(str(error)) from error
    except EmptySource:
        # A text may be empty, as in `Document.from_text`; a PDF or a page without one is told.
        if not _is_blank(file):
            raise
        known = SUFFIXES.get(file.suffix.lower())
        kind = known.kind if known and known.kind else answerable.DocumentType.TEXT
        documents = [answerable.Document.from_text("", source=source_of(file), type=kind)]
    if not documents:
        raise EmptySource(f"{os.fspath(path)} holds no document: check that it was saved completely")
    if len(documents) > 1:
        raise UnsupportedSource(f"{os.fspath(path)} holds {len(documents)} documents: unpack it and give each file")
    return documents[0]


def _is_blank(path: Path) -> bool:
    """Whether a text file holds nothing but white space and a mark of its encoding."""
    is_text = path.suffix.lower() not in _NO_TEXT
    return is_text and not path.read_bytes().translate(None, _BLANK)


def _read_as(path: Path, encoding: str) -> list[answerable.Document] | None:
    """The document of a text file in this encoding; None where it isn't one, or has a format with its own encoding."""
    if path.suffix.lower() in _NO_TEXT:
        return None
    limits = ReadLimits(load_settings().max_file_size)
    try:
        if not path.is_file() or path.stat().st_size > limits.max_file_size:
            return None
        data = path.read_bytes()
        if data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_MAGIC):
            return None
        # The mark says what the bytes are now, whatever a page declares about itself.
        marked = codecs.BOM_UTF8 + data.decode(encoding).removeprefix("\ufeff").encode("utf-8")
    except (OSError, UnicodeError):
        return None
    with ReadingProcess() as process:
        return process.read(marked, source_of(path), ReadContext(limits))
