"""Bytes of a web page → markup that parses in linear time → its tree."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from answerable.sources.html.bounds import bounded
from answerable.sources.text import decode, looks_binary, with_plain_line_ends
from answerable.text.characters import encodable

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_CHARSET = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})")
# How browsers interpret these labels (encoding.spec.whatwg.org).
SUPERSETS = {
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


def decode_html(data: bytes, source: str) -> str:
    """Decode markup by byte order mark, as UTF-8 if valid, as declared, or by detection."""
    head = data[:4096]
    label = _XML_ENCODING.search(head) or _CHARSET.search(head)
    if label and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            name = codecs.lookup(label[1].decode("ascii", "replace")).name
            # A declared UTF-16 is wrong, or the declaration wouldn't have been found. Valid UTF-8 is UTF-8 whatever it
            # declares; invalid UTF-8 goes to detection.
            if not name.startswith(("utf", "punycode", "idna")) and not _is_utf8(data):
                text = data.decode(SUPERSETS.get(name, name), "replace")
                if not looks_binary(text):
                    return with_plain_line_ends(text)
        except (LookupError, ValueError):
            pass  # An unknown label, or a codec that isn't for text.
    return decode(data, source)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def valid_markup(data: bytes | str, source: str) -> str:
    """Return markup that is safe to parse. Raise DamagedSource if it is nested too deeply."""
    # Lone surrogates and NULs break the parsers; what is decoded here has none.
    markup = decode_html(data, source) if isinstance(data, bytes) else encodable(data).replace("\0", "\ufffd")
    return bounded(markup, source)


def parse_page(markup: str) -> LexborHTMLParser:
    """Parse valid markup."""
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(markup)
