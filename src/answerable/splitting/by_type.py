"""The default splitter, which chooses another splitter by the document's type."""

from __future__ import annotations

from answerable.datatypes import Chunk, Document, DocumentType
from answerable.protocols import TextSplitter
from answerable.splitting.chat import ChatSplitter
from answerable.splitting.code import CodeSplitter
from answerable.splitting.headings import HeadingSplitter
from answerable.splitting.records import RecordSplitter, SheetSplitter
from answerable.splitting.recursive import RecursiveSplitter


class SplitterByType:
    """Split chats by messages, documents with headings or pages by sections, code by functions, tables by rows."""

    def __init__(self, chunk_size: int = 1800, chunk_overlap: int = 200) -> None:
        recursive = RecursiveSplitter(chunk_size, chunk_overlap)
        headings = HeadingSplitter(recursive)
        self._by_type: dict[DocumentType, TextSplitter] = {
            DocumentType.CHAT: ChatSplitter(recursive),
            DocumentType.MARKDOWN: headings,
            DocumentType.HTML: headings,
            DocumentType.DOCX: headings,
            DocumentType.EPUB: headings,
            DocumentType.ODT: headings,
            DocumentType.RTF: headings,
            DocumentType.SLIDES: headings,
            DocumentType.PDF: headings,
            DocumentType.CODE: CodeSplitter(chunk_size, chunk_overlap),
            DocumentType.RECORDS: RecordSplitter(recursive),
            DocumentType.SPREADSHEET: SheetSplitter(recursive),
        }
        self._default: TextSplitter = recursive

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return self._by_type.get(document.type, self._default).split(document)
