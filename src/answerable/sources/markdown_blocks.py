"""Texts → blocks of Markdown: what every renderer of another format does alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from answerable.sources.markdown import Heading

MARK = "\ufdd0"
"""Stands before each heading while the text around it is still being indented and joined; no text may hold it."""

_ITEM = re.compile(r"(- |\d+\. )")


def place_headings(text: str, headings: Sequence[Heading]) -> tuple[str, list[Heading]]:
    """The text without its marks and without blank ends, and the headings at the places where the marks stood."""
    content, *pieces = text.lstrip().split(MARK)
    placed = []
    for heading, piece in zip(headings, pieces, strict=True):
        placed.append(replace(heading, start=len(content)))
        content += piece
    return content.rstrip(), placed


def indented(text: str, marker: str) -> str:
    """A text behind a marker, its further lines indented by as much."""
    lines = text.split("\n")
    rest = (" " * len(marker) + line if line else "" for line in lines[1:])
    return "\n".join((marker + lines[0], *rest))


def tight(blocks: Sequence[str]) -> str:
    """Blocks of a list's item: a list within follows its line directly."""
    text = ""
    for block in blocks:
        gap = "\n" if _ITEM.match(block) else "\n\n"
        text = f"{text}{gap}{block}" if text else block
    return text


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, its first row the header; rows without any text are left out."""
    grid = [[cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in rows]
    grid = [row for row in grid if any(row)]
    if not grid:
        return ""
    width = max(map(len, grid))
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in grid]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)
