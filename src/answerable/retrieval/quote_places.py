"""The other places of a quote, such as a notice that ends the minutes of every meeting.

Passages that are the same text are counted by its hash (see `text.places`), but a quote may also stand in others,
beside other sentences: passages with its rarest words are searched for, and compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from answerable.datatypes import Answer, Chunk, Citation, Document
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
    languages = {
        result.document.language
        for result in evidence.results
        if any(place != own for place in _in_passage(citation.quote, result.chunk, result.document))
    }
    if not languages:
        return citation
    places = _places(store, citation.quote, languages, evidence.where)
    return replace(citation, other_places=max(citation.other_places, len(places - {own})))


def _places(store: Store, quote: str, languages: Collection[str], where: Filter | None) -> set[Place]:
    """Return the places of a text; none if there are too many to compare."""
    words = question_words(quote, "", languages)
    frequencies = store.document_frequency([term for word in words for term in word])
    rarest = sorted(words, key=lambda word: sum(frequencies.get(term, 0) for term in word))[:RAREST]
    terms = [term for word in rarest for term in word]
    places: set[Place] = set()
    reach, seen = FIRST, 0
    while reach <= MOST:
        numbers = [number for number, _ in store.search_terms(terms, reach, where)]
        fetched = store.fetch(numbers[seen:]).values()
        found = {place for indexed, document in fetched for place in _in_passage(quote, indexed.chunk, document)}
        places |= found
        if len(numbers) < reach or not found:
            return places
        reach, seen = reach * GROWTH, reach
    return set()


def _in_passage(quote: str, chunk: Chunk, document: Document) -> set[Place]:
    """Return the places of a quote in a passage; white space and case make no difference."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    matches = re.finditer(pattern, chunk.content, re.IGNORECASE)
    return {(document.library, document.id, chunk.start + match.start()) for match in matches}
