"""Read Word documents as Markdown: notes at the end, a part for each section.

Only the package's parts with text are read; pictures, macros and embedded or linked files are ignored. We don't use
mammoth: version 1.13 fails 8 of this reader's 26 tests: headings by outline level, inherited or translated styles,
hidden text, tables of contents, merged cells, missing notes, XML entities.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, UnsupportedSource
from answerable.sources.context import ReadContext
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.markdown_blocks import place_headings
from answerable.sources.office.docx_styles import Lists, Styles, W
from answerable.sources.office.docx_walk import Walk
from answerable.sources.office.zip_package import Package, parse_xml
from answerable.sources.text import stem

_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# The container of an encrypted document names it so, in UTF-16.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# The strict form of the standard has namespaces of its own.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|officeDocument)/(?=main|math)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
# The title that programs write if nobody gave one.
_NO_TITLE = re.compile(
    r"(microsoft word\b.*|word document|documento?\s*\d*|untitled|sin título|sem título)", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def read_docx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a Word file. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    if data.startswith(_OLE):
        raise _container_error(data, source)
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        try:
            related = _related(package, "")
            if "officeDocument" not in related:
                raise ValueError("it names no main document")
            body, headings, notes = _texts(package, related["officeDocument"])
            title, metadata = _properties(package, related.get("core-properties"))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid Word document ({str(error)[:200]}): {_ADVICE}") from error
    if not body and not notes:
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, save it as PDF, run OCR on that, and add the PDF"
        )
    content = "\n\n".join(filter(None, (body, notes)))
    start = len(content) - len(notes)
    parts = section_parts(content, headings, 0, start)
    if notes:
        parts = (*parts, Part(start, len(content), PartKind.SECTION))
    title = title or next((each.title for each in headings if each.level == 1), "") or stem(source)
    return Document(
        document_id(source, content), content, source, title, DocumentType.DOCX, metadata=metadata, parts=parts
    )


def _container_error(data: bytes, source: str) -> SourceError:
    if _ENCRYPTED in data:
        return EncryptedSource(
            f"{source} is encrypted: open it in Word or LibreOffice with its password, save it without one, "
            "and add that file"
        )
    return UnsupportedSource(f"{source} is an old Word document (.doc) with a new suffix: {_ADVICE}")


def _related(package: Package, part: str) -> dict[str, str]:
    """Return the names of the parts that a part (or the package, "") refers to, by kind."""
    folder, file = posixpath.split(part)
    name = posixpath.join(folder, "_rels", f"{file}.rels")
    if part and name not in package:
        return {}
    found: dict[str, str] = {}
    for relation in package.xml(name):
        path = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]
        if path in package and relation.get("TargetMode") != "External":
            found.setdefault(relation.get("Type", "").rsplit("/", 1)[-1], path)
    return found


def _xml(package: Package, name: str | None) -> Any:
    """Return the root of a part, None without one. Raises XMLSyntaxError."""
    if name is None:
        return None
    return parse_xml(_STRICT.sub(_TRANSITIONAL, package.read(name)), recover=False)


def _texts(package: Package, main: str) -> tuple[str, list[Heading], str]:
    """Return the document's text, its headings, and its notes."""
    related = _related(package, main)
    root = _xml(package, main).find(f"{W}body")
    if root is None:
        raise ValueError("it has no body")
    walk = Walk(root, Styles(_xml(package, related.get("styles"))), Lists(_xml(package, related.get("numbering"))))
    body, headings = place_headings("\n\n".join(walk.blocks(root)), walk.headings)
    walk.headings.clear()
    known: dict[tuple[str, str], Any] = {}
    for kind in ("footnote", "endnote"):
        if f"{kind}s" in related:
            found = _xml(package, related[f"{kind}s"]).iterchildren(W + kind)
            known |= {(kind, note.get(f"{W}id", "")): note for note in found}
    notes = []
    # A note may refer to another one, which is appended to `walk.notes` during the loop.
    for number, key in enumerate(walk.notes, 1):
        if key in known and (text := " ".join(walk.blocks(known[key], in_table=True))):
            notes.append(f"[^{number}]: {text}")
    return body, headings, "\n".join(notes)


def _properties(package: Package, name: str | None) -> tuple[str, dict[str, str]]:
    """Return the title, and the author and creation date if given."""
    root = None if name is None else package.xml(name)
    texts: dict[str, str] = {}
    for element in () if root is None else root.iterchildren("*"):
        texts.setdefault(element.tag.rsplit("}", 1)[-1], " ".join((element.text or "").split()))
    title, date = texts.get("title", ""), _DATE.match(texts.get("created", ""))
    found = {"author": texts.get("creator", ""), "date": date[0] if date else ""}
    return "" if _NO_TITLE.fullmatch(title) else title, {key: text for key, text in found.items() if text}
