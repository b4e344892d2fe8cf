"""The tables of a library's documents that a question may be about, made when they are first needed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from answerable.computing.source import Source
from answerable.datatypes import DocumentType, RetrievalResult
from answerable.filters import Filter, matches, normalize_fields
from answerable.protocols import Store, StoredDocument
from answerable.tables.find import find_tables
from answerable.tables.table import Origin, Row

CHARACTERS = 4_000_000
"""How much text beyond the passages found is looked through for tables."""
KEPT = 500
"""How many documents' tables are kept for the next question."""

_UNASKED = (Origin.FRONT_MATTER,)
"""Tables of one row that describe their document: nobody counts these."""
_FIRST = (str(DocumentType.RECORDS), str(DocumentType.SPREADSHEET), str(DocumentType.CHAT))


class TablesAtHand:
    """Finds the tables of documents. Thread-safe; tables are kept as long as their document stays the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, str], tuple[Source, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def sources(
        self, results: Sequence[RetrievalResult], documents: Sequence[StoredDocument], where: Filter | None
    ) -> Iterator[Source]:
        """Yield the tables of the documents that pass a filter, those found first, then records and chats, then others.

        Of a chat, only the messages that pass are rows.
        A document is looked through if one of its passages was found, or if it is among the first `CHARACTERS`.
        """
        ranks = {result.document.id: rank for rank, result in reversed(list(enumerate(results)))}
        last = len(results)

        def order(document: StoredDocument) -> tuple[int, bool, int]:
            return ranks.get(document.id, last), document.type not in _FIRST, document.characters

        spent = 0
        for document in sorted(documents, key=order):
            rank = ranks.get(document.id, last)
            spent += document.characters
            if rank < last or spent <= CHARACTERS:
                yield from _passing(self._of(document, rank), document, where)

    def _of(self, stored: StoredDocument, rank: int) -> list[Source]:
        key = stored.id, stored.content_hash
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return [Source(each.document, each.table, rank) for each in self._kept[key]]
        document = self._store.document(stored.id)
        if document is None:
            return []
        found = [Source(document, table, rank) for table in find_tables(document) if table.origin not in _UNASKED]
        with self._lock:
            self._kept[key] = tuple(found)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


def _passing(sources: Iterable[Source], document: StoredDocument, where: Filter | None) -> Iterator[Source]:
    if where is None or passes(document, where):
        yield from sources
    elif document.type == DocumentType.CHAT:
        for source in sources:
            rows = tuple(row for row in source.table.rows if _message_passes(document, row, where))
            if rows:
                yield replace(source, table=replace(source.table, rows=rows))


def _message_passes(document: StoredDocument, row: Row, where: Filter) -> bool:
    sender, time = row.values[:2]
    return matches(where, normalize_fields({**_fields(document), "sender": sender.text, "date": time.time}))


def passes(document: StoredDocument, where: Filter | None) -> bool:
    """Return whether all of a document passes a filter."""
    return where is None or matches(where, normalize_fields(_fields(document)))


def _fields(document: StoredDocument) -> dict[str, Any]:
    own = {"source": document.source, "type": document.type, "language": document.language, "title": document.title}
    return {**document.metadata, **own, "document_id": document.id}
