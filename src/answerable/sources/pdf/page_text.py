"""Clean the text that PDFium extracts from a page, and find its characters again.

PDFium joins lines at a hyphenated word and writes U+FFFE. We restore "-" and the line end that the page shows;
`hyphens.whole_words` then puts the words together. Imports none of our modules, so that the worker starts fast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINE_END_HYPHEN = "\ufffe"
_LINE_END = re.compile(r"\r\n|\r|\n|\ufffe")
# Unmapped glyphs appear as control characters, often in place of spaces. Form feeds are reserved for page ends.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_INK = re.compile(r"[^\s\-\xad\ufffe\x00-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

Span = tuple[int, int]


def clean(raw: str) -> str:
    """Return the text for a document: with `\\n` line ends, and spaces or U+FFFD for invalid characters."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n").replace(_LINE_END_HYPHEN, "-\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def line_starts(raw: str) -> list[int]:
    """Return where each line of the cleaned text begins in the raw one."""
    return [0, *(match.end() for match in _LINE_END.finditer(raw))]


def in_order(raw: str, spans: Sequence[Span]) -> tuple[str, list[tuple[int, int, int]]]:
    """Return the raw text in the order of its spans, each on lines of its own, and the runs that it consists of.

    A run is its offset in the new text, and its start and end in the raw text.
    """
    pieces: list[str] = []
    runs = []
    length = 0
    for start, end in spans:
        piece = raw[start:end]
        runs.append((length, start, end))
        if not piece.endswith(("\n", "\r", _LINE_END_HYPHEN)):
            piece = piece.rstrip(" ") + "\r\n"
        pieces.append(piece)
        length += len(piece)
    return "".join(pieces).removesuffix("\r\n"), runs


def ink(text: str) -> list[int]:
    """Return where the characters stand that cleaning and joining keep: all but white space, controls and hyphens."""
    return [match.start() for match in _INK.finditer(text)]
