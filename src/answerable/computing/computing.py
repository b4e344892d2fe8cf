"""Answer questions by computing: from tables and chats, about the library, and by summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath

from answerable.answering.found import Figure, Found
from answerable.computing.answers import Writer
from answerable.computing.asked import may_be_about_library, stands_alone, summaries_wanted
from answerable.computing.library_questions import LibraryQuestion
from answerable.computing.parse import Parsed, parse
from answerable.computing.plan import words_of
from answerable.computing.plans import PlannedSource
from answerable.computing.source import Source
from answerable.computing.summaries import SummaryRequest
from answerable.computing.table_text import table_text
from answerable.computing.vocabulary import keys_of, name_of
from answerable.datatypes import Answer, Document, DocumentType
from answerable.errors import DocumentNotFound, PlanError
from answerable.filters import Filter, matches, normalize_fields, parse_filter
from answerable.protocols import Store, StoredDocument, TableReader
from answerable.retrieval.times import fold_in_place
from answerable.retrieval.visible import fields_of, is_of_passages, passes, visible_chunks
from answerable.sharing import Work
from answerable.tables.find import find_tables
from answerable.tables.grid import says_total
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value
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
READ = 5
"""Tables, at most, that are read beside a question: 24 ms of CPU each (300 rows, 7 columns)."""
SURE = 0.95
"""Confidence from which a plan is computed: of `training/written/tables/d.jsonl` .241 right and .007 wrong, and .334,
.026 from .9 on."""
LIKELY = 0.5
"""A plan of this confidence, on a table found earlier, keeps a sure plan on a later one from being computed: "total
fees" was sure on a table of expenses, likely on the members found before it. Likelier than not; not tuned."""
SHOWN = 5  # tables that are named if a question may mean several; a guess, not measured


class TablesAtHand:
    """Finds the tables of documents. Thread-safe; a document's tables are kept as long as the document is unchanged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tables_of = lru_cache(KEPT)(self._find)
        self._joined = lru_cache(KEPT_JOINED)(joined)

    def sources(
        self,
        near: Sequence[str],
        documents: Sequence[StoredDocument],
        where: Filter | None,
        is_meant: Callable[[Source], bool] = lambda _: True,
    ) -> list[Source]:
        """Return the tables of the documents that pass a filter: first near ones, then records and chats, then others.

        `near` are ids of documents. Tables with the same columns are joined; of these, one must be meant. In a chat,
        only the messages that pass are rows. A document is looked through if it is near, or if it is within the first
        `CHARACTERS`.
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
        meant = (sources for sources in shapes.values() if any(map(is_meant, sources)))
        return [source for sources in meant for source in self._as_one(sources)]

    def has_tables(self, documents: Sequence[StoredDocument]) -> bool:
        """Return whether one of these documents has a table."""
        return any(map(self._of, documents))

    def _as_one(self, sources: Sequence[Source]) -> Sequence[Source]:
        """Return tables with the same columns as one table; unchanged if one table may repeat rows of another."""
        if len(sources) == 1:
            return sources
        # In the order of the documents' sources, whatever was found first.
        whole = self._joined(tuple(sorted(sources, key=lambda each: each.document.source)))
        return [whole] if whole else sources

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


def joined(sources: tuple[Source, ...]) -> Source | None:
    """Return tables with the same columns as one table; None if one table may repeat rows of another.

    The columns are in the order of the first table; a last column names the table of each row.
    """
    if _may_repeat(sources):
        return None
    first = sources[0].table
    rows: list[Row] = []
    uncounted: set[int] = set()
    breaks: set[int] = set()
    for source in sources:
        places = {_name(column): place for place, column in enumerate(source.table.columns)}
        order = [places[_name(column)] for column in first.columns]
        uncounted |= {len(rows) + row for row in source.table.uncounted}
        breaks |= {len(rows) + row for row in source.breaks}
        named = Value(_part(source))
        for row in source.table.rows:
            rows.append(replace(row, values=(*(row.values[place] for place in order), named)))
    columns = []
    for column in first.columns:
        same = [each for source in sources for each in source.table.columns if _name(each) == _name(column)]
        unit = column.unit if len({each.unit for each in same}) == 1 else ""
        is_quantity, is_year = all(each.is_quantity for each in same), all(each.is_year for each in same)
        columns.append(replace(column, unit=unit, is_quantity=is_quantity, is_year=is_year))
    columns.append(Column("table", Kind.TEXT))
    is_cut = any(source.table.is_cut for source in sources)
    table = Table(first.origin, "", tuple(columns), tuple(rows), None, is_cut, frozenset(uncounted))
    return Source(sources[0].document, table, sources, frozenset(breaks))


