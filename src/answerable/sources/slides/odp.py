"""OpenDocument presentations (.odp) → Document: a part for each slide, with its tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.office.odf import attribute, paragraph_text, properties, refuse_encrypted
from answerable.sources.office.odf_blocks import blocks_of
from answerable.sources.office.ooxml import local_name
from answerable.sources.office.zip_package import Package
from answerable.sources.slides.document import Slide, slides_document

_ADVICE = "open it in LibreOffice, save it again as .odp, .pptx or PDF, and add that file"
_FURNITURE = frozenset({"header", "footer", "date-time", "page-number", "page", "notes"})


def read_odp(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a presentation. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        try:
            refuse_encrypted(package)
            title, metadata = properties(package)
            root = package.xml("content.xml")
            hidden = {
                attribute(style, "name")
                for style in root.iter("{*}style")
                if any(attribute(each, "visibility") == "hidden" for each in style.iterchildren())
            }
            slides = [_slide(page, number, hidden) for number, page in enumerate(_pages(root), 1)]
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid presentation ({str(error)[:200]}): {_ADVICE}") from error
    return slides_document(slides, source, title, metadata)


def _pages(root: Any) -> Iterator[Any]:
    for presentation in root.iter("{*}presentation"):
        yield from presentation.iterchildren("{*}page")


def _slide(page: Any, number: int, hidden: set[str]) -> Slide:
    title = ""
    blocks: list[str] = []
    notes: list[str] = []
    for child in page.iterchildren():
        if local_name(child) == "notes":
            notes = [
                text
                for frame in child.iterchildren("{*}frame")
                if attribute(frame, "class") == "notes"
                for text in _lines(frame)
            ]
        elif attribute(child, "class") == "title" and not title:
            title = " ".join(_lines(child))
        elif attribute(child, "class") not in _FURNITURE:
            blocks += blocks_of(child)
    return Slide(number, title, blocks, notes, attribute(page, "style-name") in hidden)


def _lines(element: Any) -> list[str]:
    return [text.replace("\n", " ") for each in element.iter("{*}p", "{*}h") if (text := paragraph_text(each))]
