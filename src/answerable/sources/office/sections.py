"""Markdown with headings and notes → Document, for the readers of word processors' files."""

from __future__ import annotations

from collections.abc import Sequence

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.text import stem


def sections_document(
    body: str,
    headings: Sequence[Heading],
    notes: str,
    source: str,
    title: str,
    kind: DocumentType,
    metadata: dict[str, str],
) -> Document:
    """Return a document with a part for each section and one for the notes. Raises EmptySource."""
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
    return Document(document_id(source, content), content, source, title, kind, metadata=metadata, parts=parts)
