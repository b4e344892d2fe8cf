"""The place of a span in a document: lines, pages, headings, times, senders, symbols and seconds."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import takewhile

from answerable.datatypes import Document, DocumentType, Location, Part, PartKind

RENDERED = frozenset(
    {
        DocumentType.HTML,
        DocumentType.DOCX,
        DocumentType.EPUB,
        DocumentType.NOTEBOOK,
        DocumentType.SUBTITLES,
        DocumentType.OUTLINE,
        DocumentType.MAIL,
        DocumentType.CALENDAR,
        DocumentType.CONTACTS,
        DocumentType.PICTURE,
        DocumentType.ODT,
        DocumentType.RTF,
        DocumentType.SPREADSHEET,
        DocumentType.SLIDES,
        DocumentType.RECORDING,
    }
)
"""Types whose content is made from the file: its lines are not those of the file."""
_NUMBERED = frozenset({PartKind.SLIDE, PartKind.CELL})
_LINE_END = re.compile(r"\n")


def is_rendered_chat(document: Document) -> bool:
    """Whether a chat's content was made of an export: WhatsApp's is the content itself."""
    return document.type is DocumentType.CHAT and "app" in document.metadata


class Locator:
    """Finds places in one document, each in logarithmic time."""

    def __init__(self, document: Document) -> None:
        self._parts = document.parts
        self._has_lines = document.type not in RENDERED and not is_rendered_chat(document)
        self._starts = [part.start for part in document.parts]
        heard = {part.start - 1 for part in document.parts if is_heard(part)}
        ends = (match.start() for match in _LINE_END.finditer(document.content))
        self._line_ends = [end for end in ends if end not in heard] if heard else list(ends)

    def parts(self, start: int, end: int) -> tuple[Part, ...]:
        """Return the parts that a span touches, in order."""
        if not self._parts:
            return ()
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, max(end - 1, start))
        return tuple(part for part in self._parts[first:last] if part.end > start)

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line of a span, counted from 1."""
        return bisect_right(self._line_ends, start - 1) + 1, bisect_right(self._line_ends, max(end - 2, start - 1)) + 1

    def location(self, start: int, end: int) -> Location:
        """Return the place of a span."""
        return locate(self.parts(start, end), self.lines(start, end) if self._has_lines else None)


def is_heard(part: Part) -> bool:
    """Whether a part of a chat is a line of what is said in a voice note, which is not in the chat's file."""
    return part.kind is PartKind.MESSAGE and part.seconds is not None


def locate(parts: tuple[Part, ...], lines: tuple[int, int] | None) -> Location:
    """Return the place of a span that touches these parts and lines."""
    if not parts:
        return Location(lines)
    numbered = [part for part in parts if part.page is not None]
    pages = [part.page for part in parts if part.page is not None]
    times = [part.time for part in parts if part.time is not None]
    messages = [part for part in parts if part.kind is PartKind.MESSAGE]
    senders = [part.sender for part in messages if part.sender]
    seconds = [part.seconds for part in parts if part.seconds is not None]
    section = next((part for part in parts if part.headings), None)
    return Location(
        lines=lines,
        pages=(pages[0], pages[-1]) if pages else None,
        headings=section.headings if section else (),
        anchor=section.anchor if section else next((part.anchor for part in messages if part.anchor), None),
        times=(min(times), max(times)) if times else None,
        senders=tuple(dict.fromkeys(senders)),
        symbol=_common([part.symbol.split(".") for part in parts if part.symbol]),
        unit=numbered[0].kind if numbered and numbered[0].kind in _NUMBERED else PartKind.PAGE,
        place=_place([part.place for part in parts if part.place]),
        seconds=(seconds[0], seconds[-1]) if seconds else None,
    )


def _place(places: list[str]) -> str | None:
    """Return the name of a place, or of the first and the last: `Costs!A2:F9` from `Costs!A2:F2` and `Costs!A9:F9`."""
    if not places:
        return None
    first, last = places[0], places[-1]
    sheet, _, cells = first.rpartition("!")
    other, _, ends = last.rpartition("!")
    if first == last or not sheet:
        return first
    end = ends.partition(":")[2] or ends
    return f"{sheet}!{cells.partition(':')[0]}:{end}" if sheet == other else f"{first} to {last}"


def _common(paths: list[list[str]]) -> str | None:
    """Return the innermost symbol that contains all of these paths, or the first path if none does."""
    if not paths:
        return None
    shared = [steps[0] for steps in takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))]
    return ".".join(shared or paths[0])
