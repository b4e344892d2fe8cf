"""Chunks that respect the sections of a document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from answerable.datatypes import Chunk, Document, DocumentType
from answerable.protocols import Span
from answerable.splitting.make_chunks import make_chunks
from answerable.splitting.recursive import RecursiveSplitter
from answerable.text.locate import Locator

# A heading may have a number or word before it that its path lacks: "Chapter 3".
NUMBER = 30
GAP = 200
"""Longer comments in a section aren't part of its chunks."""
MARKUP = frozenset({DocumentType.RST, DocumentType.ORG, DocumentType.ASCIIDOC, DocumentType.LATEX})
_WITH_PAGES = frozenset({DocumentType.PDF, DocumentType.PICTURE, DocumentType.NOTEBOOK})


class HeadingSplitter:
    """One chunk per section; the splitter `within` cuts long ones. A section with only a heading joins the next."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space and what no part covers."""
        if document.type in _WITH_PAGES:
            return self._within.chunks(document, _sections_across_pages(document))
        if document.type in MARKUP:
            return self._visible(document)
        return self._within.chunks(document, _sections(document))

    def _visible(self, document: Document) -> list[Chunk]:
        """Return chunks with something of a part in each."""
        locator = Locator(document)
        cuts = (cut for span in _sections_of_markup(document) for cut in self._within.spans(document.content, *span))
        return make_chunks(document, (cut for cut in cuts if locator.parts(*cut)))


def _sections(document: Document) -> Iterator[Span]:
    start = reached = 0
    for part in document.parts:
        text = document.content[reached : part.end].strip()
        reached = part.end
        if "\n" in text or not text.startswith("#"):
            yield start, part.end
            start = part.end
    if start < len(document.content):
        yield start, len(document.content)


def _sections_of_markup(document: Document) -> Iterator[Span]:
    """Yield the spans of sections, without long texts between their parts that nobody reads."""
    start = end = -1
    has_text = False
    headings: tuple[str, ...] = ()
    for part in document.parts:
        is_apart = part.start - end > GAP
        if start >= 0 and (is_apart or (has_text and part.headings != headings)):
            yield start, end
            start = -1
        if start < 0:
            start, has_text = part.start, False
        end, headings = part.end, part.headings
        has_text = has_text or bool(document.content[part.start if part.body is None else part.body : end].strip())
    if start >= 0:
        yield start, end


def _sections_across_pages(document: Document) -> Iterator[Span]:
    """Yield the spans of sections: one begins where the headings change, unless the last would be only a heading."""
    started = None
    start = 0
    for before, part in pairwise(document.parts):
        started = started or before
        if part.headings == before.headings:
            continue
        between = document.content[started.start : part.start].strip()
        if not started.headings or len(between) > len(started.headings[-1]) + NUMBER:
            yield start, part.start
            start, started = part.start, part
    yield start, len(document.content)
