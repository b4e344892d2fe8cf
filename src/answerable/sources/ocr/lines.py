"""Recognised lines of a page with their boxes → the lines in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as fractions of the width and height of the page as it is shown."""

SAME_ROW, NEW_ROW, NEW_BLOCK = " ", "\n", "\n\n"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, or a cell of a table row; `before` is the white space between the previous line and this one."""

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


class PictureRefused(Exception):
    """A picture can't be decoded; the message says why."""


class PictureTooLarge(PictureRefused):
    """A picture has too many pixels or pages; the message says what to do."""


# A page has columns if each side of a gap that few boxes cross has this many rows, and most of them fill the side's
# width; the cells of a table don't.
FEWEST_ROWS = 3
MOST_CROSSING = 0.3  # the share of all boxes that may cross the gap; a guess, not measured
FULL = 0.6  # the share of the column's width that a full line takes; a guess, not measured
LEAST_SHAPE = 8  # width of a line of prose, in heights of the line; a guess, not measured
DEEPEST = 4  # how often columns are looked for within columns
MOST_BOXES = 2_000  # boxes of a page; more are not ordered into columns, because each is compared with all others
GAP = 1.45  # distance that divides blocks, in usual distances of lines; a guess, not measured
ROOM = 1.2  # free space at a paragraph's end, in widths of the next word; a guess, not measured


def in_reading_order(boxes: Sequence[Box], texts: Sequence[str]) -> list[tuple[int, str]]:
    """Return each box's index, in reading order, and the white space between the previous box and this one."""
    order: list[tuple[int, str]] = []
    for block in _ordered(boxes, list(range(len(boxes))), 0):
        edge = max(boxes[index][2] for row in block for index in row)
        last: int | None = None
        for row in block:
            is_new = last is None or _ends(boxes[last], edge, boxes[row[0]], texts[row[0]])
            for number, index in enumerate(row):
                order.append((index, SAME_ROW if number else NEW_BLOCK if is_new else NEW_ROW))
            last = row[-1]
    return order


def _ends(box: Box, edge: float, following: Box, text: str) -> bool:
    """Whether a line ends a paragraph: the next begins with a capital or digit, and its word would have fitted."""
    if not text[:1].isupper() and not text[:1].isdigit():
        return False
    word = (following[2] - following[0]) * len(text.split(None, 1)[0]) / len(text)
    return edge - box[2] > ROOM * word + following[3] - following[1]


def _ordered(boxes: Sequence[Box], indices: list[int], depth: int) -> list[list[list[int]]]:
    """Return the boxes as blocks of rows."""
    split = _gutter(boxes, indices) if depth < DEEPEST and len(indices) <= MOST_BOXES else None
    if split is None:
        return _blocks(boxes, indices)
    across = sorted(
        (index for index in indices if boxes[index][0] < split < boxes[index][2]), key=lambda i: boxes[i][1]
    )
    blocks: list[list[list[int]]] = []
    rest = [index for index in indices if index not in set(across)]
    # A headline across the columns divides the page into one band above the headline and one below it.
    for number in range(len(across) + 1):
        top = _middle(boxes[across[number - 1]]) if number else float("-inf")
        bottom = _middle(boxes[across[number]]) if number < len(across) else float("inf")
        band = [index for index in rest if top <= _middle(boxes[index]) < bottom]
        for side in (lambda index: boxes[index][2] <= split, lambda index: boxes[index][0] >= split):
            if wanted := list(filter(side, band)):
                blocks += _ordered(boxes, wanted, depth + 1)
        if number < len(across):
            if band or not number:
                blocks.append([])
            blocks[-1].append([across[number]])
    return blocks


def _gutter(boxes: Sequence[Box], indices: list[int]) -> float | None:
    """Return the x-coordinate between two columns of text, or None."""
    best: tuple[float, float] | None = None
    for split in sorted({boxes[index][0] for index in indices}):
        left = [boxes[index] for index in indices if boxes[index][2] <= split]
        right = [boxes[index] for index in indices if boxes[index][0] >= split]
        crossing = len(indices) - len(left) - len(right)
        if min(len(left), len(right)) < FEWEST_ROWS or crossing > MOST_CROSSING * len(indices):
            continue
        score = crossing + abs(len(left) - len(right)) / (2 * len(indices))
        if (best is None or score < best[0]) and _is_column(left) and _is_column(right) and _side_by_side(left, right):
            best = (score, split)
    return best[1] if best else None


def _is_column(side: Sequence[Box]) -> bool:
    """Whether most boxes are lines of text as wide as the column."""
    width = max(box[2] for box in side) - min(box[0] for box in side)
    usual = median(box[2] - box[0] for box in side)
    return usual >= FULL * width and usual >= LEAST_SHAPE * median(box[3] - box[1] for box in side)


def _side_by_side(left: Sequence[Box], right: Sequence[Box]) -> bool:
    top = max(min(box[1] for box in left), min(box[1] for box in right))
    bottom = min(max(box[3] for box in left), max(box[3] for box in right))
    heights = [max(box[3] for box in side) - min(box[1] for box in side) for side in (left, right)]
    return bottom - top >= min(heights) / 2


def _blocks(boxes: Sequence[Box], indices: list[int]) -> list[list[list[int]]]:
    """Return the rows, grouped into blocks that wide gaps divide."""
    rows = _rows(boxes, indices)
    if not rows:
        return []
    middles = [median(_middle(boxes[index]) for index in row) for row in rows]
    steps = [after - before for before, after in pairwise(middles)]
    usual = median(steps) if steps else 0
    blocks = [[rows[0]]]
    for row, step in zip(rows[1:], steps, strict=True):
        if step > GAP * usual:
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def _rows(boxes: Sequence[Box], indices: list[int]) -> list[list[int]]:
    """Return the boxes in rows: the middles of a box and its row differ by less than half of the box's height."""
    rows: list[list[int]] = []
    for index in sorted(indices, key=lambda each: _middle(boxes[each])):
        box, last = boxes[index], boxes[rows[-1][-1]] if rows else None
        height = min(box[3] - box[1], last[3] - last[1]) if last else 0
        if last and _middle(box) - _middle(last) < height / 2 and not _overlaps(box, rows[-1], boxes):
            rows[-1].append(index)
        else:
            rows.append([index])
    return [sorted(row, key=lambda each: boxes[each][0]) for row in rows]


def _overlaps(box: Box, row: list[int], boxes: Sequence[Box]) -> bool:
    """Whether a box is above or below a box of the row, rather than next to it."""
    shared = (min(box[2], boxes[each][2]) - max(box[0], boxes[each][0]) for each in row)
    return any(each > (box[3] - box[1]) / 2 for each in shared)


def _middle(box: Box) -> float:
    return (box[1] + box[3]) / 2
