"""Find a quote in a text, even if white space, quotation marks, dashes or ligatures differ.

Besides these, only the case of the first letter and formatting (emphasis, invisible characters) may differ. Spans are
offsets in the original text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from answerable.text.characters import is_hidden

TRIES = 50
LONGEST_GAP = 300
SHORTEST_PIECE = 8

_QUOTES = "\"'‘’‚‛“”„‟«»‹›′″´＂＇"
_DASHES = "-‐‑‒–—―−﹘﹣－"
_LINE_END_HYPHEN = re.compile(rf"(?<=[^\W\d_])(?:\u00ad|\ufffe|[{_DASHES}])[^\S\n]*\n\s*(?=[^\W\d_])|\ufffe")
_BLANKS = re.compile(r"\s+")
_EMPHASIS = re.compile(r"\*\*+|__+|`+|(?<!\w)[*_](?=\w)|(?<=[^\W_])[*_](?!\w)|(?<=[.,!?;:)])[*_](?!\w)")
_TOKEN = re.compile(
    "|".join(f"(?P<{name}>{pattern.pattern})" for name, pattern in {
        "hyphen": _LINE_END_HYPHEN, "blanks": _BLANKS, "emphasis": _EMPHASIS,
    }.items())
    + r"|(?P<other>.)",
    re.DOTALL,
)  # fmt: skip
_LEFT_OUT = re.compile(r"\s*(?:\[\s?(?:…|\.\.\.)\s?\]|\(\s?(?:…|\.\.\.)\s?\)|…|(?<!\.)\.\.\.(?!\.))\s*")
_BRACKETED_LETTER = re.compile(r"^\[(\w)\]")
_EDGES = " \t\r\n\"'‘’“”«»"
_STOPS = ".,;:…"

_NONE, _HARD, _SOFT = 0, 1, 2
"""Before a folded character: nothing, a hyphen, or a hyphen that may come from a line break."""


class Searchable:
    """A text prepared for finding quotes. Preparing it takes linear time, and so does each search."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded, self._starts, self._ends, self._hyphens = _fold(text)

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Return the spans of the quote's pieces, in order. A quote has one piece, or several joined by "…".

        Return an empty list if a piece isn't found, is too far from the previous piece, or begins or ends inside a word
        or number. A full stop at the end of the quote is ignored, since it may belong to the sentence around the quote.
        """
        pieces = [piece for piece in _LEFT_OUT.split(quote.strip(_EDGES)) if piece.strip(_EDGES + _STOPS)]
        if len(pieces) > 1 and any(len(piece) < SHORTEST_PIECE for piece in pieces):
            return []
        spans: list[tuple[int, int]] = []
        for number, piece in enumerate(pieces):
            reach = (spans[-1][1], spans[-1][1] + LONGEST_GAP) if spans else (0, len(self.text))
            span = self._find(piece, *reach, is_first=number == 0)
            if span is None:
                return []
            spans.append(span)
        return spans

    def find_whole(self, text: str) -> list[tuple[int, int]]:
        """Return the span of a text, such as code, in which "…" doesn't mean an omission; [] if it isn't found."""
        span = self._find(text, 0, len(self.text), is_first=False)
        return [span] if span else []

    def _find(self, piece: str, first: int, last: int, is_first: bool) -> tuple[int, int] | None:
        piece = _BRACKETED_LETTER.sub(r"\1", piece.strip(_EDGES))
        for wanted in dict.fromkeys((piece, piece.rstrip(_STOPS + _EDGES))):
            folded, _, _, hyphens = _folded_quote(wanted)
            for form in dict.fromkeys((folded, _other_case(folded)) if is_first else (folded,)):
                span = self._search(form, hyphens, first, last)
                if span:
                    return span
        return None

    def _search(self, folded: str, hyphens: bytes, first: int, last: int) -> tuple[int, int] | None:
        position = -1
        for _ in range(TRIES):
            position = self._folded.find(folded, position + 1) if folded else -1
            if position < 0:
                return None
            start, end = self._starts[position], self._ends[position + len(folded) - 1]
            if start > last:
                return None
            if start >= first and self._is_whole(position, position + len(folded)) and self._agrees(position, hyphens):
                return start, end
        return None

    def _agrees(self, position: int, hyphens: bytes) -> bool:
        own = self._hyphens[position + 1 : position + len(hyphens)]
        return own == hyphens[1:] or all(
            one == other or _SOFT in (one, other) for one, other in zip(own, hyphens[1:], strict=True)
        )

    def _is_whole(self, start: int, end: int) -> bool:
        """Return whether both ends of a span are between words, numbers and characters, not inside one."""
        folded = self._folded
        return not (
            (start and self._starts[start - 1] == self._starts[start])
            or (end < len(folded) and self._ends[end - 1] == self._ends[end])
            or _is_within(folded[max(start - 2, 0) : start], folded[start : start + 2])
            or _is_within(folded[max(end - 2, start) : end], folded[end : end + 2])
        )


def legible(text: str) -> str:
    """Return the text without line-end hyphens, ligatures and invisible characters."""
    text = "".join(map(_shown, _LINE_END_HYPHEN.sub("", text)))
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _is_within(before: str, after: str) -> bool:
    """Return whether the boundary between two strings is inside a word or number."""
    if not before or not after:
        return False
    left, right = before[-1], after[0]
    if unicodedata.combining(right):
        return True
    if left.isalnum() and right.isalnum():
        # Later scripts don't separate words.
        return max(left, right) < "\u0e00"
    if left.isdigit() and right in ".,:/" and after[1:].isdigit():
        return True
    if right.isdigit() and left in ".,:/" and before[:-1].isdigit():
        return True
    return right.isdigit() and left == "-" and not before[:-1].strip()


def _other_case(folded: str) -> str:
    """Return the text with the case of its first letter swapped."""
    return folded[:1].swapcase() + folded[1:] if len(folded[:1].swapcase()) == 1 else folded


@lru_cache(maxsize=256)
def _folded_quote(text: str) -> tuple[str, list[int], list[int], bytes]:
    return _fold(text)


def _fold(text: str) -> tuple[str, list[int], list[int], bytes]:
    """Return the folded text and, for each character of it, its start, its end and the hyphen before it.

    Starts and ends are offsets in the original text.
    """
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    hyphens = bytearray()
    before = _NONE
    for start, end, piece, hyphen in _pieces(text):
        if hyphen:
            before = hyphen
            continue
        for character in piece:
            folded.append(character)
            starts.append(start)
            ends.append(end)
            hyphens.append(before)
            before = _NONE
    return "".join(folded), starts, ends, bytes(hyphens)


def _pieces(text: str) -> Iterator[tuple[int, int, str, int]]:
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        if kind == "hyphen":
            yield start, end, "", _SOFT
        elif kind == "blanks":
            yield start, end, " ", _NONE
        elif kind == "other":
            character = match[0]
            if character in _DASHES and text[start - 1 : start].isalpha() and text[end : end + 1].isalpha():
                yield start, end, "", _HARD
            else:
                yield start, end, _compared(character), _NONE


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    """Return the character, or "" if it is invisible."""
    return "" if is_hidden(character) and not character.isspace() else character


@lru_cache(maxsize=4096)
def _compared(character: str) -> str:
    if character in _QUOTES:
        return "'"
    if character in _DASHES:
        return "-"
    return "".join(
        "'" if one in _QUOTES else "-" if one in _DASHES else " " if one.isspace() else one
        for one in unicodedata.normalize("NFKD", _shown(character))
    )
