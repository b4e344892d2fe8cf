"""Shared by OpenDocument texts, sheets and slides: encryption, properties, and text as blocks of Markdown.

Tracked deletions, comments, tables of contents and page numbers are left out; notes are collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import EncryptedSource
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MARK, MOST_COLUMNS, Heading, indented, sections_document, table_blocks, titled
from answerable.sources.office.numbering import DEEPEST, LONGEST_LABEL, Level, Lists, Numbering
from answerable.sources.office.packages import Package
from answerable.sources.xml import local_name, whole_number
from answerable.tables.headers import LONGEST_REPEATED
from answerable.text.notation import LOWERED, PAGE, RAISED, STRUCK, marked, written
from answerable.text.numerals import SHAPES

_MANIFEST = "META-INF/manifest.xml"
# Elements within a paragraph that aren't part of its text.
_NO_TEXT = frozenset({"annotation", "annotation-end", "note", "ruby-text", "frame", "tracked-changes", "desc", "title"})
_CHARACTERS = {"tab": "\t", "line-break": "\n", "soft-page-break": "", "page-number": PAGE, "page-count": PAGE}


def properties(package: Package) -> tuple[str, dict[str, str]]:
    """Return the title, and the author and creation date. Raise EncryptedSource."""
    if _MANIFEST in package and any(True for _ in package.xml(_MANIFEST).iter("{*}encryption-data")):
        raise EncryptedSource(
            f"{package.source} is encrypted: open it in LibreOffice with its password, save it without one, and add "
            "that file"
        )
    if "meta.xml" not in package:
        return "", {}
    texts: dict[str, str] = {}
    for element in package.xml("meta.xml").iter("{*}title", "{*}creator", "{*}initial-creator", "{*}creation-date"):
        texts.setdefault(local_name(element), " ".join((element.text or "").split()))
    author = texts.get("initial-creator") or texts.get("creator", "")
    return texts.get("title", ""), {"author": author, "date": texts.get("creation-date", "")[:10]}


def attribute(element: Any, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    suffix = f"}}{name}"
    return next((value for key, value in element.attrib.items() if key == name or key.endswith(suffix)), default)


def count_of(element: Any, name: str) -> int:
    """Return how often a cell, row or column is repeated, 1 without the attribute."""
    return whole_number(attribute(element, name), 1)


_NOT_STRUCK = STRUCK[::-1]  # around text within struck text that isn't
Looks = Mapping[str, Sequence[str]]
"""How the text of each style is marked, by the style's name: struck, raised, lowered."""


def paragraph_text(element: Any, looks: Looks = MappingProxyType({}), note: Callable[[Any], str] = lambda _: "") -> str:
    """Return the text of a paragraph or heading without comments and frames; `note` says that of notes and fields."""
    return written(_collected(element, looks, note))


def _collected(element: Any, looks: Looks, note: Callable[[Any], str], is_struck: bool = False) -> str:
    kinds = looks.get(attribute(element, "style-name"), ())
    pieces: list[str] = [element.text or ""]
    for child in element:
        name = local_name(child)
        if name in _CHARACTERS:
            pieces.append(_CHARACTERS[name])
        elif name == "s":
            pieces.append(" " * min(count_of(child, "c"), 100))
        elif name in ("note", "control"):
            pieces.append(note(child))
        elif name and name not in _NO_TEXT:
            pieces.append(_collected(child, looks, note, (is_struck or STRUCK in kinds) and _NOT_STRUCK not in kinds))
        pieces.append(child.tail or "")
    text = "".join(pieces)
    for kind in kinds:
        text = marked(text, kind) if kind != _NOT_STRUCK or is_struck else text
    return text


_LEFT_OUT = frozenset(
    {"tracked-changes", "table-of-content", "annotation", "forms", "sequence-decls", "variable-decls", "title", "desc"}
    | {"user-field-decls", "illustration-index", "table-index", "alphabetical-index", "bibliography", "notes"}
)
_DEEPEST = 50  # nested elements that are followed at most: each level is a nested call of a function


