"""Answer a question as a series of events, the last of which is the answer. Streams and JSON responses both use them.

For a question about selected text, the selection's section is searched first, then its document, then the library.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from answerable.datatypes import Answer, AnswerEvent, Chunk, Exchange, RetrievalResult
from answerable.interfaces.http.bodies import AskBody
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.session_store import Owner, Sessions
from answerable.interfaces.http.sse import Event
from answerable.interfaces.plain import answer_json, citation_json, nearest_json, result_json
from answerable.interfaces.written import asked_of
from answerable.library import Library
from answerable.sharing import Work
from answerable.text.characters import find_words

# Passages in which to look for a selected text; a round number, not measured.
_CANDIDATES = 10
# Characters of a selection to search for: about the length of a passage.
_LONGEST_SEARCHED = 1_000
# Characters; shorter lines may occur anywhere. A round number.
_SHORTEST_LINE = 20

Where = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """A span of a document's content."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the library to search: `kind` is section, document or library. `span` is the selected text."""

    kind: str
    where: Where | None
    span: Selection | None = None
    section: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the scope for an answer's JSON."""
        place = asdict(self.span) if self.span else dict.fromkeys(("document_id", "start", "end"))
        return {"kind": self.kind, "section": list(self.section), **place}


class Answering:
    """Answers questions on one library, for one caller."""

    def __init__(self, library: Library, owner: Owner, sessions: Sessions, metrics: Metrics) -> None:
        self._library = library
        self._owner = owner
        self._sessions = sessions
        self._metrics = metrics

    def events(self, ask: AskBody, work: Work) -> Generator[Event, None, None]:
        """Yield `searched` for each part of the library tried; of a model `step`, `text` and `mark`; last `answer`.

        Blocks, so call it from a worker thread; other threads may stop it through `work`. Raise Problem for an unknown
        session, DocumentNotFound, FilterError, providers' errors, and Stopped.
        """
        with self._metrics.asking() as counted:
            history = self._history(ask)
            attempts = scopes(self._library, self._selection(ask), ask.where)
            for scope in attempts:
                with closing(self._library.ask_stream(ask.question, scope.where, history, ask.narrow, work)) as events:
                    for event in events:
                        if event.answer is None:
                            yield _progress(event, scope)
                        elif event.answer.answered or scope is attempts[-1]:
                            found = self._finished(ask, event.answer, scope)
                            counted.outcome = found["reason"]
                            yield Event("answer", found)
                            return

    def _selection(self, ask: AskBody) -> Selection | None:
        if ask.hint:
            return check_span(self._library, Selection(**ask.hint.model_dump()))
        return find_selected(self._library, ask.selected_text, ask.where) if ask.selected_text else None

    def _history(self, ask: AskBody) -> list[Exchange]:
        if ask.session is None:
            return []
        history = self._sessions.history(ask.session, self._owner, ask.instead_of)
        if history is not None:
            return history
        if ask.instead_of and self._sessions.title(ask.session, self._owner) is not None:
            raise Problem(404, "turn_not_found", "The conversation no longer has this question. Get it again.")
        raise Problem(404, "session_not_found", "There is no such session. Leave it out to start a new one.")

    def _finished(self, ask: AskBody, answer: Answer, scope: Scope) -> dict[str, Any]:
        """Return the answer as JSON; save it in its session."""
        about_a_text = ask.hint or ask.selected_text
        found = {
            **answer_json(answer),
            "passages": [_passage(result, answer) for result in answer.results],
            "where": ask.where,
            "scope": scope.json() if about_a_text else None,
            "session": None,
            "turn": None,
        }
        if ask.keep:
            found["session"] = ask.session or self._sessions.start(self._owner)
            exchange = Exchange(ask.question, answer.question, answer.text)
            found["turn"] = self._sessions.add(found["session"], self._owner, exchange, found, ask.instead_of)
        return found


def _passage(result: RetrievalResult, answer: Answer) -> dict[str, Any]:
    """Return a passage with its ranks by meaning and by words; for a refusal also why it doesn't answer."""
    ranks = {"meaning_rank": result.meaning_rank, "keyword_rank": result.keyword_rank}
    why = {} if answer.answered else {"nearest": nearest_json(answer.question, answer.language, result)}
    return {**result_json(result), **ranks, **why}


def _progress(event: AnswerEvent, scope: Scope) -> Event:
    if event.mark:
        number, citation = event.mark
        return Event("mark", {"number": number, **citation_json(citation)})
    if event.step:
        return Event("step", {"tool": event.step.name, "asked": asked_of(event.step)})
    if event.searched:
        return Event("searched", {"question": event.searched, "scope": scope.kind})
    return Event("text", {"text": event.text})


def find_selected(library: Library, text: str, where: Where | None = None) -> Selection | None:
    """Find the span of a selected text, ignoring white space; None if no passage contains it.

    If the whole text isn't found, since a page may show it differently, search for its longest line.
    """
    lines = sorted((line.strip() for line in text.splitlines()), key=len, reverse=True)
    for wanted in dict.fromkeys((text.strip(), *(line for line in lines[:1] if len(line) >= _SHORTEST_LINE))):
        if not wanted:
            continue
        without: set[str] = set()
        for result in library.search(wanted[:_LONGEST_SEARCHED], _CANDIDATES, where):
            document = result.document
            if document.id in without:
                continue
            # Prefer an occurrence in the passage that was found.
            near = max(result.chunk.start - len(wanted), 0)
            found = find_words(document.content, wanted, near) or find_words(document.content, wanted)
            if found:
                return Selection(document.id, *found)
            without.add(document.id)
    return None


def check_span(library: Library, span: Selection) -> Selection:
    """Return the span if it is inside the document. Raise DocumentNotFound or Problem."""
    length = len(library.document(span.document_id).content)
    if not 0 <= span.start < span.end <= length:
        raise Problem(422, "invalid_request", f"The document has {length} characters: give a start and an end in it.")
    return span


def scopes(library: Library, span: Selection | None, where: Where | None) -> list[Scope]:
    """Return the parts to search one after another, narrowest first; the last is everything that passes `where`."""
    everything = Scope("library", where, span)
    if span is None:
        return [everything]
    document = {"document_id": span.document_id}
    found = [Scope("document", _all(where, document), span), everything]
    touched = [chunk for chunk in library.chunks(span.document_id) if chunk.start < span.end and chunk.end > span.start]
    condition, section = _section(touched)
    if condition:
        found.insert(0, Scope("section", _all(where, document, condition), span, section))
    return found


def _section(chunks: Sequence[Chunk]) -> tuple[Where | None, tuple[str, ...]]:
    """Return the filter for the section of these chunks, and the section's name: its headings, pages or days."""
    places = [chunk.location for chunk in chunks]
    if headings := tuple(dict.fromkeys(place.headings[-1] for place in places if place.headings)):
        return {"heading": list(headings)}, headings
    if pages := sorted({page for place in places if place.pages for page in range(place.pages[0], place.pages[1] + 1)}):
        return {"page": pages}, tuple(f"page {page}" for page in pages)
    if times := [time for place in places if place.times for time in place.times]:
        first, last = min(times).date().isoformat(), max(times).date().isoformat()
        return {"date": {"gte": first, "lte": last}}, (first,) if first == last else (first, last)
    return None, ()


def _all(*conditions: Where | None) -> Where:
    return {"and": [condition for condition in conditions if condition]}
