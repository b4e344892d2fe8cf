"""Answer questions by computing: from tables and chats, about the library, and by summaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from answerable.computing.answers import Writer
from answerable.computing.asking import Asking
from answerable.computing.chat_planning import plan_for_chat
from answerable.computing.library_questions import LibraryQuestion, is_about_library, may_be_about_library
from answerable.computing.operations import find_operation
from answerable.computing.plan import Plan
from answerable.computing.planning import plan_for
from answerable.computing.source import Source
from answerable.computing.summaries import SummaryRequest, may_ask_for_summary
from answerable.computing.tables_at_hand import TablesAtHand, passes
from answerable.datatypes import Answer, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import Store, StoredDocument
from answerable.retrieval.narrowing import fold
from answerable.stopping import Budget, OverBudget, Work

LISTED = 5_000
"""A library with more documents is not looked through for each question."""
PLANNED = 40
"""With how many tables a question is compared closely."""
SHOWN = 5
SECONDS = 0.5
"""The CPU time for a question on tables that are indexed; one of a few words on 1,000 rows takes some .02."""


class Computing:
    """Answers that need no quote to be found but a figure to be computed. Thread-safe.

    `now` gives the local time that "last month" refers to.
    """

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._tables = TablesAtHand(store)
        self._now = now

    def answer(
        self,
        question: str,
        message: str,
        language: str,
        results: Sequence[RetrievalResult],
        where: Filter | None,
        work: Work,
    ) -> Answer | None:
        """Return the computed answer to a question; None if nothing is to be computed, or it takes too long.

        `message` is what the user wrote, of which the question was made: "what is in here?" is complete without what
        was said before. `results` are the passages found for the question; only documents that pass `where` are used.
        Raise Stopped.
        """
        question = message if stands_alone(fold(message)) else question
        folded = fold(question)
        operation = find_operation(folded)
        if operation is None and not (may_be_about_library(folded) or may_ask_for_summary(folded)):
            return None
        documents = self._documents(results)
        allowed = [each for each in documents if passes(each, where)]
        if found := LibraryQuestion(self._store, question, language, allowed).answer():
            return found
        if found := SummaryRequest(self._store, question, language, results, allowed, self._now()).answer():
            return found
        if operation is None:
            return None
        sources = self._tables.sources(results, documents, where)
        try:
            for source in sources[:PLANNED]:
                work.check()
                source.index()
            return _computed(Asking(question, folded, language, operation, self._now()), sources, Budget(SECONDS, work))
        except OverBudget:
            return None

    def _documents(self, results: Sequence[RetrievalResult]) -> list[StoredDocument]:
        """Return the documents to look at: of a large library, only those found."""
        if self._store.count()[0] <= LISTED:
            return list(self._store.documents())
        ids = dict.fromkeys(result.document.id for result in results)
        return [document for each in ids for document in self._store.lookup(each, "")]


def _computed(asking: Asking, sources: Sequence[Source], budget: Budget) -> Answer | None:
    """Return the answer from the table that explains most of the question. Raise OverBudget."""
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
    """Return what could be computed, best first, in the language of the question if there is any."""
    found = []
    for source in sources[:PLANNED]:
        budget.check()
        plan = plan_for_chat(asking, source) if source.is_chat else plan_for(asking, source, budget)
        if plan is not None:
            found.append(plan)
    own = [plan for plan in found if plan.source.document.language in ("", asking.language)]
    return sorted(own or found, key=lambda plan: -plan.strength)


def stands_alone(folded: str) -> bool:
    """Return whether a message, in lower case without accents, is about the library or asks for a summary by itself."""
    return is_about_library(folded) or may_ask_for_summary(folded)


def is_of_rows(answer: Answer, computed: Answer | None) -> bool:
    """Return whether an answer was computed from rows of tables; a filter for messages has no part in these."""
    is_computed = computed is not None and bool(answer.citations) and answer.citations == computed.citations
    return is_computed and not any(citation.location.senders for citation in answer.citations)
