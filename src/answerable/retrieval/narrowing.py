"""A question that names a person or a time → the filter that it implies, and the remaining topic to search for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from typing import Any

import numpy as np

from answerable.datatypes import DocumentType, Narrowing
from answerable.filters import both, parse_filter
from answerable.protocols import Store
from answerable.retrieval.asked_when import asked_when
from answerable.retrieval.asked_who import asked_who
from answerable.retrieval.question import likely_language
from answerable.retrieval.time_grammar import FOLDER
from answerable.text.languages import question_language
from answerable.text.word_lists import read_toml

_DAYS = ("first_day", "last_day")
LONGEST_QUESTION = 1000
"""A longer question pastes a text, whose times are no filter: each filter that finds nothing is another reading."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`topic` is the question without what the filter covers: names, times and verbs of saying.

    With `is_open` the filter lets other documents than messages pass; "2026" may be a word of theirs, so the whole
    question is searched for.
    """

    narrowing: Narrowing
    topic: str
    is_open: bool = False

    @property
    def where(self) -> dict[str, Any]:
        """The filter in the syntax of `answerable.filters`."""
        return self.narrowing.where if self.is_open else self.narrowing.messages

    def attempts(self) -> tuple[Narrowed, ...]:
        """Return the filters to search with, one after another: what no document says may be said in messages."""
        if not self.narrowing.applied:
            return ()
        return (self, replace(self, is_open=False)) if self.is_open else (self,)


def narrow_among(store: Store, question: str, where: Mapping[str, Any] | None, now: datetime) -> Narrowed | None:
    """Return how a question narrows the search of a store, or None; not applied if no message passes `where` and it."""
    if len(question) > LONGEST_QUESTION:
        return None
    chats = [each for kind in (DocumentType.CHAT, DocumentType.MAIL) for each in store.documents(str(kind))]
    made_by = store.fingerprint if chats else None
    if made_by is None:
        return None
    senders = {sender for chat in chats for sender in chat.metadata.get("participants", ())}
    days = [date.fromisoformat(chat.metadata[key]) for chat in chats for key in _DAYS if key in chat.metadata]
    span = (min(days), max(days)) if days else (now.date(), now.date())
    languages = store.languages()
    language = question_language(question, languages) or likely_language(question, languages)
    narrowed = narrow(question, language, senders, span, now)
    if narrowed is None:
        return None
    anywhere = np.ones(made_by.dimension, np.float32)
    found = store.search_vectors(anywhere, 1, parse_filter(both(where, narrowed.narrowing.messages)))
    is_open = not narrowed.narrowing.senders and len(chats) < store.count()[0]
    return replace(narrowed, narrowing=replace(narrowed.narrowing, applied=bool(found)), is_open=is_open)


def narrow(
    question: str, language: str, senders: Collection[str], span: tuple[date, date], now: datetime
) -> Narrowed | None:
    """Return how a question about chats and mail narrows the search, or None if it names no person and no time.

    `senders` are all senders of their messages, `span` the first and the last day of them; "yesterday" is the day
    before `now`.
    """
    folded = fold(question)
    people = asked_who(question, folded, senders, language)
    times = asked_when(folded, now, span, language)
    if not people and not times:
        return None
    narrowing = Narrowing(
        tuple(dict.fromkeys(sender for group in people for sender in group.senders)),
        tuple(dict.fromkeys(period for time in times for period in time.periods)),
    )
    spans = [(group.start, group.end) for group in people] + [(time.start, time.end) for time in times]
    return Narrowed(narrowing, _without(question, folded, spans))


def fold(text: str) -> str:
    """Return the text in lower case without accents, with the same offsets."""
    return "".join(_folded_character(character) for character in text)


def _folded_character(character: str) -> str:
    lower = unicodedata.normalize("NFD", character)[0].lower()
    return lower if len(lower) == 1 else character


def _without(question: str, folded: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, reached = [], 0
    for start, end in sorted([*spans, *(match.span() for match in _saying().finditer(folded))]):
        if start >= reached:
            kept.append(question[reached:start])
            reached = end
    return " ".join("".join([*kept, question[reached:]]).split())


@cache
def _saying() -> re.Pattern[str]:
    words = read_toml(FOLDER / "speech.toml")["saying"]
    return re.compile(rf"(?<!\w)(?:{'|'.join(words.split())})(?!\w)")
