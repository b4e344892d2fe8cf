"""Answer questions by computing: from tables and chats, about the library, and by summaries."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from answerable.answering.found import Figure, Found
from answerable.computing.answers import Writer
from answerable.computing.asked import find_operation, may_be_about_library, says_more, stands_alone, summaries_wanted
from answerable.computing.chat_planning import plan_for_chat
from answerable.computing.library_questions import LibraryQuestion
from answerable.computing.matching import Asking, Plan
from answerable.computing.planning import plan_for
from answerable.computing.plans import PlannedSource
from answerable.computing.source import Source
from answerable.computing.summaries import SummaryRequest
from answerable.computing.vocabulary import name_of
from answerable.datatypes import Answer, Document, DocumentType, RetrievalResult, Span
from answerable.errors import DocumentNotFound, PlanError
from answerable.filters import Filter, matches, normalize_fields, parse_filter
from answerable.protocols import Store, StoredDocument
from answerable.retrieval.times import fold_in_place, may_name_time
from answerable.retrieval.visible import fields_of, is_of_passages, passes, visible_chunks
from answerable.sharing import Budget, OverBudget, Work
from answerable.tables.find import find_tables
from answerable.tables.grid import says_total
from answerable.tables.table import Column, Origin, Row, Table
from answerable.text.terms import fold

CHARACTERS = 4_000_000
"""Characters of documents, besides those with passages found, in which tables are looked for."""
KEPT = 500
"""Documents, at most, whose tables are kept for the next question."""
KEPT_JOINED = 20
"""Joined tables (made of several tables with the same columns), at most, that are kept for the next question."""

_UNASKED = (Origin.FRONT_MATTER,)
"""Tables with a single row that describes their document, about which nobody asks for figures."""
_FIRST = (str(DocumentType.RECORDS), str(DocumentType.SPREADSHEET), str(DocumentType.CHAT))

LISTED = 5_000
"""Documents of a library; if there are more, only those found are looked through for a question."""
PLANNED = 40
"""Tables, at most, with which a question is compared in detail."""
SHOWN = 5  # tables that are offered if a question may mean several; a guess, not measured
SECONDS = 0.5
"""CPU seconds for a question on tables already read; a question of a few words on 1,000 rows takes about 0.02 s."""


class TablesAtHand:
    """Finds the tables of documents. Thread-safe; a document's tables are kept as long as the document is unchanged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables_of = lru_cache(KEPT)(self._find)
        self._joined: OrderedDict[object, Source] = OrderedDict()
        self._lock = threading.Lock()

    def sources(self, near: Sequence[str], documents: Sequence[StoredDocument], where: Filter | None) -> list[Source]:
        """Return the tables of the documents that pass a filter: first near ones, then records and chats, then others.

        `near` are ids of documents. Tables with the same columns are joined. In a chat, only the messages that pass are
        rows. A document is looked through if it is near, or if it is within the first `CHARACTERS`.
        """
        ranks = {each: rank for rank, each in reversed(list(enumerate(near)))}
        last = len(near)

        def order(document: StoredDocument) -> tuple[int, bool, int]:
            return ranks.get(document.id, last), document.type not in _FIRST, document.characters

        spent, shapes = 0, dict[object, list[Source]]()
        for document in sorted(documents, key=order):
            rank = ranks.get(document.id, last)
            spent += document.characters
            if rank < last or spent <= CHARACTERS:
                for source in _passing(self._store, self._of(document), document, where):
                    shapes.setdefault(_shape(source), []).append(source)
        return [source for sources in shapes.values() for source in self._as_one(sources)]

    def _as_one(self, sources: list[Source]) -> list[Source]:
        """Return tables with the same columns as one table; unchanged if one table may repeat rows of another."""
        if len(sources) == 1 or _may_repeat(sources):
            return sources
        # Join in the order of the documents' sources, whatever was found first.
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

    def _of(self, stored: StoredDocument) -> tuple[Source, ...]:
        try:
            return self._tables_of(stored.id, stored.content_hash)
        except DocumentNotFound:
            return ()

    def _find(self, document_id: str, _: str) -> tuple[Source, ...]:
        """Return the tables of a document; the hash is only the cache's key. Raise DocumentNotFound if it is gone."""
        document = self._store.document(document_id)
        if document is None:
            raise DocumentNotFound(document_id)
        return tuple(Source(document, table) for table in find_tables(document) if table.origin not in _UNASKED)


