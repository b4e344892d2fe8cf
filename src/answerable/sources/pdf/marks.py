"""Find what a page shows other than by its letters: struck text, raised and lowered numbers, notes.

Runs in the reading process. Written as for every kind of file: `~~struck~~`, `10⁶`, `CO₂`, and `[^2]` for a note below.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.page_text import Edit, Span
from answerable.sources.pdf.tables import LINE, Box, Geometry, Glyph
from answerable.text import notation

MOST_OBJECTS = 20_000  # pieces of text, lines and so on of a page that are looked at; maps and charts have more
MOST_NOTES = 2_000  # annotations of a page, and lines in each, that are looked at
MOST_IN_LINE = 100  # lines through a line of text, and notes with one number, that are looked at
THIN = 3.0  # points, at most, that a line through text is thick; for PDFium, a line is twice as thick as it is drawn
LOW = 0.4  # share of the height of text that a reader struck at which the line is
BEYOND = 0.2  # share of a line, at most, that is drawn beyond the text it strikes
MIDDLE = (0.1, 0.5)  # type sizes above its foot at which a line is struck; an underline is lower
SMALLER = (0.4, 0.85)  # size of a raised or lowered character, in sizes of the character before it
RAISED = (0.15, 0.9)  # how much higher a raised character is than the one before it, in type sizes
LOWERED = (-0.6, -0.04)  # the same for a lowered character
LONGEST = 20  # characters, at most, that are looked at before a line end for raised letters
BESIDE = 0.5  # sizes between a raised character and the one before it at most
SAME = 0.1  # sizes by which the heights of two characters on one line may differ
SMALL_TYPE = 0.95  # size of a note at most, in sizes of the text
_BREAK = re.compile(r" ?\r\n ?\Z")
_AFTER = re.compile(r"\r\n *(?=\S)")
# Where raised digits may be: numbers, and the line ends that PDFium writes before or after raised characters.
_PLACE = re.compile(
    r"(?:(?<=[^\s/:$€£])[-+−–(]?|(?=\d\d))(?P<own>\d+)|(?<=\S) ?\r\n\s*(?=\S)(?=(?P<next>[-+−–(]?\d|\w|))"
)
_MARKS = re.compile(r"\d{1,3}(?:[,;] ?\d{1,3})*")
_NOTE = re.compile(r"(?<![^\n])[ ]*(?P<number>[1-9]\d{0,2})(?P<gap>[.)]?[ \r\n]*)(?=[\"'“‘«(¿¡]?[^\W\d_]+[\s.,:;])")
# A power of ten and a unit of a letter or two have exponents, even where a note has the same number.
_POWER = re.compile(r"(?<![\d.,])10$|(?<![^\W\d_])[^\W\d_]{1,2}$")

IndexOf = Callable[[int], int]


def struck(page: Any, noted: Iterable[Drawn], geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the marks around the text that a line is drawn through, or that a reader struck with the lines `noted`."""
    lines = sorted((*_drawn_lines(page), *noted), key=lambda line: line.y)
    heights = [line.y for line in lines]
    found: list[Span] = []
    for match in LINE.finditer(text) if lines else ():
        first, shown = index_of(match.start()), match[0].rstrip()
        box = geometry.line_box(first, len(shown)) if shown else None
        if box is None:
            continue
        near = lines[bisect_left(heights, box[1]) : bisect_left(heights, box[3])][:MOST_IN_LINE]
        through = [line for line in near if line.left < box[2] and box[0] < line.right]
        for start, end in _under(through, geometry, first, shown) if through else ():
            start, end = match.start() + start, match.start() + end
            between = text[found[-1][1] : start] if found else ""
            if text[start].islower() and between.strip(" ") in ("\r\n", "\ufffe"):
                # The text reads on from the line above.
                start = found.pop()[0]
            found.append((start, end))
    for span in found:
        yield from (Edit(place, place, "~~") for place in span)


class Drawn(NamedTuple):
    """A thin horizontal line: its ends and height in points, and whether it was drawn to strike text."""

    left: float
    right: float
    y: float
    is_strike: bool


