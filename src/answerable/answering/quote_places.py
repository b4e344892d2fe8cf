"""Find every place where a quote appears, such as a notice at the end of every meeting's minutes.

Identical passages are counted by their hash (see `text.places`). A quote may also be part of longer passages: search
for passages with its rarest words, then compare their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from answerable.answering.citations import cite
from answerable.datatypes import Answer, Chunk, Citation, Document, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import Evidence, Store
from answerable.text.places import says_the_same_anywhere
from answerable.text.terms import terms

RAREST = 6
FIRST, GROWTH, MOST = 32, 4, 512
"""Compare FIRST passages, and GROWTH times as many while the last ones have the quote, up to MOST."""

CUT = 2
"""A quote may begin and end within a word: so many of its terms may be unknown."""
_SINGLE, _DOUBLE = "'’‘", '"“”„«»'
_ALIKE = {mark: marks for marks in (_SINGLE, _DOUBLE) for mark in marks}
_MARKS = re.compile(f"[{_SINGLE}{_DOUBLE}]")
# An answer shows a quote between marks, which may be pasted with it.
_SPACES_AND_MARKS = " \t\r\n“”"

Place = tuple[str, str, int]
"""A library, a document's id and an offset in it."""


def with_places(store: Store, answer: Answer, evidence: Evidence) -> Answer:
    """Return an answer whose citations have the number of their other places, of those that pass the filter.

    It stays the number of identical passages if the quote is short (under other headings it may say something else), if
    the answer was computed, if no other passage of the evidence has the quote, and from MOST passages on.
    """
    if evidence.computed and answer.citations == evidence.computed.citations:
        return answer
    return replace(answer, citations=tuple(_with_places(store, each, evidence) for each in answer.citations))


def _with_places(store: Store, citation: Citation, evidence: Evidence) -> Citation:
    if not says_the_same_anywhere(citation.quote) or citation.other_places >= MOST:
        return citation
    own = citation.library, citation.document_id, citation.start
    found = {
        _place(result.document, start)
        for result in evidence.results
        for start, _ in _spans(citation.quote, result.chunk)
    }
    if not found - {own}:
        return citation
    places, is_whole = _find(store, citation.quote, evidence.where)
    others = len(places.keys() - {own}) if is_whole else 0
    return replace(citation, other_places=max(citation.other_places, others))


def quote_places(store: Store, quote: str, where: Filter | None) -> list[Citation]:
    """Return where a text appears within passages that pass the filter, by source: MOST passages a language at most.

    White space, case and the form of quotation marks make no difference. Raise ValueError if all its words are too
    common in a language of the library to search for.
    """
    if not all(terms(quote, language) for language in {*store.languages(), ""}):
        raise ValueError("the text has no word that is rare enough to search for: give a longer part of it")
    places, _ = _find(store, quote, where)
    cited = (cite(result, start, end) for result, start, end in places.values())
    found = [replace(citation, other_places=len(places) - 1) for citation in cited if citation is not None]
    return sorted(found, key=lambda each: (each.library, each.source, each.document_id, each.start))


def _find(store: Store, quote: str, where: Filter | None) -> tuple[dict[Place, tuple[RetrievalResult, int, int]], bool]:
    """Return the places of a text in MOST passages a language at most, and whether these are all."""
    places: dict[Place, tuple[RetrievalResult, int, int]] = {}
    is_whole = True
    for words in _rarest(store, quote):
        reach, seen = FIRST, 0
        while reach <= MOST:
            numbers = [number for number, _ in store.search_terms(words, reach, where)]
            found = {
                _place(document, start): (RetrievalResult(indexed.chunk, 0.0, document), start, end)
                for indexed, document in store.fetch(numbers[seen:]).values()
                for start, end in _spans(quote, indexed.chunk)
            }
            places |= found
            if len(numbers) < reach or not found:
                break
            reach, seen = reach * GROWTH, reach
        is_whole = is_whole and reach <= MOST
    return places, is_whole


def _rarest(store: Store, quote: str) -> Iterator[list[str]]:
    """Yield the text's rarest terms in each language of the library whose passages may have it.

    Such passages have all its terms in that language (see CUT for the only exception).
    """
    by_language = {language: list(dict.fromkeys(terms(quote, language))) for language in {*store.languages(), ""}}
    frequencies = store.document_frequency({term for found in by_language.values() for term in found})
    searched = set()
    for language in sorted(by_language):
        known = [term for term in by_language[language] if frequencies.get(term)]
        rarest = sorted(known, key=lambda term: (frequencies[term], term))[:RAREST]
        if rarest and len(by_language[language]) - len(known) <= CUT and tuple(rarest) not in searched:
            searched.add(tuple(rarest))
            yield rarest


def _spans(quote: str, chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield the spans, in the document, of each occurrence of a quote in a passage."""
    if words := quote.strip(_SPACES_AND_MARKS).split():
        pattern = r"\s+".join(_MARKS.sub(lambda mark: f"[{_ALIKE[mark[0]]}]", re.escape(word)) for word in words)
        for match in re.finditer(pattern, chunk.content, re.IGNORECASE):
            yield chunk.start + match.start(), chunk.start + match.end()


def _place(document: Document, start: int) -> Place:
    return document.library, document.id, start
