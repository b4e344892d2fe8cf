"""Render OpenDocument's headings, paragraphs, lists and tables as blocks of Markdown.

Tracked deletions, comments and tables of contents are left out; notes are collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.markdown import Heading
from answerable.sources.markdown_blocks import MARK, table
from answerable.sources.office.odf import attribute, count_of, paragraph_text
from answerable.sources.office.ooxml import local_name

_LEFT_OUT = frozenset(
    {"tracked-changes", "table-of-content", "annotation", "forms", "sequence-decls", "variable-decls", "title", "desc"}
    | {"user-field-decls", "illustration-index", "table-index", "alphabetical-index", "bibliography", "notes"}
)
_WIDEST = 63
_DEEPEST = 50


class Walk:
    """One pass over a document; collects `headings`, and the text of each of its `notes`."""

    def __init__(self, numbered: frozenset[str] = frozenset()) -> None:
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self._numbered = numbered

    def blocks(self, container: Any, in_table: bool = False, depth: int = 0) -> list[str]:
        """Return the blocks of Markdown for what is in an element."""
        blocks: list[str] = []
        for child in container.iterchildren("*"):
            name = local_name(child)
            if name in _LEFT_OUT or depth > _DEEPEST:
                continue
            if name == "h" and not in_table:
                blocks += self._heading(child)
            elif name in ("p", "h"):
                blocks += self._paragraph(child, in_table, depth)
            elif name == "list":
                items = list(self._items(child, 0, in_table))
                blocks += items if in_table else ["\n".join(items)] if items else []
            elif name == "table":
                blocks += self._table(child, in_table, depth)
            else:
                blocks += self.blocks(child, in_table, depth + 1)
        return blocks

    def _heading(self, element: Any) -> list[str]:
        text = self._text(element).replace("\n", " ")
        if not text:
            return []
        level = min(max(count_of(element, "outline-level"), 1), 6)
        self.headings.append(Heading(0, level, paragraph_text(element).replace("\n", " "), None))
        return [f"{MARK}{'#' * level} {text}"]

    def _paragraph(self, element: Any, in_table: bool, depth: int) -> list[str]:
        blocks = [text] if (text := self._text(element)) else []
        for frame in element.iter("{*}text-box"):
            # A box within another is reached through the outer one.
            if not any(local_name(each) == "text-box" for each in _until(frame, element)):
                blocks += self.blocks(frame, in_table, depth + 1)
        return blocks

    def _text(self, element: Any) -> str:
        """Return the text of a paragraph and the references to its notes, which are collected."""
        text = paragraph_text(element)
        for body in element.iter("{*}note-body"):
            if any(local_name(each) == "text-box" for each in _until(body, element)):
                # It belongs to a paragraph of the box.
                continue
            note = " ".join(filter(None, (paragraph_text(each) for each in body.iter("{*}p"))))
            if note:
                self.notes.append(note.replace("\n", " "))
                text += f"[^{len(self.notes)}]"
        return text

    def _items(self, element: Any, level: int, in_table: bool) -> Iterator[str]:
        is_numbered = attribute(element, "style-name") in self._numbered
        for number, item in enumerate(element.iterchildren("{*}list-item", "{*}list-header"), 1):
            marker = f"{'  ' * level}{f'{number}.' if is_numbered else '-'} "
            for child in item.iterchildren("{*}p", "{*}h", "{*}list"):
                if local_name(child) == "list":
                    yield from self._items(child, min(level + 1, _DEEPEST), in_table)
                elif text := self._text(child):
                    yield text if in_table else marker + text.replace("\n", "\n" + " " * len(marker))
                    marker = " " * len(marker)

    def _table(self, element: Any, in_table: bool, depth: int) -> list[str]:
        grid = [self._row(row, depth) for row in _rows(element)]
        if in_table:
            return [text for row in grid if (text := " ".join(filter(None, row)))]
        if max(map(len, grid), default=0) < 2:
            return [text for row in grid for text in row if text]
        return [text] if (text := table(grid)) else []

    def _row(self, row: Any, depth: int) -> list[str]:
        cells: list[str] = []
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            text = " ".join(self.blocks(cell, in_table=True, depth=depth + 1)).replace("\n", " ")
            # Repeated cells are empty, except in hostile files, whose tables in tables would multiply.
            cells += [text, *[""] * (min(count_of(cell, "number-columns-repeated"), _WIDEST) - 1)]
        return cells[:_WIDEST]


def blocks_of(element: Any) -> list[str]:
    """Return the blocks of Markdown in an element, without marks of headings."""
    return [block.replace(MARK, "") for block in Walk().blocks(element)]


def _rows(element: Any) -> Iterator[Any]:
    for child in element.iterchildren("*"):
        name = local_name(child)
        if name == "table-row":
            yield child
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(child)


def _until(element: Any, ancestor: Any) -> Iterator[Any]:
    for each in element.iterancestors():
        if each is ancestor:
            return
        yield each
