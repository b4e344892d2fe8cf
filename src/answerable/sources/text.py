"""Bytes → text, and plain text → Document. Of other formats it only knows that they aren't text."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import PurePosixPath

from answerable.datatypes import Document, DocumentType, document_id
from answerable.errors import EmptySource, UnsupportedSource

# The UTF-32 marks come first: the little-endian one begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive or Office document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Office document"),
    (b"{\\rtf", "RTF document"),
    (b"\x89PNG\r\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\x00", "TIFF image"),
    (b"MM\x00*", "TIFF image"),
    (b"\x7fELF", "program"),
    (b"\xca\xfe\xba\xbe", "program"),
    (b"\x1f\x8b\x08", "gzip archive"),
    (b"BZh91AY&SY", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"OggS\x00", "Ogg recording"),
)
_SAMPLE = 1_000_000
# Tab, line feed, form feed, carriage return, backspace and escape occur in texts (man pages, logs of terminals).
_CONTROLS = re.compile(r"[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_MAX_CONTROL_SHARE = 0.01
_MIN_FOREIGN_SHARE = 0.3
_MIN_COHERENCE = 0.15


def read_text(content: str, source: str) -> Document:
    """A document from decoded plain text. Raises EmptySource when there is nothing but white space."""
    require_text(content, source)
    return Document(document_id(source, content), content, source, stem(source), DocumentType.TEXT)


def require_text(content: str, source: str) -> None:
    """Raise EmptySource unless the content holds something to read."""
    if not content.strip():
        raise EmptySource(f"{source} holds no text: check that it was saved completely, or leave it out")


def stem(source: str) -> str:
    """The name of a source's file without folder and suffix."""
    return PurePosixPath(source.replace("\\", "/").rsplit("!/", 1)[-1]).stem or source


def decode(data: bytes, source: str) -> str:
    """The text in these bytes, without byte order mark and with `\\n` line ends.

    Never holds lone surrogates or NULs. Raises UnsupportedSource for binary data.
    """
    _refuse_magic(data, source)
    decoders = (_by_mark, _wide, _utf8, _foreign)
    text = next((text for decoder in decoders if (text := decoder(data)) is not None), None)
    if text is None:
        text = _western(data)
    if looks_binary(text):
        raise _binary(source, "binary file")
    return with_plain_line_ends(text)


def with_plain_line_ends(text: str) -> str:
    """The text with `\\n` for line ends."""
    # To look for the one character takes a thirtieth of the time.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def looks_binary(text: str) -> bool:
    """Whether decoded text holds NULs or many control characters."""
    sample = text[:_SAMPLE]
    controls = len(_CONTROLS.findall(sample))
    return "\0" in text or (controls > 2 and controls > len(sample) * _MAX_CONTROL_SHARE)


def magic_name(data: bytes) -> str:
    """What the first bytes say a file is, or nothing."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "")


def _refuse_magic(data: bytes, source: str) -> None:
    if name := magic_name(data):
        raise _binary(source, f"binary file ({name})")


def _binary(source: str, what: str) -> UnsupportedSource:
    return UnsupportedSource(
        f"{source} is a {what}, not text: convert it to PDF, HTML, Markdown or plain text, or leave it out"
    )


def _by_mark(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            # A mark is a promise: broken characters become U+FFFD rather than another encoding. "replace" lets no
            # surrogate through.
            return data[len(mark) :].decode(encoding, "replace")
    return None


def _wide(data: bytes) -> str | None:
    """UTF-16 and UTF-32 without a mark: their NULs stand at always the same places."""
    head = data[:4096]
    if b"\0" not in head:
        return None
    nulls = [head[place::4].count(0) / max(1, len(head[place::4])) for place in range(4)]
    narrow = _utf8(data)
    if max(nulls) < 0.3 and narrow is not None and not looks_binary(narrow.replace("\0", "")):
        # Stray NULs in something readable, whose pairs of ASCII letters would decode as Chinese.
        return None
    for encoding, empty, filled in (
        ("utf-32-le", (3,), (0,)),
        ("utf-32-be", (0,), (3,)),
        ("utf-16-le", (), (0, 2)),
        ("utf-16-be", (), (1, 3)),
    ):
        if all(nulls[place] == 1 for place in empty) and all(nulls[place] < 0.01 for place in filled):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if _is_readable(text):
                return text
    return None


def _is_readable(text: str) -> bool:
    """Guards the guess: random bytes decode as UTF-16 too, but into unassigned and private characters."""
    sample = text[:2000]
    odd = sum(unicodedata.category(character) in ("Cn", "Co", "Cs", "Cc") for character in sample if character > "\r")
    return not looks_binary(text) and odd <= len(sample) * 0.02


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        sound = sum(character > "\x7f" for character in text) - broken
        # A few broken characters among many sound ones, or a cut at the very end, are a damaged UTF-8 file;
        # another encoding would garble all the sound ones.
        cut = error.reason == "unexpected end of data" and broken == 1
        return text if sound and (cut or broken * 10 <= sound) else None


def _foreign(data: bytes) -> str | None:
    """A text in another script, where detection is reliable. Between Latin encodings it is not."""
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None or best.coherence < _MIN_COHERENCE:
        return None
    sample = [character for character in str(best)[:20_000] if character.isalpha()]
    # U+024F ends the last block of Latin letters.
    foreign = sum(character > "\u024f" for character in sample)
    if foreign < len(sample) * _MIN_FOREIGN_SHARE:
        return None
    return data.decode(best.encoding, "replace").removeprefix("\ufeff")


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
