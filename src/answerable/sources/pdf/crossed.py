"""Decide which regions of a page are columns or cells whose lines were drawn in turn, and put them in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from answerable.sources.pdf.geometry import Geometry, deepest

FEWEST_LINES = 3
FEWEST_CELLS = 2
BESIDE = 0.3
WIDER_GAP = 0.25
SHORTEST = 12
READS_ON = 0.3
FULL = 0.5
FULL_WIDTH = 0.75
TALLEST = 8
MOST_LABELS = 50
MOST_DEPTH = 8


class Fragment(NamedTuple):
    """A piece of a line, cut at wide gaps: its offsets in the raw text, PDFium's index of its start, and its box."""

    start: int
    end: int
    first: int
    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return (self.bottom + self.top) / 2


Fragments = Sequence[Fragment]


class Order:
    """The order of the fragments of one page."""

    def __init__(self, geometry: Geometry, raw: str) -> None:
        self._geometry = geometry
        self._raw = raw

    def ordered(self, fragments: Fragments, depth: int = 0) -> list[Fragment]:
        """Return the fragments with each crossed region put in order, where its first fragment stood."""
        found = list(fragments)
        gutter = gutter_of(found, FEWEST_LINES)
        if gutter is None or depth > MOST_DEPTH:
            return found
        for band in _bands(found, gutter):
            if _turns(band, gutter) < FEWEST_LINES or (right := self._right(band, gutter, depth)) is None:
                continue
            inside = {piece.start for piece in band}
            place = next(place for place, piece in enumerate(found) if piece.start in inside)
            rest = [piece for piece in found[place:] if piece.start not in inside]
            found = [*found[:place], *right, *rest]
        return found

    def _right(self, band: Fragments, gutter: float, depth: int) -> list[Fragment] | None:
        """Return the band in order, cell by cell or column by column; None for what isn't crossed, such as a table."""
        blocks = _blocks(band)
        if len(blocks) >= FEWEST_CELLS and self._are_cells(blocks):
            return [piece for block in blocks for piece in _cell_by_cell(block)]
        if all(map(self._is_column, _columns(band))):
            return [piece for side in _sides(band, gutter) for piece in self.ordered(side, depth + 1)]
        return None

    def _are_cells(self, blocks: Sequence[Fragments]) -> bool:
        """Whether the blocks are rows of cells with several lines: their text reads on within a cell, not across."""
        cells = [_columns(block, 1) for block in blocks]
        tall = [row for row in cells if max(map(len, row)) > 1 and len(row) > 1]
        if len(tall) < FEWEST_CELLS or max(len(cell) for row in cells for cell in row) > TALLEST:
            return False
        begun = [cell[0] for row in cells for cell in row]
        if 4 * sum(map(self._continues, begun)) > len(begun):
            return False
        below = [piece for row in tall for cell in row for piece in cell[1:]]
        if sum(map(self._continues, below)) >= READS_ON * len(below):
            return True
        return all(self._is_labelled(cell) for row in tall for cell in row)

    def _is_labelled(self, cell: Fragments) -> bool:
        """Whether a cell is a label above a value."""
        if len(cell) != 2:
            return False
        label, value = cell
        is_named = self._text(label).endswith(":")
        return is_named or self._geometry.style(label.first) != self._geometry.style(value.first)

    def _is_column(self, column: Fragments) -> bool:
        """Whether the lines are long, mostly full, and read on from line to line."""
        if len(column) < FEWEST_LINES:
            return False
        lengths = sorted(len(self._text(piece)) for piece in column)
        left, right = min(piece.left for piece in column), max(piece.right for piece in column)
        full = sum(piece.right - left >= FULL_WIDTH * (right - left) for piece in column)
        continuing = sum(map(self._continues, column[1:]))
        is_full = full >= FULL * len(column)
        return lengths[len(lengths) // 2] >= SHORTEST and is_full and continuing >= READS_ON * (len(column) - 1)

    def _continues(self, piece: Fragment) -> bool:
        first = self._raw[piece.start : piece.end].lstrip()[:1]
        # Letters without case, as in Chinese, tell nothing.
        return first.isalpha() and not first.isupper()

    def _text(self, piece: Fragment) -> str:
        return self._raw[piece.start : piece.end].strip()


def gutter_of(fragments: Fragments, fewest: int) -> float | None:
    """Return the x that most gaps between neighbours contain, if it is at least `fewest`."""
    gaps = [
        (one.right, other.left)
        for one, other in pairwise(fragments)
        if other.left > one.right + 1
        and min(one.top, other.top) - max(one.bottom, other.bottom)
        > BESIDE * min(one.top - one.bottom, other.top - other.bottom)
    ]
    depth, place = deepest(gaps)
    return place if depth >= fewest else None


def _crosses(piece: Fragment, gutter: float) -> bool:
    return piece.left < gutter - 1 and piece.right > gutter + 1


def _bands(fragments: Fragments, gutter: float) -> Iterator[list[Fragment]]:
    """Yield the regions, from top to bottom, in which no text crosses the gutter."""
    walls = [piece.middle for piece in fragments if _crosses(piece, gutter)]
    bands: dict[int, list[Fragment]] = {}
    for piece in fragments:
        if not _crosses(piece, gutter):
            bands.setdefault(sum(wall > piece.middle for wall in walls), []).append(piece)
    for number in sorted(bands):
        yield bands[number]


def _turns(band: Fragments, gutter: float) -> int:
    """Return how often the text goes over to the right of the gutter."""
    return sum(is_right for is_right, _ in groupby(piece.left >= gutter for piece in band))


def _sides(band: Fragments, gutter: float) -> tuple[list[Fragment], list[Fragment]]:
    return [piece for piece in band if piece.left < gutter], [piece for piece in band if piece.left >= gutter]


def _columns(band: Fragments, fewest: int = FEWEST_LINES, depth: int = 0) -> list[Fragments]:
    """Return the columns from left to right, cut at every gutter that no text crosses."""
    gutter = gutter_of(band, fewest)
    if gutter is None or depth > MOST_DEPTH or any(_crosses(piece, gutter) for piece in band):
        return [band]
    return [column for side in _sides(band, gutter) for column in _columns(side, fewest, depth + 1)]


def _cell_by_cell(block: Fragments) -> list[Fragment]:
    return [piece for cell in _columns(block, 1) for piece in cell]


def _blocks(band: Fragments) -> list[list[Fragment]]:
    """Return the band cut where white space runs across it that is higher than between its lines."""
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
