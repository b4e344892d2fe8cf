"""Answer questions by computing: from tables and chats, about the library, and by summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from answerable.computing.answers import Writer
from answerable.computing.asking import Asking
from answerable.computing.chat_planning import plan_for_chat
from answerable.computing.closeness import Closeness
from answerable.computing.operations import Asked, find_operation
from answerable.computing.plan import Plan
from answerable.computing.planning import plan_for
from answerable.computing.tables_at_hand import TablesAtHand
from answerable.datatypes import Answer, RetrievalResult
from answerable.filters import Filter, matches, normalize_fields
from answerable.protocols import Embedder, Store, StoredDocument
from answerable.retrieval.narrowing import fold

LISTED = 5_000
"""A library with more documents is not looked through for each question."""
PLANNED = 40
"""With how many tables a question is compared closely."""
ASKED_ABOUT = 0.5
"""The least share of a question that a table explains if the user is asked what to compute."""

_FIGURES = (Asked.COUNT, Asked.TOTAL, Asked.AVERAGE)


class Computing:
    """Answers that need no quote to be found but a figure to be computed. Thread-safe.

    `now` gives the local time that "last month" refers to.
    """

    def __init__(self, store: Store, embedder: Embedder, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tables = TablesAtHand(store)
        self._closeness = Closeness(embedder)
        self._now = now

    def answer(
        self, question: str, language: str, results: Sequence[RetrievalResult], where: Filter | None
    ) -> Answer | None:
        """Return the computed answer to a question; None if nothing is to be computed.

        `results` are the passages found for the question; only documents that pass `where` are used.
        """
        folded = fold(question)
        operation = find_operation(folded)
        if operation is None:
            return None
        documents = self._documents(results, where)
        asking = Asking(folded, language, operation, self._now())
        plans = self._plans(asking, results, documents)
        if not plans:
            return None
        writer = Writer(language)
        for plan in plans:
            if plan.explained == 1.0:
                noun = operation.each or operation.noun
                if answer := writer.answer(question, plan, noun):
                    return answer
        best = plans[0]
        if operation.asked in _FIGURES and best.explained >= ASKED_ABOUT and best.strength >= 2:
            return writer.unclear(question, best.source)
        return None

    def _documents(self, results: Sequence[RetrievalResult], where: Filter | None) -> list[StoredDocument]:
        """Return the documents that may be used: of a large library, only those found."""
        if self._store.count()[0] <= LISTED:
            listed: Iterable[StoredDocument] = self._store.documents()
        else:
            ids = dict.fromkeys(result.document.id for result in results)
            listed = (document for each in ids for document in self._store.lookup(each, ""))
        return [each for each in listed if _passes(each, where)]

    def _plans(
        self, asking: Asking, results: Sequence[RetrievalResult], documents: Sequence[StoredDocument]
    ) -> list[Plan]:
        """Return what could be computed, best first."""
        found = []
        for number, source in enumerate(self._tables.sources(results, documents)):
            if number == PLANNED:
                break
            plan = plan_for_chat(asking, source) if source.is_chat else plan_for(asking, source, self._closeness)
            if plan is not None:
                found.append(plan)
        return sorted(found, key=lambda plan: (-plan.explained, -plan.strength, plan.source.rank))


def _passes(document: StoredDocument, where: Filter | None) -> bool:
    """Return whether all of a document passes a filter; a filter of senders or dates is for messages, not documents."""
    fields = {"type": document.type, "source": document.source, "title": document.title, "language": document.language}
    return matches(where, normalize_fields({**document.metadata, **fields}))
