"""Recognise the format of a file by its first bytes, then by its name."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

from answerable.errors import UnsupportedSource
from answerable.sources.code.languages import CODE_SUFFIXES
from answerable.sources.ocr.sizes import GIF, JPEG, PNG, TIFF, heif_name, is_webp
from answerable.sources.old_formats import OLE, apple_format, old_format
from answerable.sources.recordings import formats as recordings
from answerable.sources.text import decode, magic_name


class Format(str, Enum):
    """The file formats; each has its own reader."""

    PDF = "pdf"
    ZIP = "zip"
    TAR = "tar"
    COMPRESSED = "compressed"
    PLUGIN = "plugin"
    HTML = "html"
    CHAT_PAGE = "chat page"
    MARKDOWN = "markdown"
    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    EPUB = "epub"
    CODE = "code"
    RECORDS = "records"
    NOTEBOOK = "notebook"
    RST = "rst"
    ORG = "org"
    ASCIIDOC = "asciidoc"
    LATEX = "latex"
    SUBTITLES = "subtitles"
    OPML = "opml"
    BOOKMARKS = "bookmarks"
    MAIL = "mail"
    MBOX = "mbox"
    OUTLOOK = "outlook"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    TEXT = "text"
    PICTURE = "picture"
    RECORDING = "recording"


_SUFFIXES_BY_FORMAT = {
    Format.PDF: ".pdf",
    Format.ZIP: ".zip",
    Format.TAR: ".tar",
    Format.COMPRESSED: ".gz .tgz .bz2 .tbz .tbz2 .xz .txz",
    Format.HTML: ".html .htm .xhtml",
    Format.MARKDOWN: ".md .markdown .mdx",
    Format.TEXT: ".txt .text .log",
    Format.DOCX: ".docx .docm .dotx .dotm",
    Format.XLSX: ".xlsx .xlsm .xltx .xltm",
    Format.PPTX: ".pptx .pptm .ppsx .ppsm .potx .potm",
    Format.ODT: ".odt .ott",
    Format.ODS: ".ods .ots",
    Format.ODP: ".odp .otp",
    Format.RTF: ".rtf",
    Format.EPUB: ".epub",
    Format.RECORDS: ".csv .tsv .tab .json .jsonl .ndjson",
    Format.NOTEBOOK: ".ipynb",
    Format.RST: ".rst",
    Format.ORG: ".org",
    Format.ASCIIDOC: ".adoc .asciidoc",
    Format.LATEX: ".tex .latex .ltx",
    Format.SUBTITLES: ".srt .vtt",
    Format.OPML: ".opml",
    Format.MAIL: ".eml .emlx",
    Format.MBOX: ".mbox .mbx",
    Format.OUTLOOK: ".msg",
    Format.CALENDAR: ".ics .ical .ifb",
    Format.CONTACTS: ".vcf .vcard",
    Format.PICTURE: ".png .jpg .jpeg .jpe .jfif .gif .webp .bmp .tif .tiff .heic .heif .hif .avif",
    Format.RECORDING: recordings.SUFFIXES,
    Format.CODE: " ".join(sorted(CODE_SUFFIXES)),
}
SUFFIXES: dict[str, Format] = {
    suffix: form for form, suffixes in _SUFFIXES_BY_FORMAT.items() for suffix in suffixes.split()
}
# Zip archives with another suffix: programs and documents of other formats.
_OTHER_ZIPS_NAMES = ".jar .war .apk .whl .xpi .crx .kmz .3mf"
_OTHER_ZIPS = frozenset(_OTHER_ZIPS_NAMES.split())
ARCHIVES = frozenset({Format.ZIP, Format.TAR, Format.COMPRESSED})
PACKAGES = frozenset({Format.DOCX, Format.XLSX, Format.PPTX, Format.ODT, Format.ODS, Format.ODP, Format.EPUB})
"""Documents that are zip archives."""
_BINARY = PACKAGES | ARCHIVES | {Format.PDF, Format.PICTURE, Format.RECORDING}
_MAIL = frozenset({Format.MAIL, Format.MBOX})
_IN_OLE = frozenset({Format.DOCX, Format.XLSX, Format.PPTX, Format.OUTLOOK})
_DRAWINGS = frozenset({".svg", ".svgz"})
# What Thunderbird keeps beside a mailbox: its index.
_INDEXES = frozenset({".msf"})
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# Other programs compress files of their own formats: only with its suffix is a file unpacked.
_COMPRESSED = re.compile(rb"\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\x00")
_RTF = b"{\\rtf"
PICTURE_MARKS = (PNG, JPEG, *GIF)
SAMPLE = 8192
# Browsers export their bookmarks as pages that begin like this.
_BOOKMARKS = re.compile(rb"\s*<!doctype\s+netscape-bookmark-file-1", re.IGNORECASE)
BUNDLE = "several files of one conversation"
"""The key of the JSON that `chats.bundles` makes: the texts of files by name."""
_BUNDLE = f'{{"{BUNDLE}":'.encode()
# A page that Telegram, DiscordChatExporter or imessage-exporter wrote; its reader looks again.
_CHAT_PAGE = re.compile(
    rb"<title>Exported Data</title>|\.chatlog__|class=[\"'](?:chatlog|message_part|announcement|sent iMessage)\b"
)
_MAILBOX = re.compile(rb"From (?:[^\n]*\d\d:\d\d[^\n]*)?\r?\n(?:>?From [^\n]*\n)?[!-9;-~]{1,70}:")
_HEADER = re.compile(rb"^([!-9;-~]{1,70}):", re.MULTILINE)
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n|\Z")
# A note may begin with "From:", too.
_OF_MAIL = frozenset(
    {b"message-id", b"received", b"mime-version", b"return-path", b"delivered-to", b"x-mozilla-status"}
)
_PAGE = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


def recognise(head: bytes, name: str) -> Format:
    """Return the format of a file from its first bytes and its name. Raise UnsupportedSource if no reader takes it."""
    suffix = PurePath(name).suffix.lower()
    known = SUFFIXES.get(suffix)
    if known is None and _is_of_plugin(suffix):
        return Format.PLUGIN
    if suffix in _DRAWINGS:
        raise UnsupportedSource(
            f"{name} is a picture: leave it out, or save the page that shows it as PDF and add that"
        )
    if head.startswith(_BUNDLE):
        return Format.RECORDS
    if suffix in _INDEXES:
        raise UnsupportedSource(f"{name} is the index of a mailbox: add the mailbox beside it, or leave it out")
    # Photographs of cameras in their own formats begin like TIFF files, so for these the suffix has to match.
    if known is Format.PICTURE and head.startswith(TIFF):
        return known
    if known in (None, Format.PICTURE) and (head.startswith(PICTURE_MARKS) or is_webp(head) or heif_name(head)):
        return Format.PICTURE
    # The PDF mark may follow a few stray bytes; a text may mention it, so then the suffix has to match.
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-") or (known is Format.PDF and b"%PDF-" in head[:1024]):
        return Format.PDF
    if old := apple_format(head, suffix):
        raise UnsupportedSource(f"{name} is {old.what}: {old.advice}")
    if recordings.is_recording(head, suffix):
        return Format.RECORDING
    if head.startswith(_ZIP) and suffix not in _OTHER_ZIPS:
        return known if known in PACKAGES and known else Format.ZIP
    if is_tar(head):
        return Format.TAR
    if known is Format.COMPRESSED and _COMPRESSED.match(head):
        return known
    if head.startswith(_RTF):
        return Format.RTF
    if head.startswith(OLE):
        if known in _IN_OLE and known:
            # Office stores password-protected documents in its old container, Outlook its messages.
            return known
        if old := old_format(head, suffix):
            raise UnsupportedSource(f"{name} is {old.what}: {old.advice}")
    if mail := _mail(head, known):
        return mail
    if known in _BINARY and known and known is not Format.RECORDING and not magic_name(head):
        # Its first bytes are damaged, which its reader reports best.
        return known
    decode(_whole_characters(head), name)
    if known in (None, Format.HTML) and _BOOKMARKS.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Format.BOOKMARKS
    is_page = known is Format.HTML or (known is None and _PAGE.match(head.removeprefix(b"\xef\xbb\xbf")))
    if is_page:
        return Format.CHAT_PAGE if _CHAT_PAGE.search(head) else Format.HTML
    # Robots too have messages in files named `.msg`, which are text.
    return known if known and known not in _BINARY and known is not Format.OUTLOOK else Format.TEXT


def _mail(head: bytes, known: Format | None) -> Format | None:
    """Return the format of mail: by name, or by what a file without a known suffix begins with, as in a Maildir."""
    if known in _MAIL:
        return None if magic_name(head) else known
    if known is not None:
        return None
    if _MAILBOX.match(head):
        return Format.MBOX
    headers = {match[1].lower() for match in _HEADER.finditer(_END_OF_HEADERS.split(head, maxsplit=1)[0])}
    return Format.MAIL if b"from" in headers and headers & _OF_MAIL and _HEADER.match(head) else None


def _whole_characters(head: bytes) -> bytes:
    """Cut a sample between characters: UTF-8 at a line end if there is one, others at a multiple of four bytes."""
    if len(head) < SAMPLE:
        return head
    line_end = head.rfind(b"\n")
    return head[: line_end + 1] if line_end > len(head) // 2 and b"\0" not in head else head[: len(head) // 4 * 4]


def _is_of_plugin(suffix: str) -> bool:
    """Whether a plug-in reads a suffix that is not built in."""
    from answerable.sources.plugin_formats import plugin_format

    return plugin_format(suffix) is not None


def is_tar(head: bytes) -> bool:
    """Whether a file is a tar archive, by its first 512 bytes; those of Unix V7 have no mark."""
    return head[257:262] == b"ustar" and b"\0" in head[:512]
