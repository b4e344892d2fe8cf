"""Recognised lines of a page and their boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as fractions of the width and height of the page as people see it."""

SAME_ROW, NEW_ROW, NEW_BLOCK = " ", "\n", "\n\n"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, or a cell of a row; `before` is the white space between it and the line before it."""

    text: str
    box: Box
    before: str = NEW_ROW


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page in reading order."""

    lines: tuple[Line, ...] = ()

    @property
    def text(self) -> str:
        """The text of the page."""
        return "".join((line.before if number else "") + line.text for number, line in enumerate(self.lines))


@dataclass(frozen=True, slots=True)
class Pixels:
    """A page in shades of grey: a byte for each pixel, row by row; `resolution` in dots per inch."""

    width: int
    height: int
    data: bytes
    resolution: int


class PictureRefused(Exception):
    """A picture can't be decoded; the message says why."""


class Recogniser(Protocol):
    """Recognises the text of pages, each within a time limit in seconds."""

    def page(self, pixels: Pixels, seconds: float) -> Page | None:
        """Return the page's lines, or None if it fails or takes too long."""

    def pages(self, picture: bytes, seconds: float) -> Iterator[Page | None]:
        """Yield each page of a picture file. Raise PictureRefused."""
