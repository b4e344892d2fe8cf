"""Put the text of a page into reading order where PDFium's order runs across columns; runs in the reading process.

PDFium keeps the order in which a PDF draws its text, and joins what is drawn on one line. That is the reading order,
except where lines of neighbouring columns or cells are drawn alternately. Only such regions are changed: a gutter must
be free of text from top to bottom, and the text on both sides must continue from line to line. The thresholds were not
measured one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from answerable.datatypes import Span
from answerable.sources.pdf.tables import Geometry, deepest

FEWEST_LINES = 3  # lines of neighbouring columns, at least, that are drawn alternately
FEWEST_CELLS = 2  # table rows, at least, in which a cell has several lines
LEVEL = 0.3  # share of the lower piece's height that two pieces on one line have in common at least
WIDER_GAP = 0.25  # excess over the usual gap between lines that divides cells, in heights of a line
SHORTEST = 12  # median number of characters of a column's lines at least
READS_ON = 0.3  # share of lines, at least, that begin in lower case in a text that continues from line to line
FULL = 0.5  # share of a column's lines, at least, that are full
FULL_WIDTH = 0.75  # share of the column's width, at least, that a full line takes
SHORTEST_PIECE = 4  # mean number of characters of a line in a cell at least; a matrix has one or two
TALLEST = 8  # lines of a cell at most
MOST_LABELS = 50  # lines of a page; a page with more lines and hardly any prose keeps its order
MOST_DEPTH = 8  # how often columns are looked for within columns
MOST_FRAGMENTS = 1_500  # fragments of a page; more are not ordered, because each is compared with the others
FEWEST_NUMBERS = 4  # lines of a page, at least, that begin with a number if its lines are numbered
FEWEST_LINE_NUMBERS = 10  # numbers on a page, at least, if every line is numbered
_LINE_NUMBER = re.compile(r"(\d{1,4}) +(?=\S)")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")

Line = tuple[int, int, str]


def reading_order(geometry: Geometry, raw: str, index_of: Callable[[int], int]) -> list[Span]:
    """Return the spans of the raw text in reading order; a single span if the order is already right.

    `index_of` maps an offset in the raw text to PDFium's index of the character.
    """
    whole = [(0, len(raw))]
    lines = _lines(raw)
    if len(lines) <= FEWEST_LINES or (not raw.isascii() and RIGHT_TO_LEFT.search(raw)):
        return whole
    if numbered := _margin(raw, lines):
        return numbered
    reading_on = sum(raw[start].islower() for start, _, _ in lines)
    if len(lines) > MOST_LABELS and reading_on * 2 < READS_ON * len(lines):
        # Tables of figures are the usual case of gutters, and their order needs no measuring.
        return whole
    firsts = [index_of(start) for start, _, _ in lines]
    fragments = _fragments(geometry, lines, firsts)
    if not 0 < len(fragments) <= MOST_FRAGMENTS:
        return whole
    ordered = _ordered(fragments, geometry)
    return whole if ordered == fragments else list(_spans(ordered))


def _margin(raw: str, lines: Sequence[Line]) -> list[Span]:
    """Return the spans of a page's line numbers, then those of the numbered lines; [] without line numbers."""
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
    # Rows of a table and points of a list may be numbered too, but their text doesn't continue from line to line.
    reading_on = sum(raw[start].islower() for start, _ in bare)
    if len(starts) < FEWEST_LINE_NUMBERS // step or reading_on < READS_ON * len(bare):
        return []
    numbers = [(lines[place][0], lines[place][0] + match.end()) for place, match in starts]
    return [*numbers, *bare]


def _lines(raw: str) -> list[Line]:
    """Return the start, the end including the blank lines after it, and the text of each line that isn't blank."""
    filled = []
    start = 0
    for line in raw.replace("\ufffe", "\n").split("\n"):
        if text := line.strip():
            filled.append((start if line[0] == text[0] else start + line.index(text[0]), text))
        start += len(line) + 1
    following = [*(start for start, _ in filled[1:]), len(raw)]
    return [(start, end, text) for (start, text), end in zip(filled, following, strict=False)]


