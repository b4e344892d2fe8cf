"""Blocks of Markdown, shared by the renderers of other formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from answerable.sources.markdown import Heading

MARK = "\ufdd0"
"""Precedes each heading while the text is still being indented and joined; occurs in no text."""

_MOST_PADDING = 10
_SMALL_TABLE = 10_000
_ITEM = re.compile(r"(- |\d+\. )")


def place_headings(text: str, headings: Sequence[Heading]) -> tuple[str, list[Heading]]:
    """Remove the marks of headings from a text and strip it; return it, and the headings with their offsets."""
    pieces = text.lstrip().split(MARK)
    starts = accumulate(map(len, pieces[:-1]))
    placed = [replace(heading, start=start) for heading, start in zip(headings, starts, strict=True)]
    return "".join(pieces).rstrip(), placed


def indented(text: str, marker: str) -> str:
    """Put a marker before a text, and indent its other lines by the marker's length."""
    lines = text.split("\n")
    rest = (" " * len(marker) + line if line else "" for line in lines[1:])
    return "\n".join((marker + lines[0], *rest))


def tight(blocks: Sequence[str]) -> str:
    """Join the blocks of a list item; an inner list follows its line directly."""
    pieces: list[str] = []
    for block in filter(None, blocks):
        if pieces:
            pieces.append("\n" if _ITEM.match(block) else "\n\n")
        pieces.append(block)
    return "".join(pieces)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with the first row as header; empty rows are left out."""
    grid = [[cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in rows]
    grid = [row for row in grid if any(row)]
    if not grid:
        return ""
    width = max(map(len, grid))
    if width * len(grid) > _MOST_PADDING * sum(map(len, grid)) + _SMALL_TABLE:
        # One long row among many short ones, which then aren't padded.
        lines = [f"| {' | '.join(row)} |" for row in grid]
    else:
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in grid]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)