class Walk:
    """One pass over a document; collects `headings`, and the text of each of its `notes`."""

    def __init__(
        self,
        lists: Mapping[str, Numbering] = MappingProxyType({}),
        looks: Looks = MappingProxyType({}),
        fields: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self._numbered = lists
        self._lists = Lists(lists)
        self._looks = looks
        self._fields = fields

    def blocks(self, container: Any, in_table: bool = False, depth: int = 0) -> list[str]:
        """Return the blocks of Markdown for the content of an element."""
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
        text = self._text(element)
        if not text:
            return []
        level = max(count_of(element, "outline-level"), 1)
        is_numbered = _OUTLINE in self._numbered and attribute(element, "is-list-header") != "true"
        number = self._lists.marker(_OUTLINE, min(level - 1, DEEPEST)) if is_numbered else ""
        return [titled(number + text, level, self.headings)]

    def _paragraph(self, element: Any, in_table: bool, depth: int) -> list[str]:
        blocks = [text] if (text := self._text(element)) else []
        for frame in element.iter("{*}text-box"):
            # A text box within another one is reached through the outer one.
            within = takewhile(lambda each: each is not element, frame.iterancestors())
            if not any(local_name(each) == "text-box" for each in within):
                blocks += self.blocks(frame, in_table, depth + 1)
        return blocks

    def _text(self, element: Any) -> str:
        return paragraph_text(element, self._looks, self._note)

    def _note(self, element: Any) -> str:
        """Collect the text of a note and return the reference to it; of a field, return what it shows."""
        if local_name(element) == "control":
            return self._fields.get(attribute(element, "control"), "")
        texts = (
            paragraph_text(each, self._looks) for body in element.iter("{*}note-body") for each in body.iter("{*}p")
        )
        if text := " ".join(filter(None, texts)):
            self.notes.append(text.replace("\n", " "))
        return f"[^{len(self.notes)}]" if text else ""

    def _items(self, element: Any, level: int, in_table: bool, style: str = "") -> Iterator[str]:
        style = attribute(element, "style-name") or style
        continues = attribute(element, "continue-numbering") == "true" or attribute(element, "continue-list")
        if level == 0 and not continues:
            self._lists.restart(style)
        for item in element.iterchildren("{*}list-item", "{*}list-header"):
            shown = self._lists.marker(style, min(level, DEEPEST)) if local_name(item) == "list-item" else ""
            marker = "  " * level + shown
            for child in item.iterchildren("{*}p", "{*}h", "{*}list"):
                if local_name(child) == "list":
                    yield from self._items(child, min(level + 1, _DEEPEST), in_table, style)
                elif text := self._text(child):
                    yield shown.removeprefix("- ") + text if in_table else indented(text, marker)
                    marker, shown = " " * len(marker), ""

    def _table(self, element: Any, in_table: bool, depth: int) -> list[str]:
        rows: list[list[str | None]] = []
        for row in _rows(element):
            rows.append(self._row(row, depth, rows[-1] if rows else []))
        return table_blocks(rows, in_table)

    def _row(self, row: Any, depth: int, above: Sequence[str | None]) -> list[str | None]:
        cells: list[str | None] = []
        covered = 0
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            is_covered = local_name(cell) == "covered-table-cell"
            is_right, over = is_covered and covered > 0, above[len(cells)] if len(cells) < len(above) else None
            covered = covered - 1 if is_right else count_of(cell, "number-columns-spanned") - 1
            text: str | None = " ".join(self.blocks(cell, in_table=True, depth=depth + 1)).replace("\n", " ")
            if is_covered:
                text = None if is_right else over if len(over or "") < LONGEST_REPEATED else ""
            # Repeated cells have no text, except in hostile files, where nested tables would multiply it.
            repeated = min(count_of(cell, "number-columns-repeated"), MOST_COLUMNS) - 1
            cells += [text, *[None if is_right else ""] * repeated]
        return cells[:MOST_COLUMNS]


def blocks_of(element: Any) -> list[str]:
    """Return the blocks of Markdown in an element, without the `#` marks of headings."""
    return [block.replace(MARK, "") for block in Walk().blocks(element)]


def _rows(element: Any) -> Iterator[Any]:
    for child in element.iterchildren("*"):
        name = local_name(child)
        if name == "table-row":
            yield child
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(child)


_ADVICE = "open it in LibreOffice, save it again as .odt, .docx or PDF, and add that file"


def read_odt(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a text document. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ADVICE, "document") as package:
        title, metadata = properties(package)
        root = package.xml("content.xml")
        roots = [package.xml("styles.xml"), root] if "styles.xml" in package else [root]
        walk = Walk(_numbered(roots), _looks(roots), _fields(root))
        bodies = [text for body in root.iter("{*}body") for text in body.iterchildren("{*}text")]
        blocks = [block for each in bodies for block in walk.blocks(each)]
        margins = [block for each in _margins(roots) for block in walk.blocks(each, in_table=True)]
    notes = enumerate(walk.notes, 1)
    return sections_document(
        blocks, walk.headings, notes, source, DocumentType.ODT, title, metadata, list(dict.fromkeys(margins))
    )


def _margins(roots: Sequence[Any]) -> Iterator[Any]:
    """Yield the headers and footers that pages show, also those of first and left pages."""
    for page in (each for root in roots for each in root.iter("{*}master-page")):
        for child in page.iterchildren("{*}*"):
            if local_name(child).startswith(("header", "footer")) and attribute(child, "display") != "false":
                yield child


_OUTLINE = "\0outline"  # the list of the headings, which has no name


def _numbered(roots: Sequence[Any]) -> dict[str, Numbering]:
    """Return the list styles by their names, and that of the headings."""
    found = {}
    for style in (each for root in roots for each in root.iter("{*}list-style", "{*}outline-style")):
        levels = {count_of(level, "level") - 1: _list_level(level) for level in style.iterchildren("*")}
        name = attribute(style, "name") if local_name(style) == "list-style" else _OUTLINE
        found[name] = Numbering(name, levels)
    return found


def _list_level(element: Any) -> Level:
    shape = SHAPES.get(attribute(element, "num-format"), "none")
    is_item = local_name(element) != "outline-level-style"
    if shape == "none":
        return Level("bullet" if is_item else "none", attribute(element, "bullet-char"))
    last = min(count_of(element, "level"), DEEPEST + 1)
    places = (f"%{place}" for place in range(max(last - count_of(element, "display-levels"), 0) + 1, last + 1))
    text = f"{attribute(element, 'num-prefix')}{'.'.join(places)}{attribute(element, 'num-suffix')}"
    # Without a mark after it, the number of an item would read as the beginning of its text.
    text = f"{text}." if text == "%1" and is_item else text
    return Level(shape, text[:LONGEST_LABEL], count_of(element, "start-value"))


def _fields(root: Any) -> dict[str, str]:
    """Return what each field of a form shows, by its id: a box and its label, what is written or what is chosen."""
    shown = {}
    for field in (each for form in root.iter("{*}form") for each in form.iterchildren("{*}*")):
        state = attribute(field, "current-state", attribute(field, "state"))
        text = attribute(field, "current-value", attribute(field, "value"))
        if local_name(field) in ("checkbox", "radio"):
            is_on = state == "checked" or "true" in (attribute(field, "current-selected"), attribute(field, "selected"))
            text = f"{'☒' if is_on else '☐'} {attribute(field, 'label')}"
        elif local_name(field) == "listbox":
            text = ", ".join(
                attribute(each, "label")
                for each in field.iter("{*}option")
                if attribute(each, "current-selected") == "true"
            )
        shown[attribute(field, "id")] = "" if local_name(field) in ("password", "hidden") else text
    return shown


def _looks(roots: Sequence[Any]) -> dict[str, list[str]]:
    """Return how the text of each style is marked, if it is."""
    found: dict[str, list[str]] = {}
    for style in (each for root in roots for each in root.iter("{*}style")):
        found[attribute(style, "name")] = kinds = list(found.get(attribute(style, "parent-style-name"), ()))
        for properties in style.iterchildren("{*}text-properties"):
            if height := attribute(properties, "text-position"):
                kinds[:] = [kind for kind in kinds if kind in (STRUCK, _NOT_STRUCK)]
                is_low, is_level = height.startswith(("sub", "-")), height.startswith("0")
                kinds[:0] = [] if is_level else [LOWERED if is_low else RAISED]
            if line := attribute(properties, "text-line-through-style"):
                kinds[:] = [kind for kind in kinds if kind not in (STRUCK, _NOT_STRUCK)]
                kinds.append(_NOT_STRUCK if line == "none" else STRUCK)
    return found
