"""Derive random choices from bytes, so that a fuzzer that changes the bytes changes the choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Choice = TypeVar("Choice")

MOST_CHARACTERS = 50_000
HOSTILE = (
    "\0",
    "\r\n",
    "\r",
    "\u2028",
    "\x85",
    "\x0b\x0c",
    "\u202e",
    "\u2066\u2069\u200f",
    "\ufeff",
    "\u200b\u00ad",
    "\ufdd0",
    "\uffff",
    "\ud800",
    "\udcff",
    "e\u0301\u0302\u0303",
    "\u0300",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0010ffff",
    "İſﬃ",
    "नमस्ते ",
    "你好。",
    "مرحبا ",
    "٣١/١٢/٢٠٢١",
    "99999999999999999999",
    "-1",
    "1e999",
    "../../etc/passwd",
    "\\\\host\\share",
    "C:\\",
    "%00%2e%2e/",
    "'\";--",
    "<script>",
    "&#x110000;&#0;",
    "\x1b[2J",
    " ",
    "\n",
    "word ",
)
# Mostly once: what is large is slow to try, and tried on purpose elsewhere.
_TIMES = (*[1] * 26, 2, 3, 10, 50, 400, 3_000)


class Draw:
    """Choices in turn, each by a byte or two; without any bytes left it is always the first one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._reached = 0

    def number(self, most: int) -> int:
        """From 0 to `most`, which is below 65,536."""
        width = 1 if most < 256 else 2
        taken = self.take(width)
        return int.from_bytes(taken, "big") % (most + 1)

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """One of these."""
        return choices[self.number(len(choices) - 1)]

    def take(self, count: int) -> bytes:
        """The next bytes as they are, fewer at the end."""
        self._reached += count
        return self._data[self._reached - count : self._reached]

    def rest(self) -> bytes:
        """All bytes that are left."""
        return self.take(max(len(self._data) - self._reached, 0))

    def text(self, grammar: Sequence[str], most: int = 40) -> str:
        """Pieces of a grammar with hostile ones among them, some many times over."""
        pieces: list[str] = []
        size = 0
        for _ in range(self.number(most)):
            kind = self.number(9)
            if kind < 6:
                piece = self.pick(grammar)
            elif kind < 9:
                piece = self.pick(HOSTILE)
            else:
                piece = self.take(self.number(12)).decode("utf-8", "surrogateescape")
            piece *= self.pick(_TIMES)
            size += len(piece)
            if size > MOST_CHARACTERS:
                break
            pieces.append(piece)
        return "".join(pieces)

    def file(self, grammar: Sequence[str]) -> bytes:
        """A file: the bytes as they are, or a text of the grammar in one of the encodings that people use."""
        if not self.number(4):
            return self.rest()
        encoding = self.pick(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32-be", "gb18030"))
        text = self.text(grammar)
        # As a careless program would write it: what doesn't fit is broken bytes, not an error.
        errors = "surrogatepass" if encoding.startswith("utf") else "replace"
        return text.encode(encoding, errors)
