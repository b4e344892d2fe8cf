"""Find what a page shows other than by its letters: struck text, raised and lowered numbers, notes. In the notation of
all file readers: `~~struck~~`, `10⁶`, `CO₂`, and `[^2]` where a note `[^2]: …` stands below.

Runs in the reading process.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.page_text import Edit
from answerable.sources.pdf.tables import LINE, Box, Geometry

MOST_OBJECTS = 20_000  # paths of a page; drawings with more are maps and charts, and take long to look through
MOST_IN_LINE = 100  # lines through a line of text, and notes with one number, that are looked at
THIN = 2.5  # points, at most, that a line through text is thick
BEYOND = 0.2  # share of a line, at most, that is drawn beyond the text it strikes
MIDDLE = (0.25, 0.6)  # share of a line's height at which it is struck; an underline is lower
SMALLER = 0.85  # height of a raised or lowered character at most, in heights of the character before it
RAISED = (0.12, 0.8)  # heights by which a raised character's baseline is higher than that of the one before it
LOWERED = (-0.4, -0.04)  # the same for a lowered character
BESIDE = 0.5  # heights between a raised character and the one before it at most
SAME_LINE = 0.1  # heights by which two characters on one line may differ
_SIGNS = "0123456789+-=()−–"
_RAISED = str.maketrans(_SIGNS + "ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾⁻⁻ⁿⁱ")
_LOWERED = str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋₋")
_INK = re.compile(r"\S")
_NUMBER = re.compile(r"[-+−–(]?\d")
_MARKS = re.compile(r"\d{1,3}(?:[,;] ?\d{1,3})*")
_NOTE = re.compile(r"(?<![^\n])[ ]*(?P<number>\d{1,3})(?P<gap>[.)]?[ \r\n]*)(?=[^\W\d]|[\"'“‘«(¿¡])")
# A power of ten and a unit of a letter or two have exponents, even where a note has the same number.
_POWER = re.compile(r"(?<![\d.,])10$|(?<![^\W\d_])[^\W\d_]{1,2}$")

IndexOf = Callable[[int], int]


def struck(page: Any, geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the marks around the text that a line is drawn through, or that is struck by a note of a reader."""
    lines = sorted(_drawn_lines(page), key=lambda line: line.y)
    heights = [line.y for line in lines]
    open_at = close_at = -1
    for match in LINE.finditer(text) if lines else ():
        first, shown = index_of(match.start()), match[0].rstrip()
        if not shown or (box := geometry.line_box(first, len(shown))) is None:
            continue
        low, high = (box[1] + share * (box[3] - box[1]) for share in MIDDLE)
        through = lines[bisect_left(heights, low) : bisect_left(heights, high)][:MOST_IN_LINE]
        for start, end in _under(through, geometry, first, shown) if through else ():
            start, end = match.start() + start, match.start() + end
            between = text[close_at:start]
            if open_at >= 0 and not between.strip("\r\n\ufffe ") and ("\n" not in between or text[start].islower()):
                close_at = end
                continue
            if open_at >= 0:
                yield from (Edit(open_at, open_at, "~~"), Edit(close_at, close_at, "~~"))
            open_at, close_at = start, end
    if open_at >= 0:
        yield from (Edit(open_at, open_at, "~~"), Edit(close_at, close_at, "~~"))


class _Drawn(NamedTuple):
    """A thin horizontal line: its ends and height in points, and whether it was drawn to strike text."""

    left: float
    right: float
    y: float
    is_strike: bool


def _under(lines: Iterable[_Drawn], geometry: Geometry, first: int, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a line's characters that lines are drawn through, without white space at their ends."""
    boxes = [geometry.box(first + place) for place in range(len(text))]
    size = geometry.height(first)
    for line in sorted(lines):
        covered = [
            place
            for place, box in enumerate(boxes)
            if box and line.left <= (box[0] + box[2]) / 2 <= line.right and not text[place].isspace()
        ]
        if not covered:
            continue
        ends = geometry.box_of(first + covered[0]), geometry.box_of(first + covered[-1])
        beyond = max(0, ends[0][0] - line.left) + max(0, line.right - ends[1][2])
        # Rules of tables, grids and charts run on beyond the text.
        if line.is_strike or beyond < max(2 * size, BEYOND * (line.right - line.left)):
            yield covered[0], covered[-1] + 1


def _drawn_lines(page: Any) -> Iterator[_Drawn]:
    """Yield the page's thin horizontal lines, and the lines that a reader struck text with."""
    count = pdfium.FPDFPage_CountObjects(page)
    for number in range(min(count, MOST_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, number)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH:
            yield from _lines_of(drawn)
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_OBJECTS)):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        if pdfium.FPDFAnnot_GetSubtype(note) == pdfium.FPDF_ANNOT_STRIKEOUT:
            corners = pdfium.FS_QUADPOINTSF()
            for place in range(min(pdfium.FPDFAnnot_CountAttachmentPoints(note), MOST_OBJECTS)):
                pdfium.FPDFAnnot_GetAttachmentPoints(note, place, corners)
                xs, ys = (sorted(getattr(corners, f"{axis}{corner}") for corner in range(1, 5)) for axis in "xy")
                yield _Drawn(xs[0], xs[-1], ys[0] + 0.4 * (ys[-1] - ys[0]), True)
        pdfium.FPDFPage_CloseAnnot(note)


