"""Counts of a library's contents, and values to filter its documents by: types, languages, people and days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from answerable.filters import comparable
from answerable.protocols import DocumentStore, Fingerprint, StoredDocument


@dataclass(frozen=True, slots=True)
class LibraryStats:
    """The numbers of chunks, of characters, and of documents by language and type; the embedder of the vectors."""

    documents: int
    chunks: int
    characters: int
    languages: Mapping[str, int]
    types: Mapping[str, int]
    fingerprint: Fingerprint | None


def library_stats(store: DocumentStore, fingerprint: Fingerprint | None) -> LibraryStats:
    """Count a store's documents, chunks and characters."""
    documents = list(store.documents())
    return LibraryStats(
        documents=len(documents),
        chunks=sum(document.chunks for document in documents),
        characters=sum(document.characters for document in documents),
        languages=Counter(document.language for document in documents),
        types=Counter(document.type for document in documents),
        fingerprint=fingerprint,
    )


_DAYS = ("first_day", "last_day", "date")


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """The numbers of documents by type, by language and by the people who wrote in them, most frequent first.

    `first_day` and `last_day` are those of all messages and dated documents; "" if nothing has a date.
    """

    types: Mapping[str, int]
    languages: Mapping[str, int]
    people: Mapping[str, int]
    first_day: str = ""
    last_day: str = ""


def filter_choices(store: DocumentStore) -> FilterChoices:
    """Count a store's documents by the values that filters use."""
    documents = list(store.documents())
    days = sorted(day for document in documents for day in _days(document))
    return FilterChoices(
        types=_counted(document.type for document in documents),
        languages=_counted(document.language for document in documents if document.language),
        people=_counted(name for document in documents for name in document.metadata.get("participants", ())),
        first_day=days[0] if days else "",
        last_day=days[-1] if days else "",
    )


def _counted(values: Iterator[str]) -> dict[str, int]:
    # Equal counts in alphabetical order, so that the order is the same each time.
    return dict(sorted(Counter(values).items(), key=lambda found: (-found[1], found[0])))


def _days(document: StoredDocument) -> Iterator[str]:
    for name in _DAYS:
        moment = comparable(document.metadata.get(name) or "")
        if isinstance(moment, datetime):
            yield moment.date().isoformat()
