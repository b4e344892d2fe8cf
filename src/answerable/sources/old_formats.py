"""Recognise documents that no reader takes: Office's files before 2007, Apple's iWork. Say what to save them as."""

from __future__ import annotations

from dataclasses import dataclass

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True)
class OldFormat:
    """What a document is ("an old Word document (.doc)"), and what to do with it."""

    what: str
    advice: str


def _old(program: str, kind: str, suffix: str) -> OldFormat:
    advice = f"open it in {program} or LibreOffice, save it as {suffix}x, and add that file"
    return OldFormat(f"an old {kind} ({suffix})", advice)


def _apple(program: str, suffix: str, better: str) -> OldFormat:
    advice = f"open it in {program} or on icloud.com, export it as {better} or PDF, and add that file"
    return OldFormat(f"a document of Apple's {program} ({suffix})", advice)


_DOC = _old("Word", "Word document", ".doc")
_XLS = _old("Excel", "Excel workbook", ".xls")
_PPT = _old("PowerPoint", "PowerPoint presentation", ".ppt")
# The names of the streams in the container, in UTF-16.
_STREAMS = (
    ("WordDocument", _DOC),
    ("PowerPoint Document", _PPT),
    ("Workbook", _XLS),
    ("Book", _XLS),
)
_OLD_SUFFIXES = {
    **dict.fromkeys((".doc", ".dot"), _DOC),
    **dict.fromkeys((".xls", ".xlt", ".xla"), _XLS),
    **dict.fromkeys((".ppt", ".pps", ".pot"), _PPT),
}
_APPLE_SUFFIXES = {
    ".pages": _apple("Pages", ".pages", "Word (.docx)"),
    ".numbers": _apple("Numbers", ".numbers", "Excel (.xlsx)"),
    ".key": _apple("Keynote", ".key", "PowerPoint (.pptx)"),
}
APPLE = OldFormat(
    "a document of Apple's Pages, Numbers or Keynote",
    "open it there or on icloud.com, export it as Word, Excel, PowerPoint or PDF, and add that file",
)
BINARY_WORKBOOK = OldFormat(
    "a binary Excel workbook (.xlsb)", "open it in Excel or LibreOffice, save it as .xlsx, and add that file"
)


def old_format(data: bytes, suffix: str = "") -> OldFormat | None:
    """Return the old format of a file in Microsoft's container, by its streams and then by its suffix."""
    if not data.startswith(OLE):
        return None
    found = next((old for name, old in _STREAMS if _entry(name) in data), None)
    return found or _OLD_SUFFIXES.get(suffix)


def apple_format(data: bytes, suffix: str) -> OldFormat | None:
    """Return the format of a document of Apple's programs: a zip archive with one of their suffixes."""
    return _APPLE_SUFFIXES.get(suffix) if data.startswith(b"PK\x03\x04") else None


def _entry(name: str) -> bytes:
    """Return what a stream's name begins with in the container: its characters and the NUL after them."""
    return f"{name}\0".encode("utf-16-le")