def _shape(source: Source) -> object:
    """Return a key for tables to be joined: the names and kinds of their columns. Each chat has a key of its own."""
    if source.is_chat:
        return id(source)
    return source.table.origin, frozenset((_name(column), column.kind) for column in source.table.columns)


def _name(column: Column) -> str:
    return fold(column.name.lower().strip())


def _may_repeat(sources: Sequence[Source]) -> bool:
    """Return whether two of these tables may share rows: one is a copy of the other, or a sheet has totals."""
    rows = [tuple(tuple(value.text for value in row.values) for row in each.table.rows) for each in sources]
    long = [each for each in rows if len(each) > 1]
    names = {_name(column) for column in sources[0].table.columns}
    has_names = len(names) == len(sources[0].table.columns)
    return len(set(long)) < len(long) or not has_names or any(says_total([each.table.title]) for each in sources)


def joined(sources: Sequence[Source]) -> Source:
    """Return tables with the same columns as one table, whose columns are in the order of the first table."""
    first = sources[0].table
    rows: list[Row] = []
    uncounted: set[int] = set()
    breaks: set[int] = set()
    for source in sources:
        places = {_name(column): place for place, column in enumerate(source.table.columns)}
        order = [places[_name(column)] for column in first.columns]
        uncounted |= {len(rows) + row for row in source.table.uncounted}
        breaks |= {len(rows) + row for row in source.breaks}
        rows += [replace(row, values=tuple(row.values[place] for place in order)) for row in source.table.rows]
    columns = []
    for column in first.columns:
        same = [each for source in sources for each in source.table.columns if _name(each) == _name(column)]
        unit = column.unit if len({each.unit for each in same}) == 1 else ""
        is_quantity, is_year = all(each.is_quantity for each in same), all(each.is_year for each in same)
        columns.append(replace(column, unit=unit, is_quantity=is_quantity, is_year=is_year))
    is_cut = any(source.table.is_cut for source in sources)
    table = Table(first.origin, "", tuple(columns), tuple(rows), None, is_cut, frozenset(uncounted))
    return Source(sources[0].document, table, tuple(sources), frozenset(breaks))


def _passing(
    store: Store, sources: Sequence[Source], document: StoredDocument, where: Filter | None
) -> Iterator[Source]:
    """Yield the tables with the rows that pass: in a chat, messages; else rows of passages, or of whole documents."""
    if where is None or not is_of_passages(where):
        yield from sources if passes(document, where) else ()
    elif document.type == DocumentType.CHAT:
        for source in sources:
            rows = source.table.rows
            yield from _with_rows(source, [n for n, row in enumerate(rows) if _message_passes(document, row, where)])
    elif sources:
        spans = _merged((chunk.start, chunk.end) for chunk in visible_chunks(store, document.id, where))
        starts = [start for start, _ in spans]
        for source in sources:
            rows = source.table.rows
            last = [bisect_right(starts, row.start) - 1 for row in rows]
            yield from _with_rows(
                source, [n for n, row in enumerate(rows) if last[n] >= 0 and row.end <= spans[last[n]][1]]
            )


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _with_rows(source: Source, kept: Sequence[int]) -> Iterator[Source]:
    """Yield the table with these rows, if there are any."""
    table = source.table
    if len(kept) == len(table.rows):
        yield source
    elif kept:
        uncounted = frozenset(place for place, row in enumerate(kept) if row in table.uncounted)
        breaks = frozenset(place for place, row in enumerate(kept) if place and kept[place - 1] != row - 1)
        rows = tuple(table.rows[row] for row in kept)
        yield replace(source, table=replace(table, rows=rows, total=None, uncounted=uncounted), breaks=breaks)


def _message_passes(document: StoredDocument, row: Row, where: Filter) -> bool:
    sender, time = row.values[:2]
    return matches(where, normalize_fields({**fields_of(document), "sender": sender.text, "date": time.time}))


