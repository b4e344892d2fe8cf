"""Word documents → Document: Markdown of headings, paragraphs, lists, tables and text boxes, with notes at the end.

Headers and footers follow as a part of their own. Pictures, macros, embedded and linked files, tracked deletions,
hidden text, comments, tables of contents and page numbers are left out; charts are tables of their values.
We don't use mammoth: version 1.13 fails 8 of the 26 tests of `test_docx.py`: headings by outline level, inherited or
translated styles, hidden text, tables of contents, merged cells, missing notes, XML entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MOST_COLUMNS, Heading, indented, listed, sections_document, table_blocks, titled
from answerable.sources.office.charts import charts
from answerable.sources.office.docx_styles import ADVICE, OFF, TITLE, Styles, W, is_on, look_of, read_lists, value
from answerable.sources.office.equations import M, equation
from answerable.sources.office.numbering import Lists
from answerable.sources.office.packages import Package, main_part, refuse_container, related, relations
from answerable.sources.xml import parse_xml, relation_id, whole_number
from answerable.tables.headers import LONGEST_REPEATED
from answerable.text.notation import BOXES, LOWERED, PAGE, RAISED, STRUCK, WINGDINGS, marked, written

_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_TEXTS = frozenset({f"{W}t", f"{M}t"})
_LEFT_OUT = frozenset(W + name for name in ("del", "moveFrom", "pPr", "rPr", "tblPr", "tcPr", "trPr", "rt", "sdtPr"))
_CHARACTERS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}
_WRAPPERS = frozenset(W + name for name in ("ins", "moveTo", "customXml", "sdt", "sdtContent", "smartTag"))
_SPECIAL = frozenset({f"{M}oMath", *(W + name for name in ("sym", "instrText", "fldChar", "sdt"))})
_LONGEST_INSTRUCTION = 100  # characters of a field's instruction that are looked at; its name is at their beginning
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
# Symbols by the code of the character that shows them in a font.
_SYMBOLS = {
    "Wingdings": WINGDINGS,
    "Wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☒", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
    "Webdings": {0x61: "✓", 0x63: "☐", 0x72: "✗"},
    "Symbol": dict(
        zip(map(ord, "abgdezhqiklmnxoprstufcywDSWFG£³±´¸¹»°®¥"), "αβγδεζηθικλμνξοπρστυφχψωΔΣΩΦΓ≤≥±×÷≠≈°→∞", strict=True)
    ),
}
_LISTED = ("-", "(", "[")  # beginnings of the marks of list items, besides numbers and small letters
_MERGED = f"{W}tcPr/{W}vMerge"
# Namespaces of the strict variant of the standard, which are replaced by the usual ones.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|officeDocument)/(?=main|math)")


def read_docx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a Word file. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    refuse_container(data, source, ".doc")
    with Package(data, source, context, ADVICE, "Word document") as package:
        main, title, metadata = main_part(package, "main document")
        blocks, headings, notes, margins = _texts(package, main)
    return sections_document(blocks, headings, notes, source, DocumentType.DOCX, title, metadata, margins)


def _xml(package: Package, name: str | None) -> Any:
    """Return the root of the part of this name, or None without a name. Raises XMLSyntaxError."""
    if name is None:
        return None
    return parse_xml(_STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", package.read(name)), recover=False)


def _texts(package: Package, main: str) -> tuple[list[str], list[Heading], list[tuple[int, str]], list[str]]:
    """Return the document's blocks, its headings, its notes by number, and the texts of headers and footers."""
    parts = related(package, main)
    root = _xml(package, main).find(f"{W}body")
    if root is None:
        raise ValueError("it has no body")
    lists = read_lists(_xml(package, parts.get("numbering")))
    walk = Walk(root, Styles(_xml(package, parts.get("styles")), lists), Lists(lists), charts(package, main))
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
    shown = frozenset(blocks)
    margins = {text: None for path in _margins(package, main, root) for text in walk.blocks(_xml(package, path), True)}
    return blocks, walk.headings, notes, [text for text in margins if text not in shown]


def _margins(package: Package, main: str, body: Any) -> dict[str, None]:
    """Return the names of the parts with the headers and footers that the pages show, in their order."""
    paths = {key: path for key, kind, path in relations(package, main) if kind in ("header", "footer")}
    settings = _xml(package, related(package, main).get("settings"))
    found: dict[str, None] = {}
    for section in body.iter(f"{W}sectPr"):
        shown = {
            "default",
            "first" if is_on(section, "titlePg") else "",
            "even" if is_on(settings, "evenAndOddHeaders") else "",
        }
        for reference in section.iterchildren(f"{W}headerReference", f"{W}footerReference"):
            if reference.get(f"{W}type") in shown and (path := paths.get(relation_id(reference))):
                found[path] = None
    return found


