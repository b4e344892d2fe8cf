"""Answer questions by computing: from tables and chats, about the library, and by summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice

from answerable.computing.answers import Writer
from answerable.computing.asking import Asking
from answerable.computing.chat_planning import plan_for_chat
from answerable.computing.closeness import Closeness
from answerable.computing.library_questions import LibraryQuestion, is_about_library, may_be_about_library
from answerable.computing.operations import Asked, find_operation
from answerable.computing.plan import Plan
from answerable.computing.planning import plan_for
from answerable.computing.source import Source
from answerable.computing.summaries import SummaryRequest, may_ask_for_summary
from answerable.computing.tables_at_hand import TablesAtHand, passes
from answerable.datatypes import Answer, RetrievalResult
from answerable.filters import Filter
from answerable.protocols import Embedder, Store, StoredDocument
from answerable.retrieval.narrowing import fold

LISTED = 5_000
"""A library with more documents is not looked through for each question."""
PLANNED = 40
"""With how many tables a question is compared closely."""
ASKED_ABOUT = 0.5
"""The least share of a question that a table explains if the user is asked what to compute."""
NAMED = 2
"""How many of its words such a question has from the table."""
SHOWN = 5
CLEARLY = 0.15
"""By how much more of the question the best table explains than the next, if that alone decides."""
NEAREST = 3
"""Among how many documents found first a table is, if a word that it hasn't may mean its rows."""

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
        self, question: str, message: str, language: str, results: Sequence[RetrievalResult], where: Filter | None
    ) -> Answer | None:
        """Return the computed answer to a question; None if nothing is to be computed.

        `message` is what the user wrote, of which the question was made: "what is in here?" is complete without what
        was said before. `results` are the passages found for the question; only documents that pass `where` are used.
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
        asking = Asking(question, folded, language, operation, self._now())
        plans = self._plans(asking, self._tables.sources(results, documents, where))
        if not plans:
            return None
        writer = Writer(language)
        if rivals := _rivals(plans):
            return writer.unclear(question, rivals)
        for plan in plans:
            if plan.explained == 1.0 and (answer := writer.answer(question, plan, operation.each or operation.noun)):
                return answer
        best = plans[0]
        if best.explained == 1.0 and best.lacks_rows_of_its_time:
            return writer.nothing(question, best)
        is_clear = len(plans) == 1 or best.explained - plans[1].explained >= CLEARLY
        is_near = is_clear or best.source.rank < NEAREST
        if best.assumed and is_near and (answer := writer.assumed(question, best)):
            return answer
        is_likely = ASKED_ABOUT <= best.explained < 1.0 and best.strength >= NAMED and best.is_of_cells
        if operation.asked in _FIGURES and is_likely:
            return writer.unclear(question, [best.source])
        return None

    def _documents(self, results: Sequence[RetrievalResult]) -> list[StoredDocument]:
        """Return the documents to look at: of a large library, only those found."""
        if self._store.count()[0] <= LISTED:
            return list(self._store.documents())
        ids = dict.fromkeys(result.document.id for result in results)
        return [document for each in ids for document in self._store.lookup(each, "")]

    def _plans(self, asking: Asking, sources: Iterable[Source]) -> list[Plan]:
        """Return what could be computed, best first."""
        found = []
        for source in islice(sources, PLANNED):
            plan = plan_for_chat(asking, source) if source.is_chat else plan_for(asking, source, self._closeness)
            if plan is not None:
                found.append(plan)

        def order(plan: Plan) -> tuple[float, bool, float, int]:
            is_foreign = plan.source.document.language not in ("", asking.language)
            return -plan.explained, is_foreign, -plan.strength, plan.source.rank

        return sorted(found, key=order)


def _rivals(plans: Sequence[Plan]) -> list[Source]:
    """Return the tables that a question could mean alike, if it names nothing of them; otherwise nothing."""
    best = plans[0]
    alike = [plan.source for plan in plans if (plan.explained, plan.strength) == (best.explained, best.strength)]
    return alike[:SHOWN] if best.explained == 1.0 and best.strength < 1 and len(alike) > 1 else []


def stands_alone(folded: str) -> bool:
    """Return whether a message, in lower case without accents, is about the library or asks for a summary by itself."""
    return is_about_library(folded) or may_ask_for_summary(folded)


def is_of_rows(answer: Answer, computed: Answer | None) -> bool:
    """Return whether an answer was computed from rows of tables; a filter for messages has no part in these."""
    is_computed = computed is not None and bool(answer.citations) and answer.citations == computed.citations
    return is_computed and not any(citation.location.senders for citation in answer.citations)
