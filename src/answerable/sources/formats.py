"""Which reader takes a file: by its first bytes, then by its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

from answerable.errors import UnsupportedSource
from answerable.sources.code.languages import CODE_SUFFIXES
from answerable.sources.text import decode, magic_name


class Format(str, Enum):
    """What a file holds, as far as readers tell it apart."""

    PDF = "pdf"
    ZIP = "zip"
    HTML = "html"
    MARKDOWN = "markdown"
    DOCX = "docx"
    EPUB = "epub"
    CODE = "code"
    RECORDS = "records"
    TEXT = "text"


SUFFIXES: dict[str, Format] = {
    ".pdf": Format.PDF,
    ".zip": Format.ZIP,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".mdx": Format.MARKDOWN,
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".log": Format.TEXT,
    ".rst": Format.TEXT,
    ".docx": Format.DOCX,
    ".docm": Format.DOCX,
    ".dotx": Format.DOCX,
    ".epub": Format.EPUB,
    ".csv": Format.RECORDS,
    ".tsv": Format.RECORDS,
    ".tab": Format.RECORDS,
    ".json": Format.RECORDS,
    ".jsonl": Format.RECORDS,
    ".ndjson": Format.RECORDS,
    **dict.fromkeys(sorted(CODE_SUFFIXES), Format.CODE),
}
# Zip archives by another name: programs and documents of other formats.
_OTHER_ZIPS_NAMES = ".xlsx .xlsm .pptx .odt .ods .odp .jar .war .apk .whl .xpi .crx .kmz .3mf .key .pages .numbers"
_OTHER_ZIPS = frozenset(_OTHER_ZIPS_NAMES.split())
_BINARY = frozenset({Format.PDF, Format.ZIP, Format.DOCX, Format.EPUB})
_PACKAGES = frozenset({Format.DOCX, Format.EPUB})
# Pictures written as text.
_PICTURES = frozenset({".svg", ".svgz"})
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SAMPLE = 8192
_PAGE = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


def recognise(head: bytes, name: str) -> Format:
    """The format of a file by its first bytes and its name. Raises UnsupportedSource when no reader takes it."""
    suffix = PurePath(name).suffix.lower()
    known = SUFFIXES.get(suffix)
    if suffix in _PICTURES:
        raise UnsupportedSource(
            f"{name} is a picture: leave it out, or save the page that shows it as PDF and add that"
        )
    # The mark of a PDF may stand behind some bytes of rubbish; a text may speak of it, so the name has to agree.
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-") or (known is Format.PDF and b"%PDF-" in head[:1024]):
        return Format.PDF
    if head.startswith(_ZIP) and suffix not in _OTHER_ZIPS:
        return known if known in _PACKAGES and known else Format.ZIP
    if known is Format.DOCX and head.startswith(_OLE):
        # With a password, Word puts its documents into the container of its old ones.
        return known
    if known in _BINARY and known and not magic_name(head):
        # Broken beyond its mark: its own reader says so best.
        return known
    decode(_whole_characters(head), name)
    if known is None and _PAGE.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Format.HTML
    return known if known and known not in _BINARY else Format.TEXT


def _whole_characters(head: bytes) -> bytes:
    """A sample that isn't cut within a wide character; UTF-8 is cut at a line's end where there is one."""
    if len(head) < SAMPLE:
        return head
    line_end = head.rfind(b"\n")
    return head[: line_end + 1] if line_end > len(head) // 2 and b"\0" not in head else head[: len(head) // 4 * 4]


def is_supported(head: bytes, name: str) -> bool:
    """Whether a reader takes a file that begins so and is called so."""
    try:
        recognise(head, name)
    except UnsupportedSource:
        return False
    return True
