"""Clean the text that PDFium extracts from a page, and map offsets back to it.

PDFium joins lines at a hyphenated word and writes U+FFFE. We restore "-" and the line end that the page shows, so that
quotes are verbatim and `-\\n` differs from a hyphen within a line. Imports none of our modules, so that the worker
starts fast.
"""

from __future__ import annotations

import re

_LINE_END_HYPHEN = "\ufffe"
_LINE_END = re.compile(r"\r\n|\r|\n|\ufffe")
# Unmapped glyphs appear as control characters, often in place of spaces. Form feeds are reserved for page ends.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean(raw: str) -> str:
    """Return the text for a document: with `\\n` line ends, and spaces or U+FFFD for invalid characters."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n").replace(_LINE_END_HYPHEN, "-\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def line_starts(raw: str) -> list[int]:
    """Return where each line of the cleaned text begins in the raw one."""
    return [0, *(match.end() for match in _LINE_END.finditer(raw))]


def raw_offset(raw: str, offset: int) -> int:
    """Return the offset in the raw text for an offset in the cleaned one."""
    shift = 0
    for match in _LINE_END.finditer(raw):
        if match.start() + shift >= offset:
            break
        # Two characters were replaced by one, or one by two.
        shift += {"\r\n": -1, _LINE_END_HYPHEN: 1}.get(match[0], 0)
    return min(offset - shift, len(raw))
