"""Word documents → Document: Markdown of headings, paragraphs, lists, tables and text boxes, with notes at the end.

Only the parts of the package that have text are read. Pictures, macros, embedded and linked files, tracked deletions,
hidden text, comments and tables of contents are left out. We don't use mammoth: version 1.13 fails 8 of this module's
26 tests: headings by outline level, inherited or translated styles, hidden text, tables of contents, merged cells,
missing notes, XML entities.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MARK, MOST_COLUMNS, Heading, sections_document, table_blocks
from answerable.sources.office.packages import Package, main_part, refuse_container, related
from answerable.sources.xml import parse_xml

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_TEXTS = frozenset({f"{W}t", f"{_MATH}t"})
_LEFT_OUT = frozenset(W + name for name in ("del", "moveFrom", "pPr", "rPr", "tblPr", "tcPr", "trPr", "rt", "sdtPr"))
_CHARACTERS = {f"{W}tab": " ", f"{W}ptab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}
_WRAPPERS = frozenset(W + name for name in ("ins", "moveTo", "customXml", "sdt", "sdtContent", "smartTag"))
_NOTE_MARK = re.compile(r"\[\^\d+\]")
_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"
# Namespaces of the strict variant of the standard, which are replaced by the usual ones.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|officeDocument)/(?=main|math)")


def read_docx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a Word file. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    refuse_container(data, source, ".doc")
    with Package(data, source, context, _ADVICE, "Word document") as package:
        main, title, metadata = main_part(package, "main document")
        blocks, headings, notes = _texts(package, main)
    return sections_document(blocks, headings, notes, source, DocumentType.DOCX, title, metadata)


def _xml(package: Package, name: str | None) -> Any:
    """Return the root of the part of this name, or None without a name. Raises XMLSyntaxError."""
    if name is None:
        return None
    return parse_xml(_STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", package.read(name)), recover=False)


def _texts(package: Package, main: str) -> tuple[list[str], list[Heading], list[tuple[int, str]]]:
    """Return the document's blocks, its headings, and its notes by number."""
    parts = related(package, main)
    root = _xml(package, main).find(f"{W}body")
    if root is None:
        raise ValueError("it has no body")
    walk = Walk(root, Styles(_xml(package, parts.get("styles"))), Lists(_xml(package, parts.get("numbering"))))
    blocks = walk.blocks(root)
    known: dict[tuple[str, str], Any] = {}
    for kind in ("footnote", "endnote"):
        if f"{kind}s" in parts:
            found = _xml(package, parts[f"{kind}s"]).iterchildren(W + kind)
            known |= {(kind, note.get(f"{W}id", "")): note for note in found}
    notes = []
    # A note may refer to another note, which is appended to `walk.notes` during the loop.
    for number, key in enumerate(walk.notes, 1):
        if key in known and (text := " ".join(walk.blocks(known[key], in_table=True))):
            notes.append((number, text))
    return blocks, walk.headings, notes


class Walk:
    """One pass over a document; collects `headings`, and in `notes` the (kind, id) of each note referred to."""

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
            # If the paragraph mark is deleted, the paragraph is joined with the next one.
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
        """Return the text in an element; its text boxes are collected in `_boxes`."""
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
            # A table that only frames other text is shown as plain blocks.
            return [block for row in rows for cell in row if cell is not None for block in self.blocks(cell)]
        return table_blocks([[self._cell(cell) for cell in row] for row in rows], in_table)

    def _cell(self, cell: Any | None) -> str:
        return "" if cell is None else " ".join(self.blocks(cell, in_table=True)).replace("\n", " ")


def _cells(row: Any) -> Iterator[Any | None]:
    """Yield the cells of a row, and None where a merged cell continues."""
    yield from [None] * _count(value(row, "trPr/gridBefore"), 0)
    for cell in _children(row, f"{W}tc"):
        yield cell if value(cell, "tcPr/vMerge") in (None, "restart") else None
        yield from [None] * (_count(value(cell, "tcPr/gridSpan"), 1) - 1)


def _children(element: Any, *tags: str) -> Iterator[Any]:
    """Yield the children with one of these tags, also inside wrappers, but not inside a table of contents."""
    for child in element.iterchildren("*"):
        if child.tag in tags:
            yield child
        elif child.tag == _ALTERNATE:
            yield from _children(_preferred(child), *tags)
        elif child.tag in _WRAPPERS and value(child, "sdtPr/docPartObj/docPartGallery") != "Table of Contents":
            yield from _children(child, *tags)


def _preferred(alternatives: Any) -> Any:
    """Return the first alternative that has text; Word stores one for newer programs and one for older ones."""
    forms = list(alternatives.iterchildren("*"))
    return next((form for form in forms if any(True for _ in form.iter(*_TEXTS))), alternatives)


def _count(number: str | None, least: int) -> int:
    return max(least, min(int(number), MOST_COLUMNS)) if number and number.isdecimal() and len(number) < 6 else least


TITLE = 0
"""The level of the document's own title, above all headings."""

# Word stores its built-in styles under English names in every language; other programs and users translate them.
_HEADING_NAMES = (
    "heading|título|titulo|ttulo|encabezado|cabeçalho|titre|überschrift|berschrift|titolo|kop|rubrik|overskrift"
    "|otsikko|nagłówek|nadpis|заголовок|标题|見出し"
)
_HEADING = re.compile(rf"(?:{_HEADING_NAMES})\s*([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"title|document title|título|titulo|ttulo|titre|titel|titolo", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|índice|sumário|contents)\s*[1-9]|table of figures", re.IGNORECASE)


