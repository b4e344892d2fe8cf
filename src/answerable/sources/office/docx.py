"""Word documents → Document: the text as Markdown, footnotes and endnotes at its end, a part for each section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.markdown_blocks import place_headings
from answerable.sources.office.docx_package import damaged, open_word
from answerable.sources.office.docx_styles import Lists, Styles, W
from answerable.sources.office.docx_walk import Walk
from answerable.sources.text import stem

if TYPE_CHECKING:
    from docx.package import Package

# What programs put there when nobody gave a title.
_NO_TITLE = re.compile(
    r"(microsoft word\b.*|word document|documento?\s*\d*|untitled|sin título|sem título)", re.IGNORECASE
)


def read_docx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """A document from a Word file. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    package = open_word(data, source, (context or ReadContext()).limits.max_file_size)
    try:
        body, headings, notes = _texts(package)
    except Exception as error:
        # The XML is sound, but a hostile one may nest or lack what the standard asks for.
        raise damaged(source, error) from error
    if not body and not notes:
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, save it as PDF, recognise the text in that (OCR), "
            "and add the PDF"
        )
    start = len(body) + 2 if body and notes else len(body)
    content = f"{body}\n\n{notes}" if body and notes else body or notes
    parts = section_parts(content, headings, 0, start)
    if notes:
        parts = (*parts, Part(start, len(content), PartKind.SECTION))
    title, metadata = _properties(package)
    title = title or next((each.title for each in headings if each.level == 1), "") or stem(source)
    return Document(
        document_id(source, content), content, source, title, DocumentType.DOCX, metadata=metadata, parts=parts
    )


def _texts(package: Package) -> tuple[str, list[Heading], str]:
    """The text with its headings, and the notes that it refers to."""
    main = package.main_document_part
    root = main.element.body
    walk = Walk(root, Styles(_related(main, "styles")), Lists(_related(main, "numbering")))
    body, headings = place_headings("\n\n".join(walk.blocks(root)), walk.headings)
    walk.headings.clear()
    known = {
        (kind, note.get(f"{W}id", "")): note
        for kind in ("footnote", "endnote")
        for note in _children(_related(main, f"{kind}s"), W + kind)
    }
    notes = []
    # A note may refer to another, which is then added to the end of those walked over here.
    for number, key in enumerate(walk.notes, 1):
        if key in known and (text := " ".join(walk.blocks(known[key], in_table=True))):
            notes.append(f"[^{number}]: {text}")
    return body, headings, "\n".join(notes)


def _related(main: Any, kind: str) -> Any | None:
    """The root of a part that belongs to the main one, None where there is none."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml.parser import parse_xml

    try:
        part = main.part_related_by(getattr(RELATIONSHIP_TYPE, kind.upper()))
    except KeyError:
        return None
    return part.element if hasattr(part, "element") else parse_xml(part.blob)


def _children(root: Any | None, tag: str) -> list[Any]:
    return [] if root is None else list(root.iterchildren(tag))


def _properties(package: Package) -> tuple[str, dict[str, str]]:
    """The title, and author and date of creation, as far as somebody gave them."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    try:
        properties = package.part_related_by(RELATIONSHIP_TYPE.CORE_PROPERTIES).core_properties  # type: ignore[attr-defined]
        title, author, created = (" ".join(str(each or "").split()) for each in _declared(properties))
    except (KeyError, AttributeError, ValueError):
        return "", {}
    found = {"author": author, "date": created[:10]}
    return "" if _NO_TITLE.fullmatch(title) else title, {key: text for key, text in found.items() if text}


def _declared(properties: Any) -> tuple[Any, Any, Any]:
    return properties.title, properties.author, properties.created
