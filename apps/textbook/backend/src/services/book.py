"""The whole book as this process holds it: where a selected text stands in it, and how rare its words are.

What is selected on a page is rendered, what is stored is Markdown, and a selection may begin and end anywhere. So both
are compared by their words, in runs of four.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from answerable.text import document_language, rarity
from answerable.text.terms import terms, words
from src.collection import Collected
from src.passages import Passage, Place
from src.settings import QdrantAddress

RUN = 4
ENOUGH = 0.5
MANY = 8
MOST_PLACES = 8

_TARGET = re.compile(r"\]\([^()\s]*\)")


@dataclass(frozen=True, slots=True)
class Book:
    """One version of the book. `words` are those of each passage, `languages` by source.

    `frequencies` say in how many passages a term stands.
    """

    words: Sequence[tuple[Place, Sequence[str]]]
    languages: Mapping[str, str]
    frequencies: Mapping[str, int]

    def places_of(self, selected: str) -> list[Place]:
        """Where a selected text stands; nothing where it stands nowhere, or in too many places to tell.

        The place that has most of it must have half of its runs of words, or eight; others count that have half as
        much as that one.
        """
        wanted = _words(selected)
        length = min(RUN, len(wanted))
        runs = _runs(wanted, length)
        shared: dict[Place, int] = {}
        for place, held in self.words:
            shared[place] = max(shared.get(place, 0), len(runs & _runs(held, length)))
        most = max(shared.values(), default=0)
        if most == 0 or (most < ENOUGH * len(runs) and most < MANY):
            return []
        places = [place for place, number in shared.items() if number >= ENOUGH * most]
        return places if len(places) <= MOST_PLACES else []

    def weights(self, question: Iterable[frozenset[str]]) -> dict[frozenset[str], float]:
        """How rare words are, each given as its stems; one that stands nowhere counts as if it stood once."""
        count = len(self.words)
        return {word: rarity(count, max(1, *(self.frequencies.get(term, 0) for term in word))) for word in question}


class Shelf:
    """Keeps the last version of the book that was read, which never changes. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[str, Book] = "", _book(())

    def book(self, collected: Collected) -> Book:
        """The book as it is stored now. Raises QdrantOperationError, NotThere where there is none."""
        version = collected.version()
        with self._lock:
            kept, book = self._kept
        # A collection that isn't behind an alias is somebody else's, and may change.
        if not version or version != kept:
            book = _book(collected.passages())
            with self._lock:
                self._kept = version, book
        return book


@cache
def shelf(address: QdrantAddress) -> Shelf:
    """The one for each Qdrant."""
    return Shelf()


def _book(passages: Iterable[Passage]) -> Book:
    by_source: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_source[passage.source].append(passage)
    languages = {
        source: document_language("\n".join(passage.text for passage in held)) for source, held in by_source.items()
    }
    every = [passage for held in by_source.values() for passage in held]
    frequencies = Counter(term for passage in every for term in set(terms(passage.indexed, languages[passage.source])))
    return Book([(passage.place, _words(passage.indexed)) for passage in every], languages, frequencies)


def _words(text: str) -> list[str]:
    # Where a link goes isn't shown; an underline may be a mark of emphasis.
    return list(words(_TARGET.sub("]", text).replace("_", " ")))


def _runs(held: Sequence[str], length: int) -> frozenset[tuple[str, ...]]:
    if not length:
        return frozenset()
    return frozenset(tuple(held[start : start + length]) for start in range(len(held) - length + 1))
