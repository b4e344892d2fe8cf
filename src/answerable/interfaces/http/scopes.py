"""Decide where to search for a question about selected text: its section, its document, then the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from answerable.datatypes import Chunk
from answerable.interfaces.http.problems import Problem
from answerable.library import Library
from answerable.text.find_words import find_words

_CANDIDATES = 10
# Characters enough to find a passage.
_ENOUGH = 1_000
# Shorter lines may occur anywhere.
_TELLING = 20

Where = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a document's content."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the library to search: `kind` is section, document or library. `span` is the selected text."""

    kind: str
    where: Where | None
    span: Span | None = None
    section: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the scope for an answer's JSON."""
        span = self.span
        return {
            "kind": self.kind,
            "section": list(self.section),
            "document_id": span.document_id if span else None,
            "start": span.start if span else None,
            "end": span.end if span else None,
        }


def find_selected(library: Library, text: str, where: Where | None = None) -> Span | None:
    """Find the span of a selected text, ignoring white space; None if no passage contains it.

    If the whole text isn't found, because a page may show it differently, its longest line is searched.
    """
    lines = sorted((line.strip() for line in text.splitlines()), key=len, reverse=True)
    for wanted in dict.fromkeys((text.strip(), *(line for line in lines[:1] if len(line) >= _TELLING))):
        if not wanted:
            continue
        without: set[str] = set()
        for result in library.search(wanted[:_ENOUGH], _CANDIDATES, where):
            document = result.document
            if document.id in without:
                continue
            # Prefer an occurrence in the passage itself.
            near = max(result.chunk.start - len(wanted), 0)
            found = find_words(document.content, wanted, near) or find_words(document.content, wanted)
            if found:
                return Span(document.id, *found)
            without.add(document.id)
    return None


def check_span(library: Library, span: Span) -> Span:
    """Return the span if it is inside the document. Raise DocumentNotFound or Problem."""
    length = len(library.document(span.document_id).content)
    if not 0 <= span.start < span.end <= length:
        raise Problem(422, "invalid_request", f"The document has {length} characters: give a start and an end in it.")
    return span


def scopes(library: Library, span: Span | None, where: Where | None) -> list[Scope]:
    """Return the parts to search one after another, narrowest first; the last is all that `where` allows."""
    everything = Scope("library", where, span)
    if span is None:
        return [everything]
    document = {"document_id": span.document_id}
    found = [Scope("document", _all(where, document), span), everything]
    touched = [chunk for chunk in library.chunks(span.document_id) if chunk.start < span.end and chunk.end > span.start]
    condition, section = _section(touched)
    if condition:
        found.insert(0, Scope("section", _all(where, document, condition), span, section))
    return found


def _section(chunks: Sequence[Chunk]) -> tuple[Where | None, tuple[str, ...]]:
    """Return the filter for the section of these chunks, and the section's name: its headings, pages or days."""
    places = [chunk.location for chunk in chunks]
    if headings := tuple(dict.fromkeys(place.headings[-1] for place in places if place.headings)):
        return {"heading": list(headings)}, headings
    if pages := sorted({page for place in places if place.pages for page in range(place.pages[0], place.pages[1] + 1)}):
        return {"page": pages}, tuple(f"page {page}" for page in pages)
    if times := [time for place in places if place.times for time in place.times]:
        first, last = min(times).date().isoformat(), max(times).date().isoformat()
        return {"date": {"gte": first, "lte": last}}, (first,) if first == last else (first, last)
    return None, ()


def _all(*conditions: Where | None) -> Where:
    return {"and": [condition for condition in conditions if condition]}
