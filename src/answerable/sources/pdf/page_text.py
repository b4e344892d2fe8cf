"""What PDFium extracts → the text of a page, and back: which character of PDFium's each of ours is.

Where a word is broken by a hyphen at a line's end, PDFium gives U+FFFE and joins the lines. We give back "-" and a line
end, as the page shows it, so that a quote is verbatim and `-\\n` stays told apart from a hyphen within a line. Imports
nothing of ours: the process that takes PDFs apart uses it too.
"""

from __future__ import annotations

import re

_LINE_END_HYPHEN = "\ufffe"
_LINE_END = re.compile(r"\r\n|\r|\n|\ufffe")
# A font's unmapped glyphs come as control characters, often in the place of spaces. Form feeds are ours.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean(raw: str) -> str:
    """The text as the document holds it: lines end in `\\n`, characters that are none became spaces or U+FFFD."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n").replace(_LINE_END_HYPHEN, "-\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def line_starts(raw: str) -> list[int]:
    """Where each line of the cleaned text begins in the raw one."""
    return [0, *(match.end() for match in _LINE_END.finditer(raw))]


def raw_offset(raw: str, offset: int) -> int:
    """The place in the raw text of a character of the cleaned one."""
    shift = 0
    for match in _LINE_END.finditer(raw):
        if match.start() + shift >= offset:
            break
        # Two characters became one, or one became two.
        shift += {"\r\n": -1, _LINE_END_HYPHEN: 1}.get(match[0], 0)
    return min(offset - shift, len(raw))


def code_units(text: str) -> int:
    """How many UTF-16 units a text takes, which is how PDFium counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
