"""The places of a quote, such as a notice that ends the minutes of every meeting.

Passages that are the same text are counted by its hash (see `text.places`), but a quote may also stand in others,
beside other sentences: passages with its rarest words are searched for, and compared.
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
from answerable.text.terms import question_words

RAREST = 6
FIRST, GROWTH, MOST = 32, 4, 512
"""How many passages are compared at first, by which factor more as long as they have the quote, and at most."""

Place = tuple[str, str, int]
"""A library, a document's id and an offset in it."""


def with_places(store: Store, answer: Answer, evidence: Evidence) -> Answer:
    """Return an answer whose citations have the number of their other places, of those that pass the filter.

    A citation keeps the number of its passage if it is short, since under other headings it may say something else; if
    it is of what was computed; if no other passage that was found has it; and if it stands in MOST passages.
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
    """Return where a text stands within a passage, by source: in up to MOST passages of those that pass the filter.

    White space and case make no difference.
    """
    cited = (cite(result, start, end) for result, start, end in _find(store, quote, where)[0].values())
    found = [citation for citation in cited if citation is not None]
    return sorted(found, key=lambda each: (each.library, each.source, each.document_id, each.start))


def _find(store: Store, quote: str, where: Filter | None) -> tuple[dict[Place, tuple[RetrievalResult, int, int]], bool]:
    """Return the places of a text in up to MOST passages, and whether these are all."""
    words = question_words(quote, "", store.languages())
    frequencies = store.document_frequency([term for word in words for term in word])
    rarest = sorted(words, key=lambda word: sum(frequencies.get(term, 0) for term in word))[:RAREST]
    terms = [term for word in rarest for term in word]
    places: dict[Place, tuple[RetrievalResult, int, int]] = {}
    reach, seen = FIRST, 0
    while reach <= MOST:
        numbers = [number for number, _ in store.search_terms(terms, reach, where)]
        found = {
            _place(document, start): (RetrievalResult(indexed.chunk, 0.0, document), start, end)
            for indexed, document in store.fetch(numbers[seen:]).values()
            for start, end in _spans(quote, indexed.chunk)
        }
        places |= found
        if len(numbers) < reach or not found:
            return places, True
        reach, seen = reach * GROWTH, reach
    return places, False


def _spans(quote: str, chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield the spans of a quote in a document, as far as a passage has them."""
    if words := quote.split():
        for match in re.finditer(r"\s+".join(map(re.escape, words)), chunk.content, re.IGNORECASE):
            yield chunk.start + match.start(), chunk.start + match.end()


def _place(document: Document, start: int) -> Place:
    return document.library, document.id, start
