"""Headings and hidden spans of marked-up text → Document: the unchanged file, with parts for what people read.

Shared by reStructuredText, Org, AsciiDoc and LaTeX. Comments, preambles and directives are in no part, so that no
passage is made of them and nothing in them is quoted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from answerable.datatypes import Document, DocumentType, Part, Span
from answerable.errors import EmptySource
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.text import make_document, require_text

LONGEST_TITLE = 1_000
"""Characters of a heading: a longer line isn't a heading."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SHOWN = re.compile(rb"\0+")


class Line(NamedTuple):
    """A line with its offsets; `end` is after its line end, `text` is without it."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Marks:
    """What is found in marked-up text: headings in order, spans that people don't read, title and metadata.

    `bodies` are the offsets at which the texts under the headings begin, by the offsets of these.
    """

    headings: list[Heading] = field(default_factory=list)
    bodies: dict[int, int] = field(default_factory=dict)
    hidden: list[Span] = field(default_factory=list)
    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    def hide(self, *lines: Line) -> None:
        """Hide whole lines."""
        self.hidden += [(line.start, line.end) for line in lines]

    def hide_in(self, line: Line, start: int, end: int) -> None:
        """Hide characters of a line."""
        self.hidden.append((line.start + start, line.start + end))

    def add(self, start: int, body: int, level: int, title: str) -> None:
        """Add a heading, or hide it if it has no title."""
        words = " ".join(title.split())[:LONGEST_TITLE]
        if words:
            self.headings.append(Heading(start, level, words, None))
            self.bodies[start] = body
        else:
            self.hidden.append((start, body))


class LineReader:
    """Base class of readers that go through text line by line, and mark headings and hidden spans."""

    def __init__(self, content: str) -> None:
        self._lines = lines_of(content, 0, len(content))
        self._marks = Marks()

    def _text(self, number: int) -> str:
        """Return the text of a line, "" before the first and after the last."""
        return self._lines[number].text if 0 <= number < len(self._lines) else ""

    def _numbers(self, key: Callable[[str], str]) -> dict[str, list[int]]:
        """Return the numbers of the lines by what `key` makes of their text."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self._lines):
            found.setdefault(key(line.text), []).append(number)
        return found


def after(number: int, numbers: Sequence[int]) -> int | None:
    """Return the first of these numbers, which are in order, that is greater; None if there is none."""
    place = bisect_right(numbers, number)
    return numbers[place] if place < len(numbers) else None


def lines_of(content: str, start: int, end: int) -> list[Line]:
    """Return the lines of a span of text with their offsets."""
    found = _LINE.finditer(content, start, end)
    return [Line(match.start(), match.end(), match[0].removesuffix("\n")) for match in found]


def read_marked(content: str, source: str, kind: DocumentType, marks: Marks) -> Document:
    """Return the document for text with these marks. Raise EmptySource if it holds nothing that people read."""
    require_text(content, source)
    parts = tuple(_parts(content, marks))
    if not any(content[part.start : part.end].strip() for part in parts):
        raise EmptySource(
            f"{source} holds nothing but comments and directives: add the files that it includes, or leave it out"
        )
    title = marks.title or next((each.title for each in marks.headings), "")
    metadata = {key: value for key, value in marks.metadata.items() if value}
    return make_document(source, content, kind, parts, title, metadata)


def _parts(content: str, marks: Marks) -> Iterator[Part]:
    hidden = bytearray(len(content))
    for start, end in marks.hidden:
        hidden[start:end] = b"\1" * (end - start)
    for section in section_parts(content, marks.headings):
        body = marks.bodies.get(section.start, 0)
        for shown in _SHOWN.finditer(hidden, section.start, section.end):
            first, last = shown.span()
            if content[first:last].strip():
                yield replace(section, start=first, end=last, body=min(max(first, body), last))
