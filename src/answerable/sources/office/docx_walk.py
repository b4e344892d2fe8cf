"""Render the XML of a Word document as Markdown: headings, paragraphs, lists, tables, text boxes and notes.

Tracked deletions, hidden text, comments and tables of contents are omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from answerable.sources.markdown import Heading
from answerable.sources.markdown_blocks import MARK, table
from answerable.sources.office.docx_styles import TITLE, Lists, Styles, W, is_on, value

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_TEXTS = frozenset({f"{W}t", f"{_MATH}t"})
_LEFT_OUT = frozenset(W + name for name in ("del", "moveFrom", "pPr", "rPr", "tblPr", "tcPr", "trPr", "rt", "sdtPr"))
_CHARACTERS = {f"{W}tab": " ", f"{W}ptab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}
_WRAPPERS = frozenset(W + name for name in ("ins", "moveTo", "customXml", "sdt", "sdtContent", "smartTag"))
_NOTE_MARK = re.compile(r"\[\^\d+\]")
_WIDEST = 63


class Walk:
    """One pass over a document; collects `headings`, and in `notes` the (kind, id) of each note it refers to."""

    def __init__(self, body: Any, styles: Styles, lists: Lists) -> None:
        self.headings: list[Heading] = []
        self.notes: list[tuple[str, str]] = []
        self._styles = styles
        self._lists = lists
        # The document's own title is above all headings.
        self._shift = any(styles.heading(paragraph) == TITLE for paragraph in body.iter(f"{W}p"))
        self._boxes: list[Any] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._unfinished: list[str] = []

    def blocks(self, container: Any, in_table: bool = False) -> list[str]:
        """Return the blocks of Markdown for the paragraphs and tables in an element."""
        blocks: list[str] = []
        items: list[str] = []
        around, self._unfinished = self._unfinished, []

        def flush() -> None:
            if items:
                blocks.append("\n".join(items))
                items.clear()

        for child in _children(container, f"{W}p", f"{W}tbl"):
            if child.tag == f"{W}tbl":
                flush()
                blocks += self._table(child, in_table)
                continue
            text, is_item = self._paragraph(child, in_table)
            if not is_item:
                flush()
            if text:
                (items if is_item else blocks).append(text)
            boxes, self._boxes = self._boxes, []
            for box in boxes:
                flush()
                blocks += self.blocks(box, in_table)
        flush()
        if left := " ".join("".join(self._unfinished).replace(MARK, "").split()):
            blocks.append(left)
        self._unfinished = around
        return blocks

    def _paragraph(self, paragraph: Any, in_table: bool) -> tuple[str, bool]:
        """Return the Markdown of a paragraph, and whether it is a list item."""
        self._unfinished.append(self._text(paragraph))
        if paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None:
            # A deleted paragraph mark joins the paragraph with the next.
            return "", False
        text = "".join(self._unfinished)
        self._unfinished.clear()
        lines = [" ".join(line.split()) for line in text.replace(MARK, "").split("\n")]
        text = "\n".join(line for line in lines if line)
        if not text or self._styles.is_contents(paragraph):
            return "", False
        if in_table:
            return text, False
        level = self._styles.heading(paragraph)
        if level is not None:
            return self._heading(text, level), False
        item = self._styles.item(paragraph)
        if item is None:
            return text, False
        number, depth = item
        marker = "  " * depth + self._lists.marker(number, depth)
        return marker + text.replace("\n", "\n" + " " * len(marker)), True

    def _heading(self, text: str, level: int) -> str:
        line = text.replace("\n", " ")
        level = min(level + self._shift, 6)
        self.headings.append(Heading(0, level, " ".join(_NOTE_MARK.sub("", line).split()), None))
        return f"{MARK}{'#' * level} {line}"

    def _text(self, element: Any) -> str:
        """Return the words in an element; its text boxes are collected in `_boxes`."""
        pieces = []
        for child in element.iterchildren("*"):
            tag = child.tag
            if tag in _TEXTS:
                pieces.append(child.text or "")
            elif tag in _CHARACTERS:
                pieces.append(_CHARACTERS[tag])
            elif tag in _NOTES:
                key = (_NOTES[tag], child.get(f"{W}id", ""))
                if key not in self._numbers:
                    self.notes.append(key)
                    self._numbers[key] = len(self.notes)
                pieces.append(f"[^{self._numbers[key]}]")
            elif tag == f"{W}txbxContent":
                self._boxes.append(child)
            elif tag == _ALTERNATE:
                pieces.append(self._text(_preferred(child)))
            elif tag not in _LEFT_OUT and not (tag == f"{W}r" and is_on(child, "rPr/vanish")):
                pieces.append(self._text(child))
        return "".join(pieces)

    def _table(self, element: Any, in_table: bool) -> list[str]:
        rows = [list(_cells(row)) for row in _children(element, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None]
        rows = [row for row in rows if any(cell is not None for cell in row)]
        if max(map(len, rows), default=0) < 2 and not in_table:
            # A frame around text rather than a table.
            return [block for row in rows for cell in row if cell is not None for block in self.blocks(cell)]
        grid = [[self._cell(cell) for cell in row] for row in rows]
        if in_table:
            return [text for row in grid if (text := " ".join(filter(None, row)))]
        return [text] if (text := table(grid)) else []

    def _cell(self, cell: Any | None) -> str:
        return "" if cell is None else " ".join(self.blocks(cell, in_table=True)).replace("\n", " ")


def _cells(row: Any) -> Iterator[Any | None]:
    """Yield the cells of a row, None where a merged cell continues."""
    yield from [None] * _count(value(row, "trPr/gridBefore"), 0)
    for cell in _children(row, f"{W}tc"):
        yield cell if value(cell, "tcPr/vMerge") in (None, "restart") else None
        yield from [None] * (_count(value(cell, "tcPr/gridSpan"), 1) - 1)


def _children(element: Any, *tags: str) -> Iterator[Any]:
    """Yield children with one of these tags, also inside wrappers, but not inside a table of contents."""
    for child in element.iterchildren("*"):
        if child.tag in tags:
            yield child
        elif child.tag == _ALTERNATE:
            yield from _children(_preferred(child), *tags)
        elif child.tag in _WRAPPERS and value(child, "sdtPr/docPartObj/docPartGallery") != "Table of Contents":
            yield from _children(child, *tags)


def _preferred(alternatives: Any) -> Any:
    """Return the first alternative that has text; Word stores one for newer and one for older programs."""
    forms = list(alternatives.iterchildren("*"))
    return next((form for form in forms if any(True for _ in form.iter(*_TEXTS))), alternatives)


def _count(number: str | None, least: int) -> int:
    return max(least, min(int(number), _WIDEST)) if number and number.isdecimal() and len(number) < 6 else least
