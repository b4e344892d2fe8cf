"""What a site sent → Documents: pages by the readers of HTML, everything else by the reader of its format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from answerable.datatypes import Document, document_id
from answerable.sources.docusaurus import is_docusaurus, read_docusaurus
from answerable.sources.formats import SAMPLE, SUFFIXES, Format, recognise
from answerable.sources.html import parse_page, read_html, sound_markup
from answerable.sources.site_fetch import Fetched
from answerable.sources.text import magic_name

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

Read = Callable[[bytes, str], list[Document]]

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
    """The bytes of a page, parsed once. Raises UnsupportedSource when no reader takes them.

    `source` is the public address, which the documents bear.
    """

    def __init__(self, fetched: Fetched, source: str) -> None:
        self._body = fetched.body
        self._source = source
        self.content_type = fetched.content_type.partition(";")[0].strip().lower()
        self._name = _name(fetched.url, self.content_type)
        stated = _TYPES.get(self.content_type) == ".html" and not magic_name(self._body)
        self.is_html = stated or recognise(self._body[:SAMPLE], self._name) is Format.HTML

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The page's elements. Raises DamagedSource when they are made to take for ever."""
        return parse_page(self._markup)

    @cached_property
    def _markup(self) -> str:
        return sound_markup(self._body, self._source)

    def documents(self, read: Read) -> list[Document]:
        """The documents in it; the tree isn't of use afterwards. `read` is for all that isn't HTML."""
        if not self.is_html:
            return [_renamed(document, self._source) for document in read(self._body, self._name)]
        if is_docusaurus(self.tree):
            return [read_docusaurus(self.tree, self._source, self._source)]
        return [read_html(self._markup, self._source, self._source)]


def _name(url: str, content_type: str) -> str:
    """A file's name for an address, with a suffix that says what the server says."""
    path = unquote(url.partition("?")[0].partition("://")[2])
    suffix = _TYPES.get(content_type, "")
    known = SUFFIXES.get(PurePosixPath(path).suffix.lower())
    return path + suffix if suffix and known is not SUFFIXES[suffix] else path


def _renamed(document: Document, source: str) -> Document:
    return replace(document, id=document_id(source, document.content), source=source)
