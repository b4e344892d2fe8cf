"""The other places of a quote, such as a notice that ends the minutes of every meeting.

Passages that are the same text are counted by its hash (see `text.places`), but a quote may also stand in others,
beside other sentences: passages with its rarest words are searched for, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from answerable.datatypes import Answer, Citation
from answerable.filters import Filter
from answerable.protocols import Evidence, Store
from answerable.text.places import says_the_same_anywhere
from answerable.text.terms import question_words

RAREST = 6
FIRST, GROWTH, MOST = 32, 4, 2048
"""How many passages are compared at first, by which factor more as long as they have the quote, and at most."""

Place = tuple[str, str, int]
"""A library, a document's id and an offset in it."""


def with_places(store: Store, answer: Answer, evidence: Evidence) -> Answer:
    """Return an answer whose citations have the number of their other places, of those that pass the filter.

    A short quote keeps the number of its passage, since under other headings it may say something else; so does what
    was computed, and a quote of a passage with MOST other places. Up to MOST passages are compared.
    """
    if evidence.computed and answer.citations == evidence.computed.citations:
        return answer
    return replace(answer, citations=tuple(_with_places(store, each, evidence) for each in answer.citations))


def _with_places(store: Store, citation: Citation, evidence: Evidence) -> Citation:
    if not says_the_same_anywhere(citation.quote) or citation.other_places >= MOST:
        return citation
    document = citation.library, citation.document_id
    for result in evidence.results:
        begins = result.chunk.start <= citation.start < result.chunk.end
        if begins and document == (result.document.library, result.document.id):
            found = set(_places(store, citation.quote, result.document.language, evidence.where))
            others = len(found - {(*document, citation.start)})
            return replace(citation, other_places=max(citation.other_places, others))
    return citation


def _places(store: Store, quote: str, language: str, where: Filter | None) -> Iterator[Place]:
    """Yield the places of a text, those in two overlapping passages twice."""
    words = question_words(quote, language, store.languages())
    frequencies = store.document_frequency([term for word in words for term in word])
    rarest = sorted(words, key=lambda word: sum(frequencies.get(term, 0) for term in word))[:RAREST]
    terms = [term for word in rarest for term in word]
    reach, seen = FIRST, 0
    while seen < reach <= MOST:
        numbers = [number for number, _ in store.search_terms(terms, reach, where)]
        places = [
            (document.library, document.id, indexed.chunk.start + start)
            for indexed, document in store.fetch(numbers[seen:]).values()
            for start in _starts(quote, indexed.chunk.content)
        ]
        yield from places
        if len(numbers) < reach or not places:
            return
        reach, seen = reach * GROWTH, reach


def _starts(quote: str, text: str) -> list[int]:
    """Return where a quote begins in a text; white space and case make no difference."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    return [match.start() for match in re.finditer(pattern, text, re.IGNORECASE)]
