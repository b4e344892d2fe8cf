"""Bytes → text, and plain text → Document."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource, UnsupportedSource
from answerable.formats.registry import suffixes

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

# The UTF-32 marks come first: the little-endian one begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC: dict[str, tuple[bytes, ...]] = {
    "PDF document": (b"%PDF-",),
    "zip archive or Office document": (b"PK\x03\x04",),
    "old Office document": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
    "RTF document": (b"{\\rtf",),
    "PNG image": (b"\x89PNG\r\n",),
    "JPEG image": (b"\xff\xd8\xff",),
    "GIF image": (b"GIF87a", b"GIF89a"),
    "TIFF image": (b"II*\x00", b"MM\x00*"),
    "program": (b"\x7fELF", b"\xca\xfe\xba\xbe"),
    "gzip archive": (b"\x1f\x8b\x08",),
    "bzip2 archive": (b"BZh91AY&SY",),
    "xz archive": (b"\xfd7zXZ\x00",),
    "zstd archive": (b"\x28\xb5\x2f\xfd",),
    "7-Zip archive": (b"7z\xbc\xaf\x27\x1c",),
    "RAR archive": (b"Rar!\x1a\x07",),
    "SQLite database": (b"SQLite format 3\x00",),
    "Ogg recording": (b"OggS\x00",),
}
# What to do with a binary file of a well-known format that isn't built in, by its suffix.
_ADVICE = {
    "open it in its program, save it as JPEG or PNG, and add that": ".jxl .jp2 .psd .xcf .dng .cr2 .cr3 .nef .arw",
    "convert it to EPUB, as Calibre does, and add that": ".mobi .azw .azw3 .kfx .lit .fb2",
    "export its messages from your mail program as .mbox or .eml, and add those": ".pst .ost .olm .dbx",
    "unpack it and add the folder": ".rar .7z .zst .cab .lzh .arj .iso .dmg .deb .rpm",
    "open it in its program, export it as PDF, and add that": ".djvu .one .vsd .pub .wps .wpd .chm .dwg .mpp",
    "convert it to MP3 or MP4 and add that": ".wma .wmv .avi .aiff .aif .caf .ra .mid",
    "export its tables as .csv or .xlsx, and add those": ".db .sqlite .sqlite3 .mdb .accdb .parquet .dbf .sav .dta",
}
_SAMPLE = 1_000_000  # characters or bytes, which tell as much as the whole
# All but tab, line feed, form feed, carriage return, backspace and escape, which man pages and terminal logs contain.
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_MAX_CONTROL_SHARE = 0.01  # of a text's characters; not measured
_MIN_FOREIGN_SHARE = 0.3  # of a text's letters; not measured
_MIN_COHERENCE = 0.15  # charset-normalizer's own measure, from 0 to 1; not measured
_EAST_ASIAN = frozenset("cp932 shift_jis_2004 euc_jp euc_jis_2004 gb18030 big5 big5hkscs cp949 euc_kr".split())
# Encodings whose bytes are ASCII, so that they are valid UTF-8, too.
_STATEFUL = ("iso2022", "hz", "utf-7", "utf-16", "utf-32")
_CODE_PAGE = re.compile(r"[a-z]+[-_ ]*(\d{3,5})", re.IGNORECASE)  # "cp-850", "dos850"
# The encodings that browsers use for text that declares these (encoding.spec.whatwg.org).
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def read_text(content: str, source: str) -> Document:
    """Return a document from decoded plain text. Raise EmptySource if it is only white space."""
    require_text(content, source)
    return make_document(source, content, DocumentType.TEXT)


def make_document(
    source: str,
    content: str,
    kind: DocumentType,
    parts: Iterable[Part] = (),
    title: str = "",
    metadata: Mapping[str, Any] | None = None,
    language: str = "",
) -> Document:
    """Return a document with an id of its own, and without blank metadata; the default title is the file's name."""
    identity = document_id(source, content)
    stated = {name: value for name, value in (metadata or {}).items() if value != ""}
    return Document(identity, content, source, title or stem(source), kind, language, stated, tuple(parts))


class PartedText:
    """A text that is written piece by piece, and its parts."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.length = 0
        self._pieces: list[str] = []

    @property
    def content(self) -> str:
        """What has been written."""
        return "".join(self._pieces)

    def write(self, text: str) -> None:
        """Write a text that belongs to no part."""
        self._pieces.append(text)
        self.length += len(text)

    def part(self, text: str, kind: PartKind, **place: Any) -> None:
        """Write a text that is a part, at this place."""
        start = self.length
        self.write(text)
        self.parts.append(Part(start, self.length, kind, **place))


def require_text(content: str, source: str) -> None:
    """Raise EmptySource if the content is only white space."""
    if not content.strip():
        raise EmptySource(f"{source} holds no text: check that it was saved completely, or leave it out")


def stem(source: str) -> str:
    """Return the name of a source's file without folder and suffix."""
    return PurePosixPath(source.replace("\\", "/").rsplit("!/", 1)[-1]).stem or source