def value(element: Any, path: str) -> str | None:
    """Return the `w:val` of the first element at a path of tag names; None if there is no such element."""
    for name in path.split("/"):
        element = None if element is None else element.find(W + name)
    return None if element is None else element.get(W + "val", "")


def is_on(element: Any, path: str) -> bool:
    """Whether the switch at a path is present and not set to off."""
    return value(element, path) not in (None, "0", "false", "off", "none")


@dataclass(frozen=True, slots=True)
class _Style:
    """A paragraph style: its heading level, its list and depth in it, and whether it is for tables of contents."""

    level: int | None
    is_contents: bool
    number: str | None
    depth: str | None


class Styles:
    """The paragraph styles of a document. Each is parsed once: a hostile document uses one huge style everywhere."""

    def __init__(self, root: Any | None) -> None:
        styles = () if root is None else root.iterchildren(W + "style")
        self._styles = {style.get(W + "styleId", ""): style for style in styles}
        self._parsed: dict[str, _Style] = {}

    def heading(self, paragraph: Any) -> int | None:
        """Return the level of a heading, from 1; TITLE for the document's title; None for other paragraphs."""
        own = _level(paragraph)
        return self._of(paragraph).level if own is None else _heading_or_none(own)

    def item(self, paragraph: Any) -> tuple[str, int] | None:
        """Return the list that a paragraph belongs to, with the depth in that list; None for other paragraphs."""
        number, level = _numbering(paragraph)
        if number is None:
            style = self._of(paragraph)
            number, level = style.number, level or style.depth
        if number is None or number == "0":
            return None
        return number, min(int(level), 8) if level and level.isdecimal() else 0

    def is_contents(self, paragraph: Any) -> bool:
        """Whether a paragraph is a line of a table of contents, which repeats the headings."""
        return self._of(paragraph).is_contents

    def _of(self, paragraph: Any) -> _Style:
        name = value(paragraph, "pPr/pStyle") or ""
        if name not in self._parsed:
            chain = list(self._chain(name))
            own_names = (name, value(self._styles.get(name), "name") or "")
            numberings = (_numbering(style) for style in chain)
            number, depth = next((each for each in numberings if each[0] is not None), (None, None))
            is_contents = any(_CONTENTS.fullmatch(each) for each in own_names)
            self._parsed[name] = _Style(_level_of(chain), is_contents, number, depth)
        return self._parsed[name]

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        """Yield a style, then the style it is based on, and so on."""
        # The styles in a hostile document may be based on each other in a circle.
        for _ in range(20):
            style = self._styles.get(style_id or "")
            if style is None:
                return
            yield style
            style_id = value(style, "basedOn")


def _level_of(chain: list[Any]) -> int | None:
    """Return the heading level of a style: the first outline level or heading name along its chain of base styles."""
    for style in chain:
        outline = _level(style)
        if outline is not None:
            return _heading_or_none(outline)
        for name in (value(style, "name") or "", style.get(W + "styleId", "")):
            level = heading_level(name.strip())
            if level is not None:
                return level
    return None


def heading_level(name: str) -> int | None:
    """Return the heading level that a style's name states, TITLE for the document's title, None for other styles."""
    if match := _HEADING.fullmatch(name):
        return int(match[1])
    return TITLE if _TITLE.fullmatch(name) else None


def _level(holder: Any) -> int | None:
    """Return the outline level of a paragraph or style from 1; 10 is body text."""
    outline = value(holder, "pPr/outlineLvl")
    return int(outline) + 1 if outline and outline.isdecimal() and len(outline) < 3 else None


def _heading_or_none(level: int) -> int | None:
    # The tenth level is body text.
    return level if level <= 9 else None


def _numbering(holder: Any) -> tuple[str | None, str | None]:
    """Return the list that a paragraph or style names, and the depth in that list."""
    return value(holder, "pPr/numPr/numId"), value(holder, "pPr/numPr/ilvl")


class Lists:
    """The lists of a document and the number that each list has reached."""

    def __init__(self, root: Any | None) -> None:
        def children(name: str) -> list[Any]:
            return [] if root is None else list(root.iterchildren(W + name))

        self._numbers = {
            each.get(W + "numId"): (value(each, "abstractNumId") or "", _by_level(each, "lvlOverride", "startOverride"))
            for each in children("num")
        }
        self._kinds = {
            each.get(W + "abstractNumId"): (_by_level(each, "lvl", "numFmt"), _by_level(each, "lvl", "start"))
            for each in children("abstractNum")
        }
        self._counts: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def marker(self, number: str, level: int) -> str:
        """Return the Markdown marker of a list's next item: `- ` or its number."""
        kind, overrides = self._numbers.get(number, ("", {}))
        formats, starts = self._kinds.get(kind, ({}, {}))
        if (formats.get(str(level)) or "") in ("bullet", "none", ""):
            return "- "
        override = overrides.get(str(level))
        # Lists of the same kind continue each other's counts, unless one of them overrides its start.
        counts = self._counts[kind, "" if override is None else number]
        first = override or starts.get(str(level)) or "1"
        start = int(first) if first.isdecimal() and len(first) < 9 else 1
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return f"{counts[level]}. "


def _by_level(element: Any, name: str, path: str) -> dict[str | None, str | None]:
    """Map the level of each child called `name` to the value at `path`; the first child of each level counts."""
    children = element.iterchildren(W + name, reversed=True)
    return {child.get(W + "ilvl"): value(child, path) for child in children}
