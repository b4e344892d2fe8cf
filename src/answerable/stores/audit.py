"""Audits any store from outside: counts and searches must agree with the documents and chunks that the store returns.

A store's own `audit` reports only faults that these comparisons can't show: damaged files, rows that can't be read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from answerable.datatypes import FloatArray
from answerable.errors import LibraryBusy, LibraryError
from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, comparable, field_values, normalize
from answerable.protocols import CoreStore, Difference, IndexedChunk, Issue, Store, StoredDocument
from answerable.stores.completed import completed
from answerable.stores.hashed import term_hash
from answerable.stores.records import UNREADABLE
from answerable.text.indexed_text import TEXT_HASH
from answerable.text.terms import score

Row = TypeVar("Row")

INDEX = "index"
"""The place that issues name for faults that show in searches, whichever kind of index the store has."""

# Allowed difference of scores: stores keep weights and vectors in 32 bits; cosines of unrelated vectors differ by .07.
_CLOSE = 1e-5
# Passages to collect before searches compare them. A round number, not measured.
_TOGETHER = 500
# Documents to collect: for a filter on more ids PostgreSQL would read all entries, not its index (`values.LOOKED_UP`).
_DOCUMENTS = 20
# Most values of a field to filter by; of a field with more values among these passages, only its presence is checked.
_VALUES = 20
# Terms per request, about 100 kB. A round number.
_TERMS = 10_000
# With more documents, the list of their ids is too long for one request.
_LISTED = 100_000
# Most terms that an issue names.
_SHOWN = 5


def audit(store: Store | CoreStore) -> list[Issue]:
    """Return the faults of a store. Raises LibraryError for a document that can't be read."""
    whole = completed(store)
    found, check = whole.audit(), SearchAudit(whole)
    for stored in whole.documents():
        check.take(stored, whole.indexed_chunks(stored.id))
    return [*found, *check.issues()]


class SearchAudit:
    """Compares a store's counts and search results with its documents, which the caller passes to `take` one by one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listed: list[StoredDocument] = []
        self._chunks = 0
        self._is_complete = self._is_named = True
        # Don't keep the exception: its traceback would keep the interrupted generators open.
        self._failed: Issue | None = None
        self._terms: Counter[str] = Counter()
        self._counts: Counter[tuple[Difference, str]] = Counter()
        self._waiting: list[tuple[StoredDocument, Sequence[IndexedChunk]]] = []

    def skip(self) -> None:
        """Note that a document can't be read: counts then differ anyway, and searches may fail."""
        self._is_complete = False

    def take(self, stored: StoredDocument, chunks: Sequence[IndexedChunk]) -> None:
        """Collect a document; once enough are collected, compare their chunks with what searches for them find."""
        self._listed.append(stored)
        self._chunks += len(chunks)
        for indexed in chunks:
            self._terms.update(indexed.terms.keys())
        if all("document_id" in indexed.fields for indexed in chunks):
            self._waiting.append((stored, chunks))
        else:
            # The document was added without `Library`, which gives each chunk the field `document_id`.
            self._is_named = False
        if len(self._waiting) == _DOCUMENTS or sum(len(each) for _, each in self._waiting) >= _TOGETHER:
            self._search()

    def issues(self) -> list[Issue]:
        """Return the faults found, after `take` was called for all documents. Skip what others changed meanwhile."""
        self._search()
        found = [Issue(kind, INDEX, f"{count:,} {what}") for (kind, what), count in self._counts.items()]
        if self._is_complete:
            of_all = [*self._orphans(), *self._wrong_counts()]
            if list(self._store.documents()) == self._listed:
                found += of_all
        return found

    def _search(self) -> None:
        batch, self._waiting = self._waiting, []
        chunks = [indexed for _, each in batch for indexed in each]
        before = self._counts.copy()
        if chunks and self._failed is None:
            try:
                own = dict.fromkeys(normalize(stored.id) for stored, _ in batch)
                self._compare_searches(chunks, OneOf("document_id", tuple(own)))
            except (LibraryError, *UNREADABLE) as error:
                # An unreadable passage may make every search fail.
                self._fail(error)
        if self._counts != before and any(self._has_changed(*each) for each in batch):
            self._counts = before

    def _has_changed(self, stored: StoredDocument, chunks: Sequence[IndexedChunk]) -> bool:
        """Return whether another process has replaced or removed a document, or filled vectors that it waited for."""
        if stored not in self._store.lookup(stored.id, ""):
            return True
        waiting = [each.waits for each in chunks]
        return any(waiting) and waiting != [each.waits for each in self._store.indexed_chunks(stored.id)]

    def _compare_searches(self, chunks: Sequence[IndexedChunk], own: Filter) -> None:
        store, most = self._store, 2 * len(chunks) + 10
        vector = _any_vector(len(chunks[0].vector))
        filtered = found = store.search_vectors(vector, most, AllOf((own, *_fields(chunks))))
        if len(filtered) < len(chunks):
            found = store.search_vectors(vector, most, own)
        self._count(Difference.COUNTS, len(found) - len(filtered), "passages aren't found by a filter on their fields")
        self._compare([float(indexed.vector @ vector) for indexed in chunks], found, Difference.VECTORS, "vectors")
        # Search for the longest term of each chunk, which is likely rare: a common term occurs all over the library.
        terms = _told_apart(chunks, {max(indexed.terms, key=len) for indexed in chunks if indexed.terms})
        scores = [score(indexed.terms, terms) for indexed in chunks]
        found_by_terms = store.search_terms(list(terms), most, own, terms)
        self._compare([each for each in scores if each], found_by_terms, Difference.COUNTS, "terms")

    def _compare(
        self, expected: Sequence[float], found: Sequence[tuple[int, float]], kind: Difference, what: str
    ) -> None:
        ordered = sorted(expected)
        wrong = sum(not _has_near(ordered, each) for _, each in found)
        self._count(kind, wrong, f"passages are found with other {what} than their own")
        missing = len(expected) - len(found)
        self._count(Difference.MISSING, missing, f"passages aren't found by a search for their {what}")
        self._count(Difference.ORPHANED, -missing, f"entries for searches by {what} belong to no passage")

    def _orphans(self) -> Iterator[Issue]:
        fingerprint = self._store.fingerprint
        if fingerprint is not None and self._is_named and self._failed is None and len(self._listed) <= _LISTED:
            ids = tuple(dict.fromkeys(normalize(stored.id) for stored in self._listed))
            unlisted = Not(OneOf("document_id", ids)) if ids else None
            try:
                found = self._store.search_vectors(_any_vector(fingerprint.dimension), 1000, unlisted)
                if found:
                    what = f"{len(found):,} passages found by a search belong to no document"
                    yield Issue(Difference.ORPHANED, INDEX, what)
            except (LibraryError, *UNREADABLE) as error:
                self._fail(error)
        if self._failed is not None and self._failed.detail:
            yield self._failed

    def _wrong_counts(self) -> Iterator[Issue]:
        there, counted = (len(self._listed), self._chunks), self._store.count()
        if there != counted:
            said = [f"{documents:,} documents and {chunks:,} passages" for documents, chunks in (counted, there)]
            yield Issue(Difference.COUNTS, "library", f"it counts {said[0]}, but there are {said[1]}")
        try:
            wrong = list(islice(self._wrong_terms(), _SHOWN))
        except (LibraryError, *UNREADABLE) as error:
            yield Issue(Difference.DAMAGED, INDEX, str(error))
            return
        if wrong:
            shown = ", ".join(repr(term[:50]) for term in wrong)
            yield Issue(Difference.COUNTS, "library", f"the number of passages is wrong for the terms {shown}")

    def _wrong_terms(self) -> Iterator[str]:
        terms = iter(sorted(self._terms))
        while some := list(islice(terms, _TERMS)):
            counted = self._store.document_frequency(some)
            yield from (term for term in some if counted[term] != self._terms[term])

    def _fail(self, error: Exception) -> None:
        # LibraryBusy isn't a fault: another process has the index open and keeps it up to date.
        self._failed = Issue(Difference.DAMAGED, INDEX, "" if isinstance(error, LibraryBusy) else str(error))

    def _count(self, kind: Difference, count: int, what: str) -> None:
        if count > 0:
            self._counts[kind, what] += count


