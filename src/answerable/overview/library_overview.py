"""An overview of a library before the first question: a sentence of a few documents, and questions to begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from answerable.datatypes import Citation
from answerable.library import Library
from answerable.overview.questions import Suggestion, suggested_questions, varied
from answerable.protocols import StoredDocument

EXTRACTS = 4
LOOKED_AT = 12
"""In how many documents extracts are sought."""


@dataclass(frozen=True, slots=True)
class LibraryOverview:
    """The most central sentence of a few documents, and questions that the library answers."""

    extracts: tuple[Citation, ...]
    questions: tuple[Suggestion, ...]


def library_overview(
    library: Library, documents: Sequence[StoredDocument], stops: Callable[[], bool] = bool
) -> LibraryOverview:
    """Look through a library's documents and ask questions about them; end early, with less, once `stops` is true.

    No chat model is called.
    """
    in_turn = varied(documents)
    extracts = tuple(islice(_extracts(library, in_turn[:LOOKED_AT], stops), EXTRACTS))
    return LibraryOverview(extracts, tuple(suggested_questions(library, in_turn, stops=stops)))


def state_of(documents: Sequence[StoredDocument]) -> str:
    """Return a text that changes whenever the library's documents do."""
    return sha256(repr([(each.id, each.content_hash) for each in documents]).encode()).hexdigest()


def _extracts(library: Library, documents: Sequence[StoredDocument], stops: Callable[[], bool]) -> Iterator[Citation]:
    for document in documents:
        if stops():
            return
        yield from library.summary(document.id, 1)