def _part(source: Source) -> str:
    """Return the name of a table among those it is joined with: the sheet's, or the file's."""
    return source.table.title or PurePosixPath(source.name).stem


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
        visible = bytearray(len(sources[0].document.content))
        for chunk in visible_chunks(store, document.id, where):
            visible[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        for source in sources:
            rows = source.table.rows
            yield from _with_rows(source, [n for n, row in enumerate(rows) if all(visible[row.start : row.end])])


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

    def figure(self, found: Found, reader: TableReader | None, work: Work) -> Figure:
        """Return what was computed for a question, or why nothing was computed. Raise Stopped.

        "What is in here?" is complete as a message; other questions are taken with the conversation before them.
        """
        asked, where = found.asked, parse_filter(found.asked.where)
        question = asked.message if stands_alone(fold_in_place(asked.message)) else asked.question
        folded = fold_in_place(question)
        of_library, wants_summary = may_be_about_library(folded), bool(summaries_wanted(folded))
        near = list(dict.fromkeys(result.document.id for result in found.results))
        answer: Answer | None = None
        if of_library or wants_summary:
            allowed = [each for each in self._documents(near) if passes(each, where)]
            if of_library:
                answer = LibraryQuestion(self._store, question, asked.language, allowed).answer()
            if answer is None and wants_summary:
                request = SummaryRequest(self._store, question, asked.language, found.results, allowed, self._now())
                answer = request.answer()
        if answer is not None:
            return Figure(answer, answer.text.partition("\n")[0])
        if reader is None:
            return Figure(why_none="no model reads tables")
        return self._of_tables(question, asked.language, reader, self._near(found, near, where), work)

    def _near(self, found: Found, near: Sequence[str], where: Filter | None) -> list[Source]:
        """Return the tables of the documents found, and others with the name that the search took as a filter.

        At most `READ`; "how much did Clara spend?" finds Clara's messages only, but may mean a table that names her.
        Records and chats that weren't found, at most half of `KEPT`, may have rows of the same table.
        """
        topic = found.topic if found.topic is not None else found.asked.question
        names = set(keys_of(found.asked.question)).difference(keys_of(topic))
        documents = self._described(near)
        if not names and not self._tables.has_tables(documents):
            return []
        others = (each for each in self._documents(near) if each.type in _FIRST and each.id not in near)
        documents += islice(others, KEPT // 2)

        def is_meant(source: Source) -> bool:
            return source.document.id in near or bool(names and source.has_keys(names))

        return self._tables.sources(near, documents, where, is_meant)[:READ]

    def _of_tables(
        self, question: str, language: str, reader: TableReader, sources: Sequence[Source], work: Work
    ) -> Figure:
        """Return the answer of the surest plan on one of the tables, or why none is sure enough. Raise Stopped."""
        sources = [each for each in sources if not each.has_second_header]
        if not sources:
            return Figure(why_none="no table is near")
        work.check()
        texts = [table_text(question, source) for source in sources]
        readings = reader.read(question, [each.text for each in texts])
        likely: list[Parsed] = []
        for source, text, reading in zip(sources, texts, readings, strict=True):
            work.check()
            found = parse(question, language, source, text, reading, self._now(), most=1)
            likely += [each for each in found if each.confidence >= LIKELY]
        sure = [each for each in likely if each.confidence >= SURE and not each.plan.misses_words_of(question)]
        if not likely:
            return Figure(why_none="no plan is likely")
        if likely[0] not in sure:
            first = f"{words_of(likely[0].plan)} ({len(likely[0].plan.rows)} rows)"
            if likely[0].confidence >= SURE:
                return Figure(why_none=f"{first}, but a column like it says as much of the question or more")
            return Figure(why_none=f"{first}, sure by {likely[0].confidence:.2f} of {SURE} needed")
        writer = Writer(language)
        if len(sure) > 1:
            unclear = writer.unclear(question, [each.plan.source for each in sure[:SHOWN]])
            return Figure(unclear, "several tables fit")
        plan = sure[0].plan
        answer = None if plan.source.uncertain.intersection(plan.rows) else writer.answer(question, plan)
        if answer is None:
            return Figure(why_none="the rows don't say it")
        return Figure(answer, f"{words_of(plan)} ({len(plan.rows)} rows), sure by {sure[0].confidence:.2f}")

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
