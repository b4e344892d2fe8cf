"""Recognition of file formats by the first bytes of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = rb"PK(?:\x03\x04|\x05\x06)"
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
GIF = (b"GIF87a", b"GIF89a")
TIFF = (b"II*\x00", b"MM\x00*")
BUNDLE = "several files of one conversation"
"""The key in the JSON of `chats.slack.bundle`, under which the texts of the files are listed by name."""
PAGES = (".html", ".htm", ".xhtml")
PICTURES = tuple(".png .jpg .jpeg .jpe .jfif .gif .webp .bmp .tif .tiff .heic .heif .hif .avif".split())
RECORDINGS = tuple(".opus .ogg .oga .m4a .mp3 .wav .mp4 .m4b .aac .flac .amr .3gp .webm".split())

# Pictures in the container of MP4, distinguished from sound by the first brand, or by others if that is "mif1".
_WEBP = re.compile(rb"RIFF....WEBP", re.DOTALL)
_HEIF = re.compile(rb"....ftyp(?:he[iv][cxms]|mif[12]|msf1|avi[fs])", re.DOTALL)
# (FFmpeg demuxer, media type, first bytes). Only the demuxer that the bytes indicate is tried, because some
# other demuxers open addresses and paths that are in the file.
_CONTAINERS = (
    ("ogg", "audio/ogg", re.compile(rb"OggS\0")),
    # MP4's container is also that of pictures and photographs (HEIC, AVIF, CR3).
    ("mov", "audio/mp4", re.compile(rb"....ftyp(?!he[iv][cxms]|mif[12]|msf1|avi[fs]|crx )", re.DOTALL)),
    ("wav", "audio/wav", re.compile(rb"(?:RIFF|RF64)....WAVE", re.DOTALL)),
    ("flac", "audio/flac", re.compile(rb"fLaC")),
    ("matroska", "audio/webm", re.compile(rb"\x1a\x45\xdf\xa3")),
    ("amr", "audio/amr", re.compile(rb"#!AMR")),
    # The layer bits of AAC are 0, those of MP3 are not.
    ("aac", "audio/aac", re.compile(rb"\xff[\xf0\xf1\xf8\xf9]")),
    ("mp3", "audio/mpeg", re.compile(rb"ID3[\x02-\x04]\0|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]")),
)
# Formats whose marks have two bytes, which are too few to recognise a format by.
_WEAK = frozenset({"aac", "mp3"})
# Suffixes of zip archives that are programs or documents of other formats.
_OTHER_ZIPS = frozenset(".jar .war .apk .whl .xpi .crx .kmz .3mf".split())
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL
)
# A page written by Telegram; its file reader checks again.
_CHAT_PAGE = re.compile(rb"<title>Exported Data</title>")
_HEADER = re.compile(rb"^([!-9;-~]{1,70}):", re.MULTILINE)
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n|\Z")
# Headers that only e-mails have; a note, too, may begin with "From:".
_OF_MAIL = frozenset(
    {b"message-id", b"received", b"mime-version", b"return-path", b"delivered-to", b"x-mozilla-status"}
)


def begins(pattern: bytes) -> Callable[[bytes, str], bool]:
    """Return a function that checks whether a file's first bytes match a regular expression."""
    compiled = re.compile(pattern)
    return lambda head, suffix: compiled.match(head) is not None


is_zip = begins(_ZIP)
# Office stores documents with a password in the container of its old formats.
is_office_file = begins(re.escape(OLE) + b"|" + _ZIP)


def is_plain_zip(head: bytes, suffix: str) -> bool:
    """Whether a file is a zip archive without the name of a program or of another format's document."""
    return is_zip(head, suffix) and suffix not in _OTHER_ZIPS


def is_tar(head: bytes, suffix: str = "") -> bool:
    """Whether a file is a tar archive, by its first 512 bytes; archives of Unix V7 have no identifying bytes."""
    return head[257:262] == b"ustar" and b"\0" in head[:512]


def is_pdf(head: bytes, suffix: str) -> bool:
    """Whether a file begins like a PDF; if it has the suffix of PDFs, a few stray bytes may come first."""
    return head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head[:1024])


def is_picture(head: bytes, suffix: str) -> bool:
    """Whether a file is a picture. Cameras' own formats of photographs, which begin like TIFF files, don't count."""
    is_tiff = head.startswith(TIFF) and suffix in PICTURES
    return is_tiff or head.startswith((PNG, JPEG, *GIF)) or _WEBP.match(head) is not None or bool(heif_name(head))


def heif_name(head: bytes) -> str:
    """Return "HEIC" or "AVIF" for a picture in one of these formats, which phones produce; "" for others."""
    if not _HEIF.match(head):
        return ""
    brands = head[8 : max(int.from_bytes(head[:4], "big"), 12)]
    return "AVIF" if b"avif" in brands or b"avis" in brands else "HEIC"


def container_of(head: bytes) -> str:
    """Return the name of the sound container that the first bytes indicate, or ""."""
    return next((name for name, _, mark in _CONTAINERS if mark.match(head)), "")


def media_type_of(head: bytes) -> str:
    """Return the media type of sound that the first bytes indicate, or ""."""
    return next((media_type for _, media_type, mark in _CONTAINERS if mark.match(head)), "")


def is_named_recording(name: str) -> bool:
    """Whether a file has the suffix of a recording."""
    return PurePath(name).suffix.lower() in RECORDINGS


def is_recording(head: bytes, suffix: str) -> bool:
    """Whether a file is a recording."""
    container = container_of(head)
    return bool(container) and (container not in _WEAK or head.startswith(b"ID3") or suffix in RECORDINGS)


def is_page(head: bytes, suffix: str) -> bool:
    """Whether a file is a web page, by its suffix or its first bytes."""
    return suffix in PAGES or _PAGE.match(head) is not None


def is_chat_page(head: bytes, suffix: str) -> bool:
    """Whether a file is a web page that may be an exported chat."""
    return is_page(head, suffix) and _CHAT_PAGE.search(head) is not None


def is_mail(head: bytes, suffix: str) -> bool:
    """Whether a file without a known suffix, as in a Maildir, begins with the headers of a message."""
    headers = {match[1].lower() for match in _HEADER.finditer(_END_OF_HEADERS.split(head, maxsplit=1)[0])}
    return b"from" in headers and bool(headers & _OF_MAIL) and _HEADER.match(head) is not None