def _lines_of(path: Any) -> Iterator[_Drawn]:
    """Yield the parts of a path that are thin and horizontal: lines, and rectangles as thin as a line."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    width, x, y, matrix = ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), pdfium.FS_MATRIX()
    segments = pdfium.FPDFPath_CountSegments(path)
    pdfium.FPDFPageObj_GetBounds(path, left, bottom, right, top)
    if right.value - left.value < THIN or segments > MOST_OBJECTS:
        return
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    pdfium.FPDFPageObj_GetStrokeWidth(path, width)
    parts: list[list[tuple[float, float]]] = []
    for number in range(segments):
        segment = pdfium.FPDFPath_GetPathSegment(path, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if not parts or pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO:
            parts.append([])
        parts[-1].append(point)
    for part in parts:
        xs, ys = [place for place, _ in part], [place for _, place in part]
        is_thin = max(ys) - min(ys) <= THIN and abs(matrix.d) * width.value <= THIN
        if is_thin and max(xs) - min(xs) > THIN:
            yield _Drawn(min(xs), max(xs), (min(ys) + max(ys)) / 2, False)


class _Raised(NamedTuple):
    """A span of raised or lowered characters, the offset of the character before it, and that character's box."""

    start: int
    end: int
    before: int
    box: Box
    is_high: bool


def raised(geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the edits that write raised and lowered numbers as such, and notes and the marks that refer to them."""
    found = list(_raised(geometry, text, index_of))
    notes = _notes(geometry, text, index_of) if any(each.is_high for each in found) else {}
    used: dict[int, re.Match[str]] = {}
    for each in found:
        yield from _on_one_line(each, geometry, text, index_of)
        shown = text[each.start : each.end]
        is_power = _POWER.search(text, max(0, each.before - 3), each.before + 1)
        if each.is_high and not is_power and _MARKS.fullmatch(shown):
            below = [_note_below(each, int(number), notes) for number in re.findall(r"\d+", shown)]
            if all(below):
                used.update({note.start(): note for note in below if note})
                marks = "".join(f"[^{number}]" for number in re.findall(r"\d+", shown))
                yield Edit(each.start, each.end, marks, geometry.box(index_of(each.start)))
                continue
        changed = shown.translate(_RAISED if each.is_high else _LOWERED)
        if not any(map(str.isascii, changed)):
            yield Edit(each.start, each.end, changed)
        elif each.is_high:
            yield from (Edit(each.start, each.start, "^("), Edit(each.end, each.end, ")"))
    for note in used.values():
        yield Edit(note.start(), note.start("number"), "\r\n[^" if note.start() else "[^")
        yield Edit(*note.span("gap"), "]: ")


def _raised(geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[_Raised]:
    reached = 0
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before = len(text[max(0, start - 3) : start].rstrip()) + max(0, start - 3) - 1
        if start < reached or before < 0 or text[before].isspace():
            continue
        box, own = geometry.box(index_of(before)), geometry.box(index_of(end - 1))
        if box is None or own is None:
            continue
        height = box[3] - box[1]
        if own[3] - own[1] > SMALLER * height or abs(geometry.box_of(index_of(start))[0] - box[2]) > BESIDE * height:
            continue
        rise = (geometry.baseline(index_of(end - 1)) - geometry.baseline(index_of(before))) / height
        is_high = RAISED[0] <= rise <= RAISED[1]
        if not is_high and not LOWERED[0] <= rise <= LOWERED[1]:
            continue
        while end < len(text) and not text[end].isspace() and _same(own, geometry.box(index_of(end))):
            end += 1
        reached = end
        yield _Raised(start, end, before, box, is_high)


def _same(one: Box, other: Box | None) -> bool:
    """Whether two characters are as high, and at the same height."""
    return other is not None and abs(one[1] - other[1]) + abs(one[3] - other[3]) < SAME_LINE * (one[3] - one[1])


def _on_one_line(each: _Raised, geometry: Geometry, text: str, index_of: IndexOf) -> Iterator[Edit]:
    """Yield the edits that remove PDFium's line ends before and after raised characters within a line."""
    if "\n" in text[each.before : each.start]:
        yield Edit(each.before + 1, each.start, "")
    following = next((match.start() for match in _INK.finditer(text, each.end)), 0)
    if not text.startswith("\r\n", each.end) or not following:
        return
    box, own = geometry.box(index_of(following)), geometry.box(index_of(each.end - 1))
    height = each.box[3] - each.box[1]
    level = abs(geometry.baseline(index_of(following)) - geometry.baseline(index_of(each.before)))
    if box and own and level < SAME_LINE * height and -BESIDE * height < box[0] - own[2] < 2 * height:
        is_apart = text[each.end + 2] != " " and box[0] - own[2] > SAME_LINE * height
        yield Edit(each.end, each.end + 2, " " if is_apart else "")


def _notes(geometry: Geometry, text: str, index_of: IndexOf) -> dict[int, list[tuple[re.Match[str], Box]]]:
    """Return the lines that begin with each number, and the box of the first character after it."""
    notes: dict[int, list[tuple[re.Match[str], Box]]] = {}
    for match in _NOTE.finditer(text):
        if box := geometry.box(index_of(match.end())):
            number = geometry.box_of(index_of(match.start("number")))
            # A raised number has a note as small as it is.
            small = (box[0], box[1], box[2], min(box[3], box[1] + number[3] - number[1]))
            if len(same := notes.setdefault(int(match["number"]), [])) < MOST_IN_LINE:
                same.append((match, small))
    return notes


def _note_below(
    each: _Raised, number: int, notes: dict[int, list[tuple[re.Match[str], Box]]]
) -> re.Match[str] | None:
    """Return the first note with the number that stands below the mark in smaller type, or with a raised number."""
    for match, box in notes.get(number, ()):
        is_small = box[3] - box[1] < 0.95 * (each.box[3] - each.box[1])
        if match.start() > each.end and box[3] < each.box[1] and is_small:
            return match
    return None
