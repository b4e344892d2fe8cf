"""What the documents of a library can be filtered by: types, languages, people and days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from answerable.filters import comparable
from answerable.protocols import DocumentStore, StoredDocument

_DAYS = ("first_day", "last_day", "date")


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """The numbers of documents by type, by language and by the people who write in them, the most frequent first.

    `first_day` and `last_day` are those of all messages and dated documents; "" if nothing has a date.
    """

    types: Mapping[str, int]
    languages: Mapping[str, int]
    people: Mapping[str, int]
    first_day: str = ""
    last_day: str = ""


def filter_choices(store: DocumentStore) -> FilterChoices:
    """Count a store's documents by what a filter may ask for."""
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
    # In order of the alphabet where counts are equal, so that the order is the same each time.
    return dict(sorted(Counter(values).items(), key=lambda found: (-found[1], found[0])))


def _days(document: StoredDocument) -> Iterator[str]:
    for name in _DAYS:
        moment = comparable(document.metadata.get(name) or "")
        if isinstance(moment, datetime):
            yield moment.date().isoformat()