def decode(data: bytes, source: str) -> str:
    """Return the text in these bytes, with `\\n` line ends, without NULs. Raise UnsupportedSource for binary data."""
    if name := magic_name(data):
        raise _binary(source, f"binary file ({name})")
    text = decode_guessed(data)
    if looks_binary(text):
        raise _binary(source, "binary file")
    return with_plain_line_ends(text)


def decode_guessed(data: bytes) -> str:
    """Return the text in these bytes, in the encoding that they look like."""
    decoders = (_by_mark, _wide, _utf8, _foreign)
    text = next((text for decoder in decoders if (text := decoder(data)) is not None), None)
    return _western(data) if text is None else text


def decode_declared(data: bytes, charset: str, unreliable: Collection[str] = ()) -> str:
    """Return the text in these bytes: as UTF-8 if valid, as declared, or guessed if unknown or `unreliable`."""
    name = _codec(charset)
    if name.startswith(_STATEFUL):
        return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return decode_guessed(data) if not name or name in unreliable else data.decode(name, "replace")


def _codec(charset: str) -> str:
    """Return the name of Python's codec for a charset, or "" if there is none for text."""
    name = charset.strip().strip("\"'")
    page = _CODE_PAGE.fullmatch(re.sub("^x-", "", name, flags=re.IGNORECASE))
    for spelling in (name, f"cp{page[1]}" if page else ""):
        with suppress(LookupError, ValueError):
            found = codecs.lookup(spelling)
            break
    else:
        return ""
    # Python's codecs also include "base64", "zip" and others that aren't for text.
    is_text = getattr(found, "_is_text_encoding", True) and found.name not in ("idna", "punycode", "raw_unicode_escape")
    return _SUPERSETS.get(found.name, found.name) if is_text and not found.name.startswith("unicode") else ""


def with_plain_line_ends(text: str) -> str:
    """Return the text with `\\n` line ends."""
    # Looking for the one character takes a thirtieth of the time.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def looks_binary(text: str) -> bool:
    """Whether decoded text contains NULs or many control characters."""
    sample = text[:_SAMPLE]
    controls = len(_CONTROLS.findall(sample))
    return "\0" in text or (controls > 2 and controls > len(sample) * _MAX_CONTROL_SHARE)


def magic_name(data: bytes) -> str:
    """Return the binary format that the first bytes show, or nothing."""
    return next((name for name, marks in _MAGIC.items() if data.startswith(marks)), "")


def _binary(source: str, what: str) -> UnsupportedSource:
    suffix = PurePosixPath(source).suffix.lower()
    advice = next(
        (text for text, those in _ADVICE.items() if suffix in those.split() and suffix not in suffixes()),
        "convert it to PDF, HTML, Markdown or plain text",
    )
    return UnsupportedSource(f"{source} is a {what}, not text: {advice}, or leave it out")


def _by_mark(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # With a mark no other encoding is tried. "replace" lets no surrogate through.
            return data[len(mark) :].decode(encoding, "replace")
    return None


def _wide(data: bytes) -> str | None:
    """Decode UTF-16 without a byte order mark, recognised by the positions of its NULs."""
    head = data[:4096]
    if b"\0" not in head:
        return None
    nulls = [head[place::2].count(0) / max(1, len(head[place::2])) for place in (0, 1)]
    narrow = _utf8(data)
    if max(nulls) < 0.3 and narrow is not None and not looks_binary(narrow.replace("\0", "")):
        # Stray NULs in readable text, whose pairs of ASCII letters would decode as Chinese.
        return None
    for encoding, filled in (("utf-16-le", 0), ("utf-16-be", 1)):
        if nulls[filled] < 0.01:
            with suppress(UnicodeDecodeError):
                if _is_readable(text := data.decode(encoding)):
                    return text
    return None


def _is_readable(text: str) -> bool:
    """Whether a text decoded by guess is real: random bytes decode into unassigned and private characters."""
    sample = text[:2000]
    odd = sum(unicodedata.category(character) in ("Cn", "Co", "Cs", "Cc") for character in sample if character > "\r")
    return not looks_binary(text) and odd <= len(sample) * 0.02


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        valid = sum(character > "\x7f" for character in text) - broken
        # A few broken characters among many valid ones, or a cut at the end, are a damaged UTF-8 file.
        cut = error.reason == "unexpected end of data" and broken == 1
        return text if valid and (cut or broken * 10 <= valid) else None


def _foreign(data: bytes) -> str | None:
    """Decode non-Latin scripts, for which detection is reliable."""
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None or (best.coherence < _MIN_COHERENCE and not _is_east_asian(data, best)):
        return None
    sample = [character for character in str(best)[:20_000] if character.isalpha()]
    # Latin letters end at U+024F.
    foreign = sum(character > "\u024f" for character in sample)
    if foreign < len(sample) * _MIN_FOREIGN_SHARE:
        return None
    return data.decode(best.encoding, "replace").removeprefix("\ufeff")


def _is_east_asian(data: bytes, best: CharsetMatch) -> bool:
    """Whether bytes too few to know their language by are East Asian: flawless as that, and not as Western text."""
    return best.encoding in _EAST_ASIAN and not best.chaos and looks_binary(_western(data)) and _is_readable(str(best))


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
