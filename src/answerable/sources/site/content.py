"""What a site sent → Documents: pages by the readers of HTML, everything else by the reader of its format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote

from answerable.datatypes import Document, document_id
from answerable.sources.formats import SAMPLE, SUFFIXES, Format, recognise
from answerable.sources.reader import FileReader
from answerable.sources.site.fetch import Fetched
from answerable.sources.text import magic_name

_TYPES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "text/csv": ".csv",
    "application/epub+zip": ".epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}


class SiteContent:
    """The bytes of a page. Raises UnsupportedSource when no reader takes them.

    `source` is the public address, which the documents bear.
    """

    def __init__(self, fetched: Fetched, source: str) -> None:
        self._body = fetched.body
        self._source = source
        self.content_type = fetched.content_type.partition(";")[0].strip().lower()
        self._name = _name(fetched.url, self.content_type)
        stated = _TYPES.get(self.content_type) == ".html" and not magic_name(self._body)
        self.is_html = stated or recognise(self._body[:SAMPLE], self._name) is Format.HTML

    def documents(self, files: FileReader) -> list[Document]:
        """The documents in it."""
        if self.is_html:
            return files.read_page(self._body, self._source)
        return [_renamed(document, self._source) for document in files.read_bytes(self._body, self._name)]


def _name(url: str, content_type: str) -> str:
    """A file's name for an address, with a suffix that says what the server says."""
    path = unquote(url.partition("?")[0].partition("://")[2])
    suffix = _TYPES.get(content_type, "")
    known = SUFFIXES.get(PurePosixPath(path).suffix.lower())
    return path + suffix if suffix and known is not SUFFIXES[suffix] else path


def _renamed(document: Document, source: str) -> Document:
    return replace(document, id=document_id(source, document.content), source=source)