def _fragments(geometry: Geometry, lines: Sequence[Line], firsts: Sequence[int]) -> list[Fragment]:
    """Return the lines, cut at wide gaps; [] if one isn't horizontal."""
    found = []
    for (start, end, text), first in zip(lines, firsts, strict=True):
        box = geometry.line_box(first, len(text))
        if box is None:
            return []
        cells = geometry.cells(first, text)
        if not cells:
            return []
        begins = [0, *(at for at, _, _ in cells[1:])]
        ends = [*(start + at for at in begins[1:]), end]
        for (at, left, right), begin, last in zip(cells, begins, ends, strict=True):
            piece = text[begin : last - start].strip()
            found.append(Fragment(start + begin, last, first + at, left, box[1], right, box[3], piece))
    return found


def _spans(ordered: Fragments) -> Iterator[Span]:
    start = end = ordered[0].start
    for piece in ordered:
        if piece.start != end:
            yield start, end
            start = piece.start
        end = piece.end
    yield start, end


class Fragment(NamedTuple):
    """A piece of a line, cut at wide gaps: its offsets in the raw text, PDFium's index of its start, box and text."""

    start: int
    end: int
    first: int
    left: float
    bottom: float
    right: float
    top: float
    text: str

    @property
    def middle(self) -> float:
        """The y-coordinate of the fragment's middle."""
        return (self.bottom + self.top) / 2


Fragments = Sequence[Fragment]


def _ordered(fragments: Fragments, geometry: Geometry, depth: int = 0) -> list[Fragment]:
    """Return the fragments with each crossed region put in order, at the place of the region's first fragment."""
    found = list(fragments)
    gutter = gutter_of(found, FEWEST_LINES)
    if gutter is None or depth > MOST_DEPTH:
        return found
    for band in _bands(found, gutter):
        if _turns(band, gutter) < FEWEST_LINES or (right := _right(band, gutter, geometry, depth)) is None:
            continue
        inside = {piece.start for piece in band}
        place = next(place for place, piece in enumerate(found) if piece.start in inside)
        rest = [piece for piece in found[place:] if piece.start not in inside]
        found = [*found[:place], *right, *rest]
    return found


def _right(band: Fragments, gutter: float, geometry: Geometry, depth: int) -> list[Fragment] | None:
    """Return the band in order, cell by cell or column by column; None for an uncrossed region, such as a table."""
    blocks = _blocks(band)
    if len(blocks) >= FEWEST_CELLS and _are_cells(blocks, geometry):
        return [piece for block in blocks for cell in _columns(block, 1) for piece in cell]
    if all(map(_is_column, _columns(band))):
        return [piece for side in _sides(band, gutter) for piece in _ordered(side, geometry, depth + 1)]
    return None


def _are_cells(blocks: Sequence[Fragments], geometry: Geometry) -> bool:
    """Whether the blocks are table rows with cells of several lines: text continues within a cell, not across."""
    cells = [_columns(block, 1) for block in blocks]
    tall = [row for row in cells if max(map(len, row)) > 1 and len(row) > 1]
    if len(tall) < FEWEST_CELLS or max(len(cell) for row in cells for cell in row) > TALLEST:
        return False
    lengths = [len(piece.text) for row in tall for cell in row for piece in cell]
    if sum(lengths) < SHORTEST_PIECE * len(lengths):
        return False
    begun = [cell[0] for row in cells for cell in row]
    if 4 * sum(map(_continues, begun)) > len(begun):
        return False
    below = [piece for row in tall for cell in row for piece in cell[1:]]
    if sum(map(_continues, below)) >= READS_ON * len(below):
        return True
    return all(_is_labelled(cell, geometry) for row in tall for cell in row)


