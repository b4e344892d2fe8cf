"""Recognise the format of a file by its first bytes, then by its name; for a zipped document, by its members.

Also says why a file is left out, and how to convert unsupported documents (Office before 2007).
"""

from __future__ import annotations

import lzma
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path, PurePath

from answerable.errors import SourceError, SourceNotFound, UnsupportedSource, install_command
from answerable.formats.built_in import FORMATS, PICTURE, RECORDING
from answerable.formats.format import Format, Names
from answerable.formats.marks import OLE, heif_name
from answerable.formats.registry import format_called, plugin_format, suffixes
from answerable.sources.context import Ocr
from answerable.sources.ocr.pictures import undecoded
from answerable.sources.text import decode, magic_name

SUFFIXES = suffixes()
UNPACKING = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, RuntimeError)
"""Exceptions of unpacking damaged or encrypted data: each compression method has its own."""
SAMPLE = 8192
"""First bytes of a file to inspect: the marks of a chat export are in the head of its page. A guess, not measured."""
_DRAWINGS = frozenset({".svg", ".svgz"})
# Suffix of the index that Thunderbird keeps next to a mailbox.
_INDEXES = frozenset({".msf"})
# Bytes of the member `mimetype`: media types take up to 80; in a hostile archive, the member may be larger.
_LONGEST_TYPE = 200


def first_bytes(path: Path | bytes, source: str, size: int = SAMPLE) -> bytes:
    """Return the first `size` bytes of a file; by default those that show its format. Raise SourceError."""
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


def recognise(head: bytes, name: str) -> Format:
    """Return the format of a file from its first bytes and its name. Raise UnsupportedSource if it isn't supported."""
    suffix = PurePath(name).suffix.lower()
    known = SUFFIXES.get(suffix)
    if known is None and (added := plugin_format(suffix)):
        return added
    _refuse(name, suffix)
    for form in FORMATS:
        decides = form.marks_decide is Names.ANY or suffix in form.suffixes
        decides = decides or (form.marks_decide is Names.FREE and (known is None or known.needs_marks))
        if decides and form.marks and form.marks(head, suffix):
            break
    else:
        if head.startswith(OLE) and (old := old_format(head, suffix)):
            raise UnsupportedSource(f"{name} is {old.what}: {old.advice}")
        form = format_called("text") if known is None or known.needs_marks else known
        if form.is_binary and magic_name(head):
            form = format_called("text")
    if not form.is_binary:
        decode(_whole_characters(head), name)
    return form


def _refuse(name: str, suffix: str) -> None:
    """Raise UnsupportedSource for files that would be mistaken for other formats."""
    if suffix in _DRAWINGS:
        raise UnsupportedSource(
            f"{name} is a picture: leave it out, or save the page that shows it as PDF and add that"
        )
    if suffix in _INDEXES:
        raise UnsupportedSource(f"{name} is the index of a mailbox: add the mailbox beside it, or leave it out")


def _whole_characters(head: bytes) -> bytes:
    """Cut a sample between characters: UTF-8 at a line end if there is one, otherwise at a multiple of four bytes."""
    if len(head) < SAMPLE:
        return head
    line_end = head.rfind(b"\n")
    return head[: line_end + 1] if line_end > len(head) // 2 and b"\0" not in head else head[: len(head) // 4 * 4]


def packed_format(file: Path | bytes, source: str) -> Format | None:
    """Return the format of a zipped document, whatever its name; None for other archives, and for damaged files.

    Raises UnsupportedSource, with advice, for formats that only the programs that write them can read.
    """
    packages = [form for form in FORMATS if form.packed]
    try:
        with zipfile.ZipFile(BytesIO(file) if isinstance(file, bytes) else file) as archive:
            members = {name.replace("\\", "/").lstrip("/"): name for name in archive.namelist()}
            if found := next((form for form in packages if form.packed in members), None):
                return found
            if "mimetype" in members:
                with archive.open(members["mimetype"]) as member:
                    stated = member.read(_LONGEST_TYPE).decode("ascii", "replace").strip().removesuffix("-template")
                return next((form for form in packages if form.packed == stated), None)
    except UNPACKING:
        return None
    if old := next((old for name, old in _OTHER_PACKAGES.items() if name in members), None):
        raise UnsupportedSource(f"{PurePath(source).name or source} is {old.what}: {old.advice}")
    return None


@dataclass(frozen=True, slots=True)
class OldFormat:
    """An unsupported format: its description ("an old Word document (.doc)"), and how to convert the document."""

    what: str
    advice: str


def _old(program: str, kind: str, suffix: str) -> OldFormat:
    advice = f"open it in {program} or LibreOffice, save it as {suffix}x, and add that file"
    return OldFormat(f"an old {kind} ({suffix})", advice)


_DOC = _old("Word", "Word document", ".doc")
_XLS = OldFormat("an old Excel workbook (.xls)", "give its name the suffix .xls, and add it again")
_PPT = _old("PowerPoint", "PowerPoint presentation", ".ppt")
# Names of the streams in Microsoft's container, where they are written in UTF-16.
_STREAMS = {"WordDocument": _DOC, "PowerPoint Document": _PPT, "Workbook": _XLS, "Book": _XLS}
_OLD_SUFFIXES = {".doc": _DOC, ".dot": _DOC, ".ppt": _PPT, ".pps": _PPT, ".pot": _PPT}
APPLE = OldFormat(
    "a document of Apple's Pages, Numbers or Keynote",
    "open it there or on icloud.com, export it as Word, Excel, PowerPoint or PDF, and add that file",
)
BINARY_WORKBOOK = OldFormat(
    "a binary Excel workbook (.xlsb)", "open it in Excel or LibreOffice, save it as .xlsx, and add that file"
)
_OTHER_PACKAGES = {"xl/workbook.bin": BINARY_WORKBOOK, "Index/Document.iwa": APPLE, "Index.zip": APPLE}


def old_format(data: bytes, suffix: str = "") -> OldFormat | None:
    """Return the old format of a file in Microsoft's container, by its streams and then by its suffix."""
    if not data.startswith(OLE):
        return None
    found = next((old for name, old in _STREAMS.items() if f"{name}\0".encode("utf-16-le") in data), None)
    return found or _OLD_SUFFIXES.get(suffix)


UNSUPPORTED = "unsupported"
# How the files begin that signal-export writes beside the same chat in `chat.md`.
_OF_SIGNAL = {
    "data.json": re.compile(rb'\{"date": "[^"]{10,40}", "sender": "'),
    "index.html": re.compile(rb"\s{0,9}<!doctype html>.{1,2000}<a href=#pg0>FIRST</a>", re.DOTALL),
}
WITHOUT_TEXT = "picture without text"


def without_ocr() -> str:
    """Return the reason for leaving out pictures if no OCR is installed."""
    return f"picture ({install_command('ocr')})"


def not_heard() -> str:
    """Return the reason for leaving out recordings if no speech recognition is installed."""
    return f"recording ({install_command('audio')})"


def why_unread(head: bytes, name: str, ocr: Ocr | None) -> str:
    """Return why a file can't be read or needn't be, or ""."""
    try:
        form = recognise(head, name)
    except UnsupportedSource:
        return UNSUPPORTED
    if (copy := _OF_SIGNAL.get(PurePath(name).name)) and copy.match(head):
        return "copy of a Signal chat (chat.md)"
    if form is RECORDING:
        return "" if find_spec("faster_whisper") else not_heard()
    if form is not PICTURE:
        return ""
    if ocr is None:
        return without_ocr()
    return f"{heif_name(head)} picture (save it as JPEG)" if undecoded(head, ocr) else ""
