"""Bytes of mail → text: by the declared charset, unless they tell that it is wrong."""

from __future__ import annotations

import codecs

from answerable.sources.html.parse import SUPERSETS
from answerable.sources.text import decode_guessed, with_plain_line_ends
from answerable.text.characters import encodable

# Their bytes are ASCII, so that they are valid UTF-8, too.
_STATEFUL = ("iso2022", "hz", "utf-7", "utf-16", "utf-32")
# What mail programs of other alphabets write where they should declare one.
_UNDECLARED = frozenset({"", "ascii", "cp1252", "utf-8"})


def decoded(data: bytes, charset: str) -> str:
    """Return the text in these bytes, with `\\n` line ends, without NULs and lone surrogates.

    Valid UTF-8 is UTF-8 whatever is declared, and ASCII with other bytes in it is Windows-1252, or what it looks like.
    """
    name = _codec(charset)
    if name.startswith(_STATEFUL):
        text = data.decode(name, "replace")
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = decode_guessed(data) if name in _UNDECLARED else data.decode(name, "replace")
    return with_plain_line_ends(encodable(text).replace("\0", "").removeprefix("\ufeff"))


def _codec(charset: str) -> str:
    """Return the name of Python's codec for a charset, or "" if there is none for text."""
    try:
        found = codecs.lookup(charset.strip().strip("\"'"))
    except (LookupError, ValueError):
        return ""
    # "base64", "zip" and the like are codecs, too.
    is_text = getattr(found, "_is_text_encoding", True) and found.name not in ("idna", "punycode", "raw_unicode_escape")
    return SUPERSETS.get(found.name, found.name) if is_text and not found.name.startswith("unicode") else ""