class Computing:
    """Answers questions by computing figures, without looking for a quote. Thread-safe.

    `now` returns the local time to which "last month" refers.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tables = TablesAtHand(store)
        self._now = now

    def figure(self, found: Found, work: Work) -> Figure:
        """Return what was computed for a question, or why nothing was computed. Raise Stopped."""
        asked = found.asked
        where = parse_filter(asked.where)
        answer = self.answer(asked.question, asked.message, asked.language, found.results, where, work)
        if answer is None:
            is_asked_for = find_operation(fold_in_place(asked.question)) is not None
            return Figure(why_none="no table fits the question" if is_asked_for else "not asked for")
        return Figure(answer, answer.text.partition("\n")[0])

    def answer(
        self,
        question: str,
        message: str,
        language: str,
        results: Sequence[RetrievalResult],
        where: Filter | None,
        work: Work,
    ) -> Answer | None:
        """Return the computed answer to a question; None if there is nothing to compute, or if it takes too long.

        `message` is what the user wrote; `question` was made from it and the conversation. "What is in here?" is
        complete as a message. `results` are the passages found for the question; only documents that pass `where` are
        used. Raise Stopped.
        """
        question = message if stands_alone(fold_in_place(message)) else question
        folded = fold_in_place(question)
        operation, of_library = find_operation(folded), may_be_about_library(folded)
        wants_summary = bool(summaries_wanted(folded))
        if not (operation or of_library or wants_summary):
            return None
        near = [result.document.id for result in results]
        documents = self._documents(near)
        allowed = [each for each in documents if passes(each, where)]
        if of_library and (found := LibraryQuestion(self._store, question, language, allowed).answer()):
            return found
        if wants_summary:
            summary = SummaryRequest(self._store, question, language, results, allowed, self._now())
            if found := summary.answer():
                return found
        if operation is None:
            return None
        sources = self._tables.sources(near, documents, where)
        known: list[frozenset[str]] = []
        for source in sources[:PLANNED]:
            work.check()
            known.append(source.known)
        now = self._now()
        if says_more(folded, operation, known) and not may_name_time(folded, now):
            return None
        try:
            return _computed(Asking(question, folded, language, operation, now), sources, Budget(SECONDS, work))
        except OverBudget:
            return None

    def tables(self, near: Sequence[str], where: Filter | None, only: bool = False) -> list[PlannedSource]:
        """Return tables with the rows that pass a filter: of the documents with these ids, then of others."""
        documents = self._described(near) if only else self._documents(near)
        return [PlannedSource(source) for source in self._tables.sources(near, documents, where)]

    def table(self, document: Document, number: int) -> PlannedSource:
        """Return a document's table by its number, from 1. Raise PlanError."""
        found = self.tables([document.id], None, only=True)
        if not found:
            raise PlanError(f"{name_of(document)} has no table. `answerable show` prints what was read of it.")
        if not 1 <= number <= len(found):
            raise PlanError(f"{name_of(document)} has tables 1 to {len(found)}, but no table {number}.")
        return found[number - 1]

    def _documents(self, near: Sequence[str]) -> list[StoredDocument]:
        """Return the documents to look at: all; in a large library, only those near the question, by their ids."""
        return list(self._store.documents()) if self._store.count()[0] <= LISTED else self._described(near)

    def _described(self, ids: Sequence[str]) -> list[StoredDocument]:
        return [document for each in dict.fromkeys(ids) for document in self._store.lookup(each, "")]


def _computed(asking: Asking, sources: Sequence[Source], budget: Budget) -> Answer | None:
    """Return the answer from the table that accounts for most of the question. Raise OverBudget."""
    plans = _plans(asking, sources, budget)
    if not plans:
        return None
    writer, best = Writer(asking.language), plans[0]
    alike = [plan.source for plan in plans if plan.strength == best.strength]
    if len(alike) > 1:
        return writer.unclear(asking.question, alike[:SHOWN])
    if best.is_uncertain:
        return None
    found = writer.answer(asking.question, best, asking.operation.each or asking.operation.noun)
    return found or (writer.nothing(asking.question, best) if best.lacks_rows_of_its_time else None)


def _plans(asking: Asking, sources: Sequence[Source], budget: Budget) -> list[Plan]:
    """Return possible plans, best first; if any are on documents in the question's language, only these."""
    found = []
    for source in sources[:PLANNED]:
        budget.check()
        plan = plan_for_chat(asking, source) if source.is_chat else plan_for(asking, source, budget)
        if plan is not None:
            found.append(plan)
    own = [plan for plan in found if plan.source.document.language in ("", asking.language)]
    return sorted(own or found, key=lambda plan: -plan.strength)
