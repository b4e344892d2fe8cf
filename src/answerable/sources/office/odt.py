"""OpenDocument texts (.odt) → Document: Markdown with a part for each section, notes at the end."""

from __future__ import annotations

from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.markdown_blocks import place_headings
from answerable.sources.office.odf import attribute, properties, refuse_encrypted
from answerable.sources.office.odf_blocks import Walk
from answerable.sources.office.sections import sections_document
from answerable.sources.office.zip_package import Package

_ADVICE = "open it in LibreOffice, save it again as .odt, .docx or PDF, and add that file"


def read_odt(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a text. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        try:
            refuse_encrypted(package)
            title, metadata = properties(package)
            root = package.xml("content.xml")
            walk = Walk(_numbered(root))
            bodies = [text for body in root.iter("{*}body") for text in body.iterchildren("{*}text")]
            body, headings = place_headings(
                "\n\n".join(block for each in bodies for block in walk.blocks(each)), walk.headings
            )
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid document ({str(error)[:200]}): {_ADVICE}") from error
    notes = "\n".join(f"[^{number}]: {text}" for number, text in enumerate(walk.notes, 1))
    return sections_document(body, headings, notes, source, title, DocumentType.ODT, metadata)


def _numbered(root: Any) -> frozenset[str]:
    """Return the names of the list styles whose first level is numbered."""
    return frozenset(
        attribute(style, "name")
        for style in root.iter("{*}list-style")
        for level in list(style.iterchildren("{*}list-level-style-number"))[:1]
        if attribute(level, "level") == "1" and attribute(level, "num-format")
    )