def unreadable(rows: Iterable[Row], read: Callable[[Row], Any]) -> list[Row]:
    """Return the rows that `read` can't read."""
    found = []
    for row in rows:
        try:
            read(row)
        except UNREADABLE:
            found.append(row)
    return found


def _any_vector(dimension: int) -> FloatArray:
    """Return a random unit vector, with which different vectors have different cosines, except by rare chance."""
    vector: FloatArray = np.random.default_rng(0).standard_normal(dimension).astype(np.float32)
    vector /= np.linalg.norm(vector)
    return vector


def _told_apart(chunks: Sequence[IndexedChunk], wanted: Iterable[str]) -> dict[str, float]:
    """Return, with weight 1, the wanted terms whose hash is unique: Qdrant adds up terms with the same hash."""
    shared = Counter(map(term_hash, {term for indexed in chunks for term in indexed.terms}))
    return {term: 1.0 for term in sorted(wanted) if shared[term_hash(term)] == 1}


def _has_near(ordered: Sequence[float], value: float) -> bool:
    place = bisect_left(ordered, value)
    return any(abs(each - value) <= _CLOSE * max(1.0, abs(value)) for each in ordered[max(0, place - 1) : place + 1])


def _fields(chunks: Sequence[IndexedChunk]) -> Iterator[Filter]:
    """Yield filters that all of these chunks pass: by the values of each field, and by their range."""
    for name in sorted({name for indexed in chunks for name in indexed.fields}):
        values = dict.fromkeys(value for indexed in chunks for value in field_values(indexed.fields, name))
        # Passages stored by earlier versions lack the hash of their text; a store's index derives the hash.
        is_derived = name == TEXT_HASH and any(name not in indexed.fields for indexed in chunks)
        if not values or is_derived:
            continue
        having: list[Filter] = [OneOf(name, tuple(values)) if len(values) <= _VALUES else Exists(name)]
        bounds = [comparable(value) for value in values]
        if None not in bounds and len({isinstance(bound, datetime) for bound in bounds}) == 1:
            lowest, highest = (each(bound for bound in bounds if bound is not None) for each in (min, max))
            having.append(Between(name, gte=lowest, lte=highest))
        yield AnyOf((Not(Exists(name)), AllOf(tuple(having))))
