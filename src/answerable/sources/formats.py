"""Recognise the format of a file by its first bytes, then by its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

from answerable.errors import UnsupportedSource
from answerable.sources.code.languages import CODE_SUFFIXES
from answerable.sources.recordings import formats as recordings
from answerable.sources.text import decode, magic_name


class Format(str, Enum):
    """The file formats; each has its own reader."""

    PDF = "pdf"
    ZIP = "zip"
    HTML = "html"
    MARKDOWN = "markdown"
    DOCX = "docx"
    EPUB = "epub"
    CODE = "code"
    RECORDS = "records"
    TEXT = "text"
    RECORDING = "recording"


_SUFFIXES_BY_FORMAT = {
    Format.PDF: ".pdf",
    Format.ZIP: ".zip",
    Format.HTML: ".html .htm .xhtml",
    Format.MARKDOWN: ".md .markdown .mdx",
    Format.TEXT: ".txt .text .log .rst",
    Format.DOCX: ".docx .docm .dotx",
    Format.EPUB: ".epub",
    Format.RECORDS: ".csv .tsv .tab .json .jsonl .ndjson",
    Format.RECORDING: recordings.SUFFIXES,
    Format.CODE: " ".join(sorted(CODE_SUFFIXES)),
}
SUFFIXES: dict[str, Format] = {
    suffix: form for form, suffixes in _SUFFIXES_BY_FORMAT.items() for suffix in suffixes.split()
}
# Zip archives with another suffix: programs and documents of other formats.
_OTHER_ZIPS_NAMES = ".xlsx .xlsm .pptx .odt .ods .odp .jar .war .apk .whl .xpi .crx .kmz .3mf .key .pages .numbers"
_OTHER_ZIPS = frozenset(_OTHER_ZIPS_NAMES.split())
_BINARY = frozenset({Format.PDF, Format.ZIP, Format.DOCX, Format.EPUB, Format.RECORDING})
_PACKAGES = frozenset({Format.DOCX, Format.EPUB})
_PICTURES = frozenset({".svg", ".svgz"})
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SAMPLE = 8192
UNSUPPORTED = "unsupported"
_PAGE = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


def recognise(head: bytes, name: str) -> Format:
    """Return the format of a file from its first bytes and its name. Raise UnsupportedSource if no reader takes it."""
    suffix = PurePath(name).suffix.lower()
    known = SUFFIXES.get(suffix)
    if suffix in _PICTURES:
        raise UnsupportedSource(
            f"{name} is a picture: leave it out, or save the page that shows it as PDF and add that"
        )
    # The PDF mark may follow a few stray bytes; a text may mention it, so then the suffix has to match.
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-") or (known is Format.PDF and b"%PDF-" in head[:1024]):
        return Format.PDF
    if recordings.is_recording(head, suffix):
        return Format.RECORDING
    if head.startswith(_ZIP) and suffix not in _OTHER_ZIPS:
        return known if known in _PACKAGES and known else Format.ZIP
    if known is Format.DOCX and head.startswith(_OLE):
        # Word stores password-protected documents in its old container.
        return known
    if known in _BINARY and known and known is not Format.RECORDING and not magic_name(head):
        # Its first bytes are damaged, which its reader reports best.
        return known
    decode(_whole_characters(head), name)
    if known is None and _PAGE.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Format.HTML
    return known if known and known not in _BINARY else Format.TEXT


def _whole_characters(head: bytes) -> bytes:
    """Cut a sample between characters: UTF-8 at a line end if there is one, others at a multiple of four bytes."""
    if len(head) < SAMPLE:
        return head
    line_end = head.rfind(b"\n")
    return head[: line_end + 1] if line_end > len(head) // 2 and b"\0" not in head else head[: len(head) // 4 * 4]


def is_supported(head: bytes, name: str) -> bool:
    """Whether a reader takes a file with these first bytes and this name."""
    return not why_unread(head, name)


def why_unread(head: bytes, name: str) -> str:
    """Return why no reader takes a file with these first bytes and this name, or ""."""
    try:
        found = recognise(head, name)
    except UnsupportedSource:
        return UNSUPPORTED
    return recordings.NOT_HEARD if found is Format.RECORDING and not recordings.is_heard() else ""
