"""Answer a question as a series of events, the last of which is the answer.

Streams and JSON answers both use these events.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from answerable.datatypes import Answer, AnswerEvent, Exchange, RetrievalResult
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.problems import Problem
from answerable.interfaces.http.scopes import Scope, Span, Where, check_span, find_selected, scopes
from answerable.interfaces.http.session_store import Owner, Sessions
from answerable.interfaces.http.sse import Event
from answerable.interfaces.plain import answer_json, nearest_json, result_json
from answerable.library import Library
from answerable.stopping import Work


@dataclass(frozen=True, slots=True)
class Ask:
    """A question. `selected` is the text that the question is about; `span` is an alternative, its place.

    With `keep` the question and its answer become a turn of the session, or of a new session; with `instead_of` in the
    place of another turn, whose history it has. Without `narrow` a person or a time in the question is no filter.
    """

    question: str
    where: Where | None = None
    session: str | None = None
    selected: str = ""
    span: Span | None = None
    keep: bool = True
    instead_of: str | None = None
    narrow: bool = True


class Answering:
    """An answerer of questions on one library, for one caller."""

    def __init__(self, library: Library, owner: Owner, sessions: Sessions, metrics: Metrics) -> None:
        self._library = library
        self._owner = owner
        self._sessions = sessions
        self._metrics = metrics

    def events(self, ask: Ask, work: Work) -> Generator[Event, None, None]:
        """Yield `searched` for each part of the library tried, `text` and `mark` while a model writes, then `answer`.

        Blocks, so call it from a worker thread; others may stop its work. Raise Problem for an unknown session,
        DocumentNotFound, FilterError and errors of providers, and Stopped.
        """
        with self._metrics.asking() as counted:
            for event in self._events(ask, work):
                if event.name == "answer":
                    counted.outcome = event.data["reason"]
                yield event

    def _events(self, ask: Ask, work: Work) -> Generator[Event, None, None]:
        history = self._history(ask)
        span = check_span(self._library, ask.span) if ask.span else None
        if span is None and ask.selected:
            span = find_selected(self._library, ask.selected, ask.where)
        searched = ask.question
        attempts = scopes(self._library, span, ask.where)
        for scope in attempts:
            with closing(self._library.ask_stream(searched, scope.where, history, ask.narrow, work)) as events:
                for event in events:
                    if event.answer is None:
                        searched = event.searched or searched
                        yield _progress(event, scope)
                    elif event.answer.answered or scope is attempts[-1]:
                        yield Event("answer", self._finished(ask, searched, event.answer, scope))
                        return
            # The question is complete now, so later attempts need no history.
            history = []

    def _history(self, ask: Ask) -> list[Exchange]:
        if ask.session is None:
            return []
        history = self._sessions.history(ask.session, self._owner, ask.instead_of)
        if history is not None:
            return history
        if ask.instead_of and self._sessions.title(ask.session, self._owner) is not None:
            raise Problem(404, "turn_not_found", "The conversation no longer has this question. Get it again.")
        raise Problem(404, "session_not_found", "There is no such session. Leave it out to start a new one.")

    def _finished(self, ask: Ask, searched: str, answer: Answer, scope: Scope) -> dict[str, Any]:
        """Return the answer as JSON; save it in its session."""
        about_a_text = ask.span is not None or ask.selected
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
            exchange = Exchange(ask.question, searched, answer.text)
            found["turn"] = self._sessions.add(found["session"], self._owner, exchange, found, ask.instead_of)
        return found


def _passage(result: RetrievalResult, answer: Answer) -> dict[str, Any]:
    """Return a passage with its ranks by meaning and by words; of a refusal also why it isn't enough."""
    ranks = {"meaning_rank": result.meaning_rank, "keyword_rank": result.keyword_rank}
    why = {} if answer.answered else {"nearest": nearest_json(answer.question, answer.language, result)}
    return {**result_json(result), **ranks, **why}


def _progress(event: AnswerEvent, scope: Scope) -> Event:
    if event.mark:
        number, result = event.mark
        return Event("mark", {"number": number, **result_json(result)})
    if event.searched:
        return Event("searched", {"question": event.searched, "scope": scope.kind})
    return Event("text", {"text": event.text})