def _is_labelled(cell: Fragments, geometry: Geometry) -> bool:
    """Whether a cell consists of a label above a value."""
    if len(cell) != 2:
        return False
    label, value = cell
    is_named = label.text.endswith(":")
    return is_named or geometry.style(label.first) != geometry.style(value.first)


def _is_column(column: Fragments) -> bool:
    """Whether the lines are long, mostly full, and continue from line to line."""
    if len(column) < FEWEST_LINES:
        return False
    lengths = sorted(len(piece.text) for piece in column)
    left, right = min(piece.left for piece in column), max(piece.right for piece in column)
    full = sum(piece.right - left >= FULL_WIDTH * (right - left) for piece in column)
    continuing = sum(map(_continues, column[1:]))
    is_full = full >= FULL * len(column)
    return lengths[len(lengths) // 2] >= SHORTEST and is_full and continuing >= READS_ON * (len(column) - 1)


def _continues(piece: Fragment) -> bool:
    # Letters without case, as in Chinese, don't show whether a line continues the previous one.
    return piece.text[:1].isalpha() and not piece.text[:1].isupper()


def gutter_of(fragments: Fragments, fewest: int) -> float | None:
    """Return the x-coordinate that most gaps between neighbours contain, if at least `fewest` gaps contain it."""
    gaps = [
        (one.right, other.left)
        for one, other in pairwise(fragments)
        if other.left > one.right + 1
        and min(one.top, other.top) - max(one.bottom, other.bottom)
        > LEVEL * min(one.top - one.bottom, other.top - other.bottom)
    ]
    depth, place = deepest(gaps)
    return place if depth >= fewest else None


def _crosses(piece: Fragment, gutter: float) -> bool:
    return piece.left < gutter - 1 and piece.right > gutter + 1


def _bands(fragments: Fragments, gutter: float) -> Iterator[list[Fragment]]:
    """Yield the regions of the page, from top to bottom, within which no text crosses the gutter."""
    walls = [piece.middle for piece in fragments if _crosses(piece, gutter)]
    bands: dict[int, list[Fragment]] = {}
    for piece in fragments:
        if not _crosses(piece, gutter):
            bands.setdefault(sum(wall > piece.middle for wall in walls), []).append(piece)
    for number in sorted(bands):
        yield bands[number]


def _turns(band: Fragments, gutter: float) -> int:
    """Return how many alternating runs of text there are left and right of the gutter."""
    return sum(is_right for is_right, _ in groupby(piece.left >= gutter for piece in band))


def _sides(band: Fragments, gutter: float) -> tuple[list[Fragment], list[Fragment]]:
    return [piece for piece in band if piece.left < gutter], [piece for piece in band if piece.left >= gutter]


def _columns(band: Fragments, fewest: int = FEWEST_LINES, depth: int = 0) -> list[Fragments]:
    """Return the columns from left to right, cut at every gutter that no text crosses."""
    gutter = gutter_of(band, fewest)
    if gutter is None or depth > MOST_DEPTH or any(_crosses(piece, gutter) for piece in band):
        return [band]
    return [column for side in _sides(band, gutter) for column in _columns(side, fewest, depth + 1)]


def _blocks(band: Fragments) -> list[list[Fragment]]:
    """Return the band cut at horizontal white space that is higher than the space between the band's lines."""
    descending = sorted(band, key=lambda piece: -piece.top)
    reached = descending[0].bottom
    height = descending[0].top - descending[0].bottom
    gaps: list[tuple[float, float]] = []
    for piece in descending[1:]:
        if piece.middle < reached:
            gaps.append((reached - piece.top, piece.top))
        reached = min(reached, piece.bottom)
    usual = min((gap for gap, _ in gaps), default=0.0)
    edges = [top for gap, top in gaps if gap > usual + WIDER_GAP * height]
    blocks: dict[int, list[Fragment]] = {}
    for piece in band:
        blocks.setdefault(sum(piece.top <= edge for edge in edges), []).append(piece)
    return [blocks[number] for number in sorted(blocks)]
