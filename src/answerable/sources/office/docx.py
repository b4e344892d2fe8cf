"""Read Word documents as Markdown: notes at the end, a part for each section.

Only the package's parts with text are read; pictures, macros and embedded or linked files are ignored. We don't use
mammoth: version 1.13 fails 8 of this reader's 26 tests: headings by outline level, inherited or translated styles,
hidden text, tables of contents, merged cells, missing notes, XML entities.
"""

from __future__ import annotations

import re
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.markdown import Heading
from answerable.sources.markdown_blocks import place_headings
from answerable.sources.office.docx_styles import Lists, Styles, W
from answerable.sources.office.docx_walk import Walk
from answerable.sources.office.ooxml import properties, refuse_container, related
from answerable.sources.office.sections import sections_document
from answerable.sources.office.zip_package import Package, parse_xml

_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"
# The strict form of the standard has namespaces of its own.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|officeDocument)/(?=main|math)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"


def read_docx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a Word file. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    refuse_container(data, source, ".doc")
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        try:
            found = related(package, "")
            if "officeDocument" not in found:
                raise ValueError("it names no main document")
            body, headings, notes = _texts(package, found["officeDocument"])
            title, metadata = properties(package, found.get("core-properties"))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid Word document ({str(error)[:200]}): {_ADVICE}") from error
    return sections_document(body, headings, notes, source, title, DocumentType.DOCX, metadata)


def _xml(package: Package, name: str | None) -> Any:
    """Return the root of a part, None without one. Raises XMLSyntaxError."""
    if name is None:
        return None
    return parse_xml(_STRICT.sub(_TRANSITIONAL, package.read(name)), recover=False)


def _texts(package: Package, main: str) -> tuple[str, list[Heading], str]:
    """Return the document's text, its headings, and its notes."""
    parts = related(package, main)
    root = _xml(package, main).find(f"{W}body")
    if root is None:
        raise ValueError("it has no body")
    walk = Walk(root, Styles(_xml(package, parts.get("styles"))), Lists(_xml(package, parts.get("numbering"))))
    body, headings = place_headings("\n\n".join(walk.blocks(root)), walk.headings)
    walk.headings.clear()
    known: dict[tuple[str, str], Any] = {}
    for kind in ("footnote", "endnote"):
        if f"{kind}s" in parts:
            found = _xml(package, parts[f"{kind}s"]).iterchildren(W + kind)
            known |= {(kind, note.get(f"{W}id", "")): note for note in found}
    notes = []
    # A note may refer to another one, which is appended to `walk.notes` during the loop.
    for number, key in enumerate(walk.notes, 1):
        if key in known and (text := " ".join(walk.blocks(known[key], in_table=True))):
            notes.append(f"[^{number}]: {text}")
    return body, headings, "\n".join(notes)
