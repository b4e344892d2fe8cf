"""The documents and chunks that a pipeline has indexed, and their terms for keyword search."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from answerable.filters import Filter, matches, normalize_fields
from answerable.retrieval import count_held, exact_texts
from answerable.stores import KeywordIndex
from answerable.text import question_language, question_words
from answerable.text.terms import terms
from codomyrmex.llm.rag._documents import Chunk, Document
from codomyrmex.llm.rag._splitters import language_of
from codomyrmex.llm.rag._vector_store import fields_of

# Reading them takes some milliseconds; a whole identifier has the rarest word, which ranks it among these.
_LOOKED_AT = 1000


@dataclass(frozen=True)
class Entry:
    """A chunk without its embedding, its document, its fields for filters, and the counts of its terms."""

    chunk: Chunk
    document: Document
    fields: Mapping[str, Any]
    terms: Mapping[str, int]


@dataclass(frozen=True)
class Reading:
    """A document prepared for a corpus but not yet in it."""

    document: Document
    language: str
    entries: tuple[Entry, ...]


def read(document: Document, chunks: Sequence[Chunk]) -> Reading:
    """Prepare a document for a corpus; whatever can fail fails here."""
    language = language_of(document)
    entries = [
        Entry(chunk, document, normalize_fields(fields_of(chunk)), Counter(terms(chunk.content, language)))
        for chunk in chunks
    ]
    return Reading(document, language, tuple(entries))


class Corpus:
    """Chunks by number, in the order in which they were added; `search` returns these numbers."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._entries: dict[int, Entry] = {}
        self._by_chunk: dict[str, int] = {}
        self._by_document: dict[str, list[int]] = {}
        self._languages: dict[str, str] = {}
        self._keywords = KeywordIndex()

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._by_document

    def __getitem__(self, number: int) -> Entry:
        return self._entries[number]

    def number(self, chunk_id: str) -> int | None:
        """Return the number of the chunk with this id, or None."""
        return self._by_chunk.get(chunk_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return the chunks of a document in order, [] for an unknown document."""
        return [self._entries[number].chunk for number in self._by_document.get(document_id, ())]

    def put(self, reading: Reading) -> None:
        """Add a document with its chunks, replacing the one with its id."""
        document_id = reading.document.id
        self.remove(document_id)
        self._languages[document_id] = reading.language
        numbers = self._by_document[document_id] = []
        for entry in reading.entries:
            number = next(self._numbers)
            self._entries[number] = entry
            self._by_chunk[entry.chunk.id] = number
            self._keywords.add(number, entry.terms)
            numbers.append(number)

    def remove(self, document_id: str) -> None:
        """Remove a document and its chunks, if it is there."""
        self._languages.pop(document_id, None)
        for number in self._by_document.pop(document_id, ()):
            del self._by_chunk[self._entries.pop(number).chunk.id]
            self._keywords.remove(number)

    def search(self, query: str, k: int, condition: Filter | None) -> list[tuple[int, float]]:
        """Return numbers and scores of the k best chunks that pass: BM25 divided by its highest possible value."""
        languages = set(self._languages.values())
        words = question_words(query, question_language(query, languages), languages)
        stems = sorted(frozenset[str]().union(*words))

        def passes(number: int) -> bool:
            return matches(condition, self._entries[number].fields)

        highest = self._keywords.highest(words)
        found = self._keywords.search(stems, k, passes if condition else None)
        return [(number, min(score / highest, 1.0)) for number, score in found]

    def held(self, query: str, condition: Filter | None) -> dict[int, int]:
        """How many of the query's identifiers and quoted words the chunks that pass contain; none are left out.

        Of each, the chunks with most of its words are looked at.
        """
        wanted = exact_texts(query)
        near = {number for text in wanted for number, _ in self.search(text, _LOOKED_AT, condition)}
        counts = {number: count_held(wanted, self._entries[number].chunk.content) for number in sorted(near)}
        return {number: count for number, count in counts.items() if count}
