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
from answerable.tables.grid import says_total
from answerable.tables.table import Column, Origin, Row, Table
from answerable.text.terms import fold

CHARACTERS = 4_000_000
"""How much text beyond the passages found is looked through for tables."""
KEPT = 500
"""How many documents' tables are kept for the next question."""
KEPT_JOINED = 20
"""How many times several tables of the same columns are kept as one."""

_UNASKED = (Origin.FRONT_MATTER,)
"""Tables of one row that describe their document: nobody counts these."""
_FIRST = (str(DocumentType.RECORDS), str(DocumentType.SPREADSHEET), str(DocumentType.CHAT))


class TablesAtHand:
    """Finds the tables of documents. Thread-safe; tables are kept as long as their document stays the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, str], tuple[Source, ...]] = OrderedDict()
        self._joined: OrderedDict[object, Source] = OrderedDict()
        self._lock = threading.Lock()

    def sources(
        self, results: Sequence[RetrievalResult], documents: Sequence[StoredDocument], where: Filter | None
    ) -> list[Source]:
        """Yield the tables of the documents that pass a filter, those found first, then records and chats, then others.

        Tables of the same columns are one. Of a chat, only the messages that pass are rows.
        A document is looked through if one of its passages was found, or if it is among the first `CHARACTERS`.
        """
        ranks = {result.document.id: rank for rank, result in reversed(list(enumerate(results)))}
        last = len(results)

        def order(document: StoredDocument) -> tuple[int, bool, int]:
            return ranks.get(document.id, last), document.type not in _FIRST, document.characters

        spent, shapes = 0, dict[object, list[Source]]()
        for document in sorted(documents, key=order):
            rank = ranks.get(document.id, last)
            spent += document.characters
            if rank < last or spent <= CHARACTERS:
                for source in _passing(self._of(document), document, where):
                    shapes.setdefault(_shape(source), []).append(source)
        return [source for sources in shapes.values() for source in self._as_one(sources)]

    def _as_one(self, sources: list[Source]) -> list[Source]:
        """Return tables of the same columns as one; as they are if one may repeat rows of others."""
        if len(sources) == 1 or _may_repeat(sources):
            return sources
        # In the order of their names, whichever was found first.
        sources = sorted(sources, key=lambda each: each.document.source)
        key = tuple((id(each.document), id(each.table)) for each in sources)
        with self._lock:
            known = self._joined.get(key)
        if known is None:
            known = joined(sources)
            with self._lock:
                self._joined[key] = known
                while len(self._joined) > KEPT_JOINED:
                    self._joined.popitem(last=False)
        return [known]

    def _of(self, stored: StoredDocument) -> list[Source]:
        key = stored.id, stored.content_hash
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return list(self._kept[key])
        document = self._store.document(stored.id)
        if document is None:
            return []
        found = [Source(document, table) for table in find_tables(document) if table.origin not in _UNASKED]
        with self._lock:
            self._kept[key] = tuple(found)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


def _shape(source: Source) -> object:
    """Return what tables have in common that are one: their columns, of the same kinds; each chat is one of its own."""
    if source.is_chat:
        return id(source)
    return source.table.origin, frozenset((_name(column), column.kind) for column in source.table.columns)


def _name(column: Column) -> str:
    return fold(column.name.lower().strip())


def _may_repeat(sources: Sequence[Source]) -> bool:
    """Return whether rows may stand in two of these tables: copies, or a sheet of totals."""
    rows = [tuple(tuple(value.text for value in row.values) for row in each.table.rows) for each in sources]
    long = [each for each in rows if len(each) > 1]
    names = {_name(column) for column in sources[0].table.columns}
    has_names = len(names) == len(sources[0].table.columns)
    return len(set(long)) < len(long) or not has_names or any(says_total([each.table.title]) for each in sources)


def joined(sources: Sequence[Source]) -> Source:
    """Return tables of the same columns as one, its columns in the order of the first's."""
    first = sources[0].table
    rows: list[Row] = []
    uncounted: set[int] = set()
    for source in sources:
        places = {_name(column): place for place, column in enumerate(source.table.columns)}
        order = [places[_name(column)] for column in first.columns]
        uncounted |= {len(rows) + row for row in source.table.uncounted}
        rows += [replace(row, values=tuple(row.values[place] for place in order)) for row in source.table.rows]
    columns = []
    for column in first.columns:
        same = [each for source in sources for each in source.table.columns if _name(each) == _name(column)]
        unit = column.unit if len({each.unit for each in same}) == 1 else ""
        is_quantity, is_year = all(each.is_quantity for each in same), all(each.is_year for each in same)
        columns.append(replace(column, unit=unit, is_quantity=is_quantity, is_year=is_year))
    is_cut = any(source.table.is_cut for source in sources)
    table = Table(first.origin, "", tuple(columns), tuple(rows), None, is_cut, frozenset(uncounted))
    return Source(sources[0].document, table, tuple(sources))


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