class Walk:
    """One pass over a document; collects `headings`, and in `notes` the (kind, id) of each note referred to."""

    def __init__(self, body: Any, styles: Styles, lists: Lists, drawn: Mapping[str, Sequence[str]]) -> None:
        self.headings: list[Heading] = []
        self.notes: list[tuple[str, str]] = []
        self._styles = styles
        self._lists = lists
        self._drawn = drawn
        # The document's own title is above all headings.
        self._shift = any(styles.heading(paragraph) == TITLE for paragraph in body.iter(f"{W}p"))
        self._boxes: list[Any] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._unfinished: list[str] = []
        self._look: Mapping[str, str] = {}
        self._fields: list[str] = []

    def blocks(self, container: Any, in_table: bool = False) -> list[str]:
        """Return the blocks of Markdown for the paragraphs and tables in an element."""
        pieces: list[tuple[str, bool]] = []
        around, self._unfinished = self._unfinished, []
        for child in _children(container, f"{W}p", f"{W}tbl"):
            if child.tag == f"{W}tbl":
                pieces += [(block, False) for block in self._table(child, in_table)]
                continue
            pieces.append(self._paragraph(child, in_table))
            boxes, self._boxes = self._boxes, []
            for box in boxes:
                is_chart = box.tag == _CHART
                own = self._drawn.get(relation_id(box), ()) if is_chart else self.blocks(box, in_table)
                pieces += [(block, False) for block in own if not (is_chart and in_table)]
        pieces.append((written("".join(self._unfinished)).replace("\n", " "), False))
        self._unfinished = around
        return listed(pieces)

    def _paragraph(self, paragraph: Any, in_table: bool) -> tuple[str, bool]:
        """Return the Markdown of a paragraph, and whether it is a list item."""
        self._look = self._styles.look(value(paragraph, "pPr/pStyle") or "")
        self._fields.clear()
        self._unfinished.append(self._text(paragraph))
        if paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None:
            # If the paragraph mark is deleted, the paragraph is joined with the next one.
            return "", False
        text = written("".join(self._unfinished))
        self._unfinished.clear()
        if self._styles.is_contents(paragraph):
            return "", False
        item = self._styles.item(paragraph)
        marker = self._lists.marker(*item) if item else ""
        number = marker.removeprefix("- ")
        if in_table:
            return (number + text).strip(), False
        level = self._styles.heading(paragraph)
        if not text:
            return "", False
        if level is not None:
            return titled(number + text, level + self._shift, self.headings), False
        if not (marker[:1].islower() or marker[:1].isdigit() or marker[:1] in _LISTED):
            # Clauses with other numbers, as "Article 2.", are paragraphs: nobody would take their lines for a list's.
            return marker + text, False
        return indented(text, "  " * (item[1] if item else 0) + marker), True

    def _text(self, element: Any) -> str:
        """Return the text in an element; its text boxes are collected in `_boxes`."""
        pieces = []
        for child in element.iterchildren("*"):
            tag = child.tag
            if tag in _TEXTS:
                pieces.append(PAGE if any(map(_PAGE_FIELD.match, self._fields[-1:])) else child.text or "")
            elif tag in _CHARACTERS:
                pieces.append(_CHARACTERS[tag])
            elif tag == f"{W}r":
                pieces.append(self._run(child))
            elif tag in _NOTES:
                key = (_NOTES[tag], child.get(f"{W}id", ""))
                if key not in self._numbers:
                    self.notes.append(key)
                    self._numbers[key] = len(self.notes)
                pieces.append(f"[^{self._numbers[key]}]")
            elif tag in (f"{W}txbxContent", _CHART):
                self._boxes.append(child)
            elif tag == _ALTERNATE:
                pieces.append(self._text(_preferred(child)))
            elif tag == f"{W}fldSimple" and _PAGE_FIELD.match(child.get(f"{W}instr", "")):
                pieces.append(PAGE)
            elif tag in _SPECIAL:
                pieces.append(self._special(child))
            elif tag not in _LEFT_OUT:
                pieces.append(self._text(child))
        return "".join(pieces)

    def _run(self, run: Any) -> str:
        own = look_of(run)
        look = {**self._look, **self._styles.look(own.get("rStyle", "")), **own} if own else self._look
        if not look:
            return self._text(run)
        text = "" if look.get("vanish") not in OFF else self._text(run)
        if not text:
            return text
        if kind := {"superscript": RAISED, "subscript": LOWERED}.get(look.get("vertAlign", "")):
            text = marked(text, kind)
        is_struck = any(look.get(name) not in OFF for name in ("strike", "dstrike"))
        return marked(text, STRUCK) if is_struck else text

    def _special(self, element: Any) -> str:
        """Return the text of an equation, of a symbol, and of fields and controls to be filled in."""
        if element.tag == f"{M}oMath":
            return equation(element)
        if element.tag == f"{W}sym":
            return _symbol(element.get(f"{W}font", ""), element.get(f"{W}char", ""))
        if element.tag == f"{W}instrText":
            if self._fields and len(self._fields[-1]) < _LONGEST_INSTRUCTION:
                self._fields[-1] += element.text or ""
            return ""
        if element.tag == f"{W}fldChar":
            kind = element.get(f"{W}fldCharType")
            if kind == "begin":
                self._fields.append("")
            elif kind == "end" and self._fields:
                self._fields.pop()
            return _form_field(element)
        box = element.find(f"{W}sdtPr/{{*}}checkbox")
        if box is None:
            return "" if is_on(element, "sdtPr/showingPlcHdr") else self._text(element)
        own = self._text(element)
        is_ticked = any(state in ("1", "true") for each in box.iterchildren("{*}checked") for state in each.values())
        return own if own.strip() in BOXES else "☒ " if is_ticked else "☐ "

    def _table(self, element: Any, in_table: bool) -> list[str]:
        rows = [list(_cells(row)) for row in _children(element, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None]
        rows = [row for row in rows if any(cell is not None and not _continues(cell) for cell in row)]
        if max(map(len, rows), default=0) < 2 and not in_table:
            # A table that only frames other text is shown as plain blocks.
            return [block for row in rows for cell in row if cell is not None for block in self.blocks(cell)]
        texts: list[list[str | None]] = []
        above: dict[int, str] = {}
        for row in rows:
            texts.append([cell if cell is None else self._cell(cell, above.get(at, "")) for at, cell in enumerate(row)])
            merged = (at for at, cell in enumerate(row) if cell is not None and cell.find(_MERGED) is not None)
            above = {at: text for at in merged if len(text := texts[-1][at] or "") < LONGEST_REPEATED}
        return table_blocks(texts, in_table)

    def _cell(self, cell: Any, above: str) -> str:
        """Return the text of a cell, or of the one `above` that it is merged with."""
        return above if _continues(cell) else " ".join(self.blocks(cell, in_table=True)).replace("\n", " ")


def _continues(cell: Any) -> bool:
    """Whether a cell is merged with the one above it."""
    return value(cell, "tcPr/vMerge") not in (None, "restart")


def _cells(row: Any) -> Iterator[Any | None]:
    """Yield the cells of a row, and None where a cell continues to the right."""
    yield from [None] * _count(value(row, "trPr/gridBefore"), 0)
    for cell in _children(row, f"{W}tc"):
        yield cell
        yield from [None] * (_count(value(cell, "tcPr/gridSpan"), 1) - 1)


def _children(element: Any, *tags: str) -> Iterator[Any]:
    """Yield the children with one of these tags, also inside wrappers, but not inside a table of contents."""
    for child in element.iterchildren("*"):
        if child.tag in tags:
            yield child
        elif child.tag == _ALTERNATE:
            yield from _children(_preferred(child), *tags)
        elif child.tag in _WRAPPERS and not (
            value(child, "sdtPr/docPartObj/docPartGallery") == "Table of Contents"
            or is_on(child, "sdtPr/showingPlcHdr")
        ):
            yield from _children(child, *tags)


def _preferred(alternatives: Any) -> Any:
    """Return the first alternative that has text; Word stores one for newer programs and one for older ones."""
    forms = list(alternatives.iterchildren("*"))
    return next((form for form in forms if any(True for _ in form.iter(*_TEXTS))), alternatives)


def _symbol(font: str, code: str) -> str:
    """Return the character that a symbol shows; "" if it isn't known."""
    number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,4}", code) else 0
    if font in _SYMBOLS:
        # Word may store these codes in Unicode's private use area.
        return _SYMBOLS[font].get(number & 0xFF, "")
    return chr(number) if 0xFF < number < 0xD800 else ""


def _form_field(mark: Any) -> str:
    """Return the state of a box, or the chosen entry of a list, at the beginning of a form field; "" for others."""
    for box in mark.iterfind(f"{W}ffData/{W}checkBox"):
        return "☒ " if is_on(box, "default" if box.find(f"{W}checked") is None else "checked") else "☐ "
    for choice in mark.iterfind(f"{W}ffData/{W}ddList"):
        entries = [entry.get(f"{W}val", "") for entry in choice.iterfind(f"{W}listEntry")]
        place = _count(value(choice, "result") or value(choice, "default"), 0)
        return entries[place] if place < len(entries) else ""
    return ""


def _count(number: str | None, least: int) -> int:
    return max(least, min(whole_number(number, least), MOST_COLUMNS))