def _under(lines: Iterable[Drawn], geometry: Geometry, first: int, text: str) -> Iterator[Span]:
    """Yield the spans of a line's characters that lines are drawn through, each within a cell of a table."""
    boxes = [geometry.box_of(first + place) for place in range(len(text))]
    size = geometry.size(first)
    struck: set[int] = set()
    for line in lines:
        inside = [place for place, box in enumerate(boxes) if line.left <= (box[0] + box[2]) / 2 <= line.right]
        covered = [place for place in inside if not text[place].isspace()]
        if not any(text[place].isalnum() for place in covered):
            continue
        ends = geometry.glyph(first + covered[0]), geometry.glyph(first + covered[-1])
        beyond = max(0, ends[0].left - line.left) + max(0, line.right - ends[1].right)
        # The bar of a fraction is below the numbers over it; rules of tables and charts run on beyond the text.
        is_through = all(MIDDLE[0] * each.size <= line.y - each.foot <= MIDDLE[1] * each.size for each in ends)
        if is_through and (line.is_strike or beyond < max(2 * size, BEYOND * (line.right - line.left))):
            struck.update(covered)
    start, end = -1, -1
    for place in sorted(struck):
        if start >= 0 and (text[end + 1 : place].strip() or boxes[place][0] - boxes[end][2] > size):
            yield start, end + 1
            start = -1
        start, end = place if start < 0 else start, place
    if start >= 0:
        yield start, end + 1


def _drawn_lines(page: Any) -> Iterator[Drawn]:
    """Yield the page's thin horizontal lines, each a path of its own, as programs draw them."""
    handle = page.raw
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for number in range(min(pdfium.FPDFPage_CountObjects(handle), MOST_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(handle, number)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH:
            pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
            if top.value - bottom.value <= THIN < right.value - left.value:
                yield Drawn(left.value, right.value, (bottom.value + top.value) / 2, False)


def noted_lines(page: Any) -> list[Drawn]:
    """Return the lines that a reader struck text with."""
    found = []
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_NOTES)):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        if pdfium.FPDFAnnot_GetSubtype(note) == pdfium.FPDF_ANNOT_STRIKEOUT:
            corners = pdfium.FS_QUADPOINTSF()
            for place in range(min(pdfium.FPDFAnnot_CountAttachmentPoints(note), MOST_NOTES)):
                pdfium.FPDFAnnot_GetAttachmentPoints(note, place, corners)
                xs, ys = (sorted(getattr(corners, f"{axis}{corner}") for corner in range(1, 5)) for axis in "xy")
                found.append(Drawn(xs[0], xs[-1], ys[0] + LOW * (ys[-1] - ys[0]), True))
        pdfium.FPDFPage_CloseAnnot(note)
    return found


class _Raised(NamedTuple):
    """A span of raised or lowered characters, the offset of the character before it, and where that is."""

    start: int
    end: int
    before: int
    glyph: Glyph
    is_high: bool


class _Note(NamedTuple):
    """The beginning of a line that may be a note; its size is the smaller one of its number and its text."""

    match: re.Match[str]
    foot: float
    size: float


