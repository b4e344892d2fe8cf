"""Rich Text Format (.rtf, and .doc files that are one) → Document: Markdown with headings, lists, tables and notes.

Hidden text, tracked deletions, headers, footers, comments, pictures and embedded objects are left out. We don't use
striprtf, which knows neither headings nor lists nor notes.
"""

from __future__ import annotations

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource
from answerable.sources.context import ReadContext
from answerable.sources.markdown_blocks import place_headings
from answerable.sources.office.rtf_blocks import Blocks
from answerable.sources.office.rtf_walk import Walk
from answerable.sources.office.sections import sections_document

_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"


def read_rtf(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from an RTF file. Raises DamagedSource and EmptySource."""
    if not data.startswith(b"{\\rtf"):
        raise DamagedSource(f"{source} is not an RTF document: {_ADVICE}")
    blocks = Blocks()
    walk = Walk(data.decode("latin-1"), blocks)
    walk.run()
    blocks.finish()
    body, headings = place_headings("\n\n".join(blocks.blocks), blocks.headings)
    notes = "\n".join(f"[^{number}]: {text}" for number, text in enumerate(blocks.notes, 1))
    return sections_document(body, headings, notes, source, walk.title, DocumentType.RTF, walk.metadata)
