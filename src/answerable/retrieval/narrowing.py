"""A question that names a person or a time → the filter that it asks for, and what is left of it to search for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from answerable.datatypes import Narrowing
from answerable.retrieval.asked_when import asked_when
from answerable.retrieval.asked_who import asked_who
from answerable.retrieval.speech_words import SAYING

_SAYING = re.compile(rf"(?<!\w)(?:{''.join(SAYING.split())})(?!\w)")


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`topic` is the question without what the filter sees to: names, times and the words for saying."""

    narrowing: Narrowing
    topic: str


def narrow(
    question: str, language: str, senders: Collection[str], span: tuple[date, date], now: datetime
) -> Narrowed | None:
    """What a question about chats narrows the search to; None where it names nobody and no time.

    `senders` are those of the chats, `span` the first and the last day on which anything was said, `now` what
    "yesterday" is counted from.
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
    """The text in lower case and without accents, character by character: offsets stay."""
    return "".join(_folded_character(character) for character in text)


def _folded_character(character: str) -> str:
    lower = unicodedata.normalize("NFD", character)[0].lower()
    return lower if len(lower) == 1 else character


def _without(question: str, folded: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, reached = [], 0
    for start, end in sorted([*spans, *(match.span() for match in _SAYING.finditer(folded))]):
        if start >= reached:
            kept.append(question[reached:start])
            reached = end
    return " ".join("".join([*kept, question[reached:]]).split())