def raised(geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the edits that write raised and lowered numbers as such, and notes and the marks that refer to them."""
    found = list(_raised(geometry, text, index_of))
    notes = _notes(geometry, text, index_of, {each.start for each in found}) if found else {}
    used: dict[int, re.Match[str]] = {}
    for each in found:
        yield from _on_one_line(each, geometry, text, index_of)
        shown = text[each.start : each.end]
        is_power = _POWER.search(text, max(0, each.before - 3), each.before + 1)
        if each.is_high and not is_power and _MARKS.fullmatch(shown):
            numbers = re.findall(r"\d+", shown)
            below = [_note_below(each, notes.get(int(number), ())) for number in numbers]
            if all(below):
                used.update({note.start(): note for note in below if note})
                marks = "".join(f"[^{number}]" for number in numbers)
                yield Edit(each.start, each.end, marks, geometry.box(index_of(each.start)))
                continue
        changed = shown.translate(notation.HIGH if each.is_high else notation.LOW)
        if not any(map(str.isascii, changed)):
            yield Edit(each.start, each.end, changed)
        elif each.is_high and not shown.isalpha():
            yield from (Edit(each.start, each.start, "^("), Edit(each.end, each.end, ")"))
    for note in used.values():
        yield Edit(note.start(), note.start("number"), "\r\n[^" if note.start() else "[^")
        yield Edit(*note.span("gap"), "]: ")


def _raised(geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[_Raised]:
    def box_at(offset: int) -> Box:
        return geometry.box_of(index_of(offset))

    reached = 0
    for first, end in _places(text, box_at):
        start = max(first, reached)
        before = _before(text, start)
        if start >= end or before < 0 or _same(own := box_at(end - 1), box_at(before)):
            continue
        if not _same(own, box_at(start)):
            start, before = end - 1, end - 2
        size = geometry.size(index_of(before))
        if abs(box_at(start)[0] - box_at(before)[2]) > BESIDE * size:
            continue
        glyph, smaller = geometry.glyph(index_of(before)), geometry.glyph(index_of(start))
        rise = (smaller.foot - glyph.foot) / (size or 1)
        is_high = RAISED[0] <= rise <= RAISED[1]
        is_smaller = SMALLER[0] <= smaller.size / (size or 1) <= SMALLER[1]
        if is_smaller and (is_high or LOWERED[0] <= rise <= LOWERED[1]):
            while end < len(text) and not text[end].isspace() and _same(own, box_at(end)):
                end += 1
            reached = end
            yield _Raised(start, end, before, glyph, is_high)


def _places(text: str, box_at: Callable[[int], Box]) -> Iterator[Span]:
    """Yield the spans that may be raised: digits in uneven numbers, and what PDFium ends a line before or after."""
    for match in _PLACE.finditer(text):
        start, end = match.span()
        if match["own"]:
            first, own = match.start("own"), box_at(end - 1)
            if not (_same(own, box_at(first)) and (text[start - 1 : start].isspace() or _same(own, box_at(start - 1)))):
                yield start, first + 1
                yield from ((place, place + 1) for place in range(first + 1, end))
            continue
        last, following = box_at(start - 1), box_at(match.start("next"))
        if following[1] < last[3] and last[1] < following[3] and last[0] < following[0]:
            # The two lines are one; characters at its end that are alike may be raised.
            first = start - 1
            while first > max(0, start - LONGEST) and _same(last, box_at(first - 1)):
                first -= 1
            yield first, start
            yield match.span("next")


def _before(text: str, start: int) -> int:
    """Return the offset of the character before another one, also before a line end of PDFium; -1 for white space."""
    if start > 0 and text[start - 1].isspace():
        between = _BREAK.search(text, max(0, start - 4), start)
        start = between.start() if between else 0
    return start - 1


def _same(one: Box, other: Box) -> bool:
    """Whether two characters are as high, and at the same height."""
    return abs(one[1] - other[1]) + abs(one[3] - other[3]) < SAME * (one[3] - one[1])


def _on_one_line(each: _Raised, geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the edits that remove PDFium's line ends before and after raised characters within a line."""
    if each.before + 1 < each.start:
        yield Edit(each.before + 1, each.start, "")
    if not (after := _AFTER.match(text, each.end)):
        return
    glyph, own = geometry.glyph(index_of(after.end())), geometry.glyph(index_of(each.end - 1))
    size, gap = each.glyph.size, glyph.left - own.right
    if abs(glyph.foot - each.glyph.foot) < SAME * size and -BESIDE * size < gap < 2 * size:
        yield Edit(each.end, after.end(), " " if gap > SAME * size else "")


def _notes(geometry: Geometry, text: str, index_of: IndexOf, exponents: Collection[int]) -> dict[int, list[_Note]]:
    """Return the lines that begin with each number, which isn't one of the exponents of a line that PDFium broke."""
    notes: dict[int, list[_Note]] = {}
    for match in _NOTE.finditer(text):
        if match.start("number") in exponents:
            continue
        number, first = (geometry.glyph(index_of(place)) for place in (match.start("number"), match.end()))
        if len(same := notes.setdefault(int(match["number"]), [])) < MOST_IN_LINE:
            same.append(_Note(match, first.foot, min(number.size, first.size)))
    return notes


def _note_below(each: _Raised, notes: Iterable[_Note]) -> re.Match[str] | None:
    """Return the first note below the mark that is in smaller type or has a smaller number."""
    for match, foot, size in notes:
        if match.start() >= each.end and foot < each.glyph.foot - size and size < SMALL_TYPE * each.glyph.size:
            return match
    return None
