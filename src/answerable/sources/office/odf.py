"""Shared by OpenDocument texts, sheets and slides: encryption, properties, and text as blocks of Markdown.

Tracked deletions, comments and tables of contents are left out; notes are collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import EncryptedSource
from answerable.sources.context import ReadContext
from answerable.sources.markdown import MARK, MOST_COLUMNS, Heading, sections_document, table_blocks
from answerable.sources.office.packages import Package
from answerable.sources.xml import local_name

_MANIFEST = "META-INF/manifest.xml"
# Elements within a paragraph that aren't part of its text.
_NO_TEXT = frozenset({"annotation", "annotation-end", "note", "ruby-text", "frame", "tracked-changes", "desc", "title"})
_CHARACTERS = {"tab": " ", "line-break": "\n", "soft-page-break": ""}


def properties(package: Package) -> tuple[str, dict[str, str]]:
    """Return the title, and the author and creation date if given. Raise EncryptedSource."""
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
    found = {"author": author, "date": texts.get("creation-date", "")[:10]}
    return texts.get("title", ""), {key: text for key, text in found.items() if text}


def attribute(element: Any, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    suffix = f"}}{name}"
    return next((value for key, value in element.attrib.items() if key == name or key.endswith(suffix)), default)


def count_of(element: Any, name: str) -> int:
    """Return how often a cell, row or column is repeated, 1 without the attribute."""
    text = attribute(element, name)
    return int(text) if text.isdecimal() and 0 < len(text) < 9 else 1


def paragraph_text(element: Any) -> str:
    """Return the text of a paragraph or heading, without its notes, comments and frames; line breaks are kept."""
    pieces: list[str] = []
    _collect(element, pieces)
    lines = "".join(pieces).split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _collect(element: Any, pieces: list[str]) -> None:
    pieces.append(element.text or "")
    for child in element:
        name = local_name(child)
        if name in _CHARACTERS:
            pieces.append(_CHARACTERS[name])
        elif name == "s":
            pieces.append(" " * min(count_of(child, "c"), 100))
        elif name and name not in _NO_TEXT:
            _collect(child, pieces)
        pieces.append(child.tail or "")


_LEFT_OUT = frozenset(
    {"tracked-changes", "table-of-content", "annotation", "forms", "sequence-decls", "variable-decls", "title", "desc"}
    | {"user-field-decls", "illustration-index", "table-index", "alphabetical-index", "bibliography", "notes"}
)
_DEEPEST = 50  # nested elements that are followed at most: each level is a nested call of a function


class Walk:
    """One pass over a document; collects `headings`, and the text of each of its `notes`."""

    def __init__(self, numbered: frozenset[str] = frozenset()) -> None:
        self.headings: list[Heading] = []
        self.notes: list[str] = []
        self._numbered = numbered

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
        text = self._text(element).replace("\n", " ")
        if not text:
            return []
        level = min(max(count_of(element, "outline-level"), 1), 6)
        self.headings.append(Heading(0, level, paragraph_text(element).replace("\n", " "), None))
        return [f"{MARK}{'#' * level} {text}"]

    def _paragraph(self, element: Any, in_table: bool, depth: int) -> list[str]:
        blocks = [text] if (text := self._text(element)) else []
        for frame in element.iter("{*}text-box"):
            # A text box within another one is reached through the outer one.
            if not any(local_name(each) == "text-box" for each in _until(frame, element)):
                blocks += self.blocks(frame, in_table, depth + 1)
        return blocks

    def _text(self, element: Any) -> str:
        """Return the text of a paragraph with the references to its notes; collect the notes."""
        text = paragraph_text(element)
        for body in element.iter("{*}note-body"):
            if any(local_name(each) == "text-box" for each in _until(body, element)):
                # This note belongs to a paragraph of the text box.
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
        return table_blocks([self._row(row, depth) for row in _rows(element)], in_table)

    def _row(self, row: Any, depth: int) -> list[str]:
        cells: list[str] = []
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            text = " ".join(self.blocks(cell, in_table=True, depth=depth + 1)).replace("\n", " ")
            # Repeated cells have no text, except in hostile files, where nested tables would multiply it.
            cells += [text, *[""] * (min(count_of(cell, "number-columns-repeated"), MOST_COLUMNS) - 1)]
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


def _until(element: Any, ancestor: Any) -> Iterator[Any]:
    for each in element.iterancestors():
        if each is ancestor:
            return
        yield each


_ADVICE = "open it in LibreOffice, save it again as .odt, .docx or PDF, and add that file"


def read_odt(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a text document. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ADVICE, "document") as package:
        title, metadata = properties(package)
        root = package.xml("content.xml")
        walk = Walk(_numbered(root))
        bodies = [text for body in root.iter("{*}body") for text in body.iterchildren("{*}text")]
        blocks = [block for each in bodies for block in walk.blocks(each)]
    return sections_document(blocks, walk.headings, enumerate(walk.notes, 1), source, DocumentType.ODT, title, metadata)


def _numbered(root: Any) -> frozenset[str]:
    """Return the names of the list styles whose first level is numbered."""
    return frozenset(
        attribute(style, "name")
        for style in root.iter("{*}list-style")
        for level in list(style.iterchildren("{*}list-level-style-number"))[:1]
        if attribute(level, "level") == "1" and attribute(level, "num-format")
    )
