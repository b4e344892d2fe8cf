"""Put the text of a page into reading order where PDFium's order runs across columns; runs in the reading process.

PDFium keeps the order in which a PDF draws its text, and joins what is drawn on one line. That is the reading order,
except where lines of neighbouring columns or cells are drawn in turn. Only such regions are changed: a gutter must be
free of text from top to bottom, and the text on both sides must read on from line to line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from answerable.datatypes import Span
from answerable.sources.pdf.crossed import FEWEST_LINES, MOST_LABELS, READS_ON, Fragment, Fragments, Order
from answerable.sources.pdf.geometry import Geometry, deepest

MOST_FRAGMENTS = 1_500
LONG_LINE = 40
SAMPLED = 6
SHORT = 12
SHORTEST_ROW = 8
LOOSE = 0.8
BESIDE = 2.0
APART = 5.0
FEWEST_NUMBERS = 4
FEWEST_LINE_NUMBERS = 10
_LINE_NUMBER = re.compile(r"(\d{1,4}) +(?=\S)")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")


def reading_order(geometry: Geometry, raw: str, index_of: Callable[[int], int]) -> list[Span]:
    """Return the spans of the raw text in reading order; one span if the order is right as it is.

    `index_of` maps an offset in the raw text to PDFium's index of the character.
    """
    whole = [(0, len(raw))]
    lines = _lines(raw)
    if len(lines) <= FEWEST_LINES or (not raw.isascii() and _RIGHT_TO_LEFT.search(raw)):
        return whole
    if numbered := _margin(raw, lines):
        return numbered
    reading_on = sum(raw[start].islower() for start, _, _ in lines)
    if len(lines) > MOST_LABELS and reading_on * 2 < READS_ON * len(lines):
        # Tables of figures, the usual case with gutters, need no measuring.
        return whole
    firsts = [index_of(start) for start, _, _ in lines]
    lengths = [len(text) for _, _, text in lines]
    if not _may_be_crossed(geometry, firsts, lengths):
        return whole
    fragments = _fragments(geometry, lines, firsts)
    if not 0 < len(fragments) <= MOST_FRAGMENTS:
        return whole
    ordered = Order(geometry, raw).ordered(fragments)
    return whole if ordered == fragments else list(_spans(ordered))


def _margin(raw: str, lines: Sequence[tuple[int, int, str]]) -> list[Span]:
    """Return the spans of the numbers that count the lines of a page, then those of the lines; none without them."""
    numbered = ((place, text) for place, (_, _, text) in enumerate(lines) if text[0].isdigit())
    starts = [(place, match) for place, text in numbered if (match := _LINE_NUMBER.match(text))]
    if len(starts) < FEWEST_NUMBERS:
        return []
    steps = [(int(other[1]) - int(one[1]), below - above) for (above, one), (below, other) in pairwise(starts)]
    step = steps[0][0]
    if step not in (1, 5) or any(number != step or abs(rows - step) > 1 for number, rows in steps):
        return []
    bare = [
        (start + (match.end() if match else 0), end)
        for start, end, text in lines
        for match in [_LINE_NUMBER.match(text)]
    ]
    # Rows of a table and the points of a list may be numbered too, but don't read on from line to line.
    reading_on = sum(raw[start].islower() for start, _ in bare)
    if len(starts) < FEWEST_LINE_NUMBERS // step or reading_on < READS_ON * len(bare):
        return []
    numbers = [(lines[place][0], lines[place][0] + match.end()) for place, match in starts]
    return [*numbers, *bare]


def _lines(raw: str) -> list[tuple[int, int, str]]:
    """Return start, end with the blank lines after it, and text of each line that isn't blank."""
    filled = []
    start = 0
    for line in raw.replace("\ufffe", "\n").split("\n"):
        if text := line.strip():
            filled.append((start if line[0] == text[0] else start + line.index(text[0]), text))
        start += len(line) + 1
    following = [*(start for start, _ in filled[1:]), len(raw)]
    return [(start, end, text) for (start, text), end in zip(filled, following, strict=False)]


def _may_be_crossed(geometry: Geometry, firsts: Sequence[int], lengths: Sequence[int]) -> bool:
    """Whether lines stand beside or above the line before, or have wide gaps; measures little."""

    def gaps(places: Iterable[int]) -> int:
        """Return how many lines have a gap at the same place."""
        found = (geometry.gap(firsts[place], lengths[place]) for place in places)
        return deepest((gap.left, gap.right) for gap in found if gap and gap.beside >= BESIDE)[0]

    long = [place for place, length in enumerate(lengths) if length >= LONG_LINE]
    if gaps(long[:: len(long) // SAMPLED + 1]) > 1 and gaps(long) >= FEWEST_LINES:
        return True
    starts = geometry.starts(firsts)
    beside = 0
    for place, ((_, low, _), (_, bottom, top)) in enumerate(pairwise(starts), 1):
        if bottom + top > 2 * low and lengths[place] + lengths[place - 1] >= SHORT:
            beside += _stands_beside(geometry, firsts, lengths, place)
    if beside >= FEWEST_LINES:
        return True
    wide = []
    for place, length in enumerate(lengths):
        if SHORTEST_ROW <= length < LONG_LINE and (box := geometry.box(firsts[place] + length - 1)) is not None:
            left, bottom, top = starts[place]
            # Rows of a form are far wider than their characters.
            if box[2] - left > LOOSE * length * (top - bottom):
                wide.append(place)
    return len(wide) >= FEWEST_LINES and gaps(wide) >= FEWEST_LINES


def _stands_beside(geometry: Geometry, firsts: Sequence[int], lengths: Sequence[int], place: int) -> bool:
    one, other = (geometry.line_box(firsts[line], lengths[line]) for line in (place - 1, place))
    return one is not None and other is not None and (other[0] > one[2] + APART or other[2] < one[0] - APART)


def _fragments(geometry: Geometry, lines: Sequence[tuple[int, int, str]], firsts: Sequence[int]) -> list[Fragment]:
    found = []
    for (start, end, text), first in zip(lines, firsts, strict=True):
        box = geometry.line_box(first, len(text))
        if box is None:
            return []
        # Most lines have no gap, which needs less measuring.
        cells = geometry.cells(first, text) if geometry.gap(first, len(text)) else [(0, box[0], box[2])]
        if not cells:
            return []
        begins = [0, *(place for place, _, _ in cells[1:])]
        ends = [*(start + place for place in begins[1:]), end]
        for (place, left, right), begin, last in zip(cells, begins, ends, strict=True):
            found.append(Fragment(start + begin, last, first + place, left, box[1], right, box[3]))
    return found


def _spans(ordered: Fragments) -> Iterator[Span]:
    start = end = ordered[0].start
    for piece in ordered:
        if piece.start != end:
            yield start, end
            start = piece.start
        end = piece.end
    yield start, end
