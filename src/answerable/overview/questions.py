"""Suggest questions that a library really answers: drafts are asked, and kept if they are answered from their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from answerable.datatypes import Document
from answerable.library import Library
from answerable.overview.drafts import Basis, Draft, drafts
from answerable.protocols import StoredDocument

QUESTIONS = 6
DOCUMENTS = 24
"""Of a larger library, so many documents are asked about."""
PER_BASIS = 8
"""Drafts of each basis that a document may contribute."""
TRIES = 3
"""How often a document is asked about before it is the next one's turn."""
ASKED = 40
"""How many drafts are asked at most."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that the library answers from a document."""

    question: str
    document_id: str
    source: str
    title: str
    language: str


def suggested_questions(
    library: Library, documents: Sequence[StoredDocument], count: int = QUESTIONS, stops: Callable[[], bool] = bool
) -> list[Suggestion]:
    """Return at most `count` questions about these documents, varied; fewer once `stops` is true."""
    languages = Counter(each.language for each in documents if each.language).most_common(1)
    language = languages[0][0] if languages else ""
    pending = [(stored, _drafts(library.document(stored.id), language)) for stored in documents[:DOCUMENTS]]
    found: dict[str, Suggestion] = {}
    bases: Counter[Basis] = Counter()
    asked = 0
    while len(found) < count and asked < ASKED and any(left for _, left in pending):
        for stored, left in pending:
            for _ in range(min(TRIES, len(left))):
                if len(found) == count or asked == ASKED or stops():
                    return list(found.values())
                draft = min(left, key=lambda each: bases[each.basis] + (each.basis is Basis.FACT))
                left.remove(draft)
                if draft.question in found:
                    continue
                asked += 1
                if is_answered(library, draft):
                    bases[draft.basis] += 1
                    found[draft.question] = Suggestion(
                        draft.question, stored.id, stored.source, stored.title, stored.language or language
                    )
                    break
    return list(found.values())


def is_answered(library: Library, draft: Draft) -> bool:
    """Return whether the library answers a question with a quote from where the draft expects it."""
    answer = library.quote(draft.question)
    if not answer.answered or not answer.citations:
        return False
    first = answer.citations[0]
    touches = any(first.start < end and start < first.end for start, end in draft.spans)
    return first.document_id == draft.document_id and touches


def varied(documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Return the documents one of each type in turn, of each type the longest first."""
    by_type: dict[str, list[StoredDocument]] = {}
    for document in sorted(documents, key=lambda each: -each.characters):
        by_type.setdefault(document.type, []).append(document)

    def in_turn() -> Iterator[StoredDocument]:
        for rank in range(max(map(len, by_type.values()), default=0)):
            yield from (listed[rank] for listed in by_type.values() if rank < len(listed))

    return list(in_turn())


def _drafts(document: Document, language: str) -> list[Draft]:
    kept: Counter[Basis] = Counter()
    found = []
    for draft in drafts(document, language):
        kept[draft.basis] += 1
        if kept[draft.basis] <= PER_BASIS:
            found.append(draft)
    return found
