"""The XML of a Word document → Markdown: headings, paragraphs, lists, tables, text boxes and notes.

What was deleted under tracked changes, hidden text, comments and tables of contents are left out.
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
_AROUND_BLOCKS = frozenset(W + name for name in ("ins", "moveTo", "customXml", "sdtContent", "smartTag"))
_NOTE_MARK = re.compile(r"\[\^\d+\]")
_WIDEST = 63


class Walk:
    """One walk over a document: the headings met, the notes referred to, the count of each list."""

    def __init__(self, body: Any, styles: Styles, lists: Lists) -> None:
        self.headings: list[Heading] = []
        self.notes: list[tuple[str, str]] = []
        self._styles = styles
        self._lists = lists
        # The document's own title stands above all headings.
        self._shift = any(styles.heading(paragraph) == TITLE for paragraph in body.iter(f"{W}p"))
        self._boxes: list[Any] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._unfinished: list[str] = []

    def blocks(self, container: Any, in_table: bool = False) -> list[str]:
        """The blocks of Markdown that the paragraphs and tables in an element make."""
        blocks: list[str] = []
        items: list[str] = []
        around, self._unfinished = self._unfinished, []

        def flush() -> None:
            if items:
                blocks.append("\n".join(items))
                items.clear()

        for child in _blocks_in(container):
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
        """The Markdown of a paragraph, and whether it is an item of a list."""
        self._unfinished.append(self._text(paragraph))
        if paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None:
            # A deleted end of a paragraph joins it with the next.
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
        """The words in an element; its text boxes are kept for later."""
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
        rows = [list(self._cells(row)) for row in _rows(element)]
        rows = [row for row in rows if any(cell is not None for cell in row)]
        if max(map(len, rows), default=0) < 2 and not in_table:
            # A frame around text rather than a table.
            return [block for row in rows for cell in row if cell is not None for block in self.blocks(cell)]
        grid = [[self._cell(cell) for cell in row] for row in rows]
        if in_table:
            return [text for row in grid if (text := " ".join(filter(None, row)))]
        return [text] if (text := table(grid)) else []

    def _cells(self, row: Any) -> Iterator[Any | None]:
        """The cells of a row, None for a place that another cell spreads over."""
        before = value(row, "trPr/gridBefore") or ""
        yield from [None] * _count(before, 0)
        for cell in _unwrapped(row, f"{W}tc"):
            merged = value(cell, "tcPr/vMerge")
            yield None if merged is not None and merged != "restart" else cell
            yield from [None] * (_count(value(cell, "tcPr/gridSpan") or "", 1) - 1)

    def _cell(self, cell: Any | None) -> str:
        return "" if cell is None else " ".join(self.blocks(cell, in_table=True)).replace("\n", " ")


def _blocks_in(container: Any) -> Iterator[Any]:
    """Paragraphs and tables, whatever is wrapped around them."""
    for child in container.iterchildren("*"):
        if child.tag in (f"{W}p", f"{W}tbl"):
            yield child
        elif child.tag in _AROUND_BLOCKS:
            yield from _blocks_in(child)
        elif child.tag == f"{W}sdt":
            if value(child, "sdtPr/docPartObj/docPartGallery") != "Table of Contents":
                yield from _blocks_in(child)
        elif child.tag == _ALTERNATE:
            yield from _blocks_in(_preferred(child))


def _rows(element: Any) -> Iterator[Any]:
    return (row for row in _unwrapped(element, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None)


def _unwrapped(element: Any, tag: str) -> Iterator[Any]:
    for child in element.iterchildren("*"):
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND_BLOCKS or child.tag == f"{W}sdt":
            yield from _unwrapped(child, tag)


def _preferred(alternatives: Any) -> Any:
    """Of the forms that a thing is given in for new and old programs, the first that holds text."""
    forms = list(alternatives.iterchildren("*"))
    return next((form for form in forms if any(True for _ in form.iter(*_TEXTS))), alternatives)


def _count(number: str, least: int) -> int:
    return max(least, min(int(number), _WIDEST)) if number.isdecimal() and len(number) < 6 else least
