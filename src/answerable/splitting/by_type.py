"""The default splitter, which chooses another splitter by the document's type."""

from __future__ import annotations

from collections.abc import Callable

from answerable.datatypes import Chunk, Document, DocumentType
from answerable.protocols import TextSplitter
from answerable.splitting.chat import ChatSplitter
from answerable.splitting.code import CodeSplitter
from answerable.splitting.headings import HeadingSplitter
from answerable.splitting.records import RecordSplitter, SheetSplitter
from answerable.splitting.recursive import RecursiveSplitter


def _nobody(name: str) -> TextSplitter | None:
    """Return None: there are no other splitters."""
    return None


class SplitterByType:
    """Split chats by messages, documents with headings or pages by sections, code by functions, tables by rows.

    `others` returns the splitter for a format of plug-ins, or for a type that has none here; what it can't split is
    split as if there were no other.
    """

    def __init__(
        self,
        chunk_size: int = 1800,
        chunk_overlap: int = 200,
        others: Callable[[str], TextSplitter | None] = _nobody,
    ) -> None:
        recursive = RecursiveSplitter(chunk_size, chunk_overlap)
        headings = HeadingSplitter(recursive)
        records = RecordSplitter(recursive)
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
            DocumentType.NOTEBOOK: headings,
            DocumentType.RST: headings,
            DocumentType.ORG: headings,
            DocumentType.ASCIIDOC: headings,
            DocumentType.LATEX: headings,
            DocumentType.PICTURE: headings,
            DocumentType.CODE: CodeSplitter(chunk_size, chunk_overlap),
            DocumentType.RECORDS: RecordSplitter(recursive),
            DocumentType.OUTLINE: RecordSplitter(recursive),
            DocumentType.RECORDS: records,
            DocumentType.CALENDAR: records,
            DocumentType.CONTACTS: records,
            DocumentType.SPREADSHEET: SheetSplitter(recursive),
        }
        self._default: TextSplitter = recursive
        self._others = others

    @property
    def types(self) -> frozenset[DocumentType]:
        """The types that have a splitter of their own here."""
        return frozenset(self._by_type)

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        built_in = self._by_type.get(document.type)
        other = self._others(str(document.metadata["format"])) if document.metadata.get("format") else None
        other = other or (None if built_in else self._others(document.type))
        return (other.split(document) if other else []) or (built_in or self._default).split(document)
