"""From a question that names a person or a time, derive a filter, and the remaining topic to search for.

The filter is for people whose statements the question asks for: "¿qué dijo Ana…?", "what did Ana decide?", "segundo
Pedro". A name counts if it is the subject of the verb, or the source of a statement; it doesn't if that person is only
talked about ("what do we give Ana?").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from typing import Any

import numpy as np

from answerable.datatypes import DocumentType, Narrowing
from answerable.filters import both, parse_filter
from answerable.protocols import Store
from answerable.retrieval.times import FOLDER, asked_when, fold_in_place, grammar_of
from answerable.text.languages import asked_language
from answerable.text.terms import STOP_WORDS, fold
from answerable.text.word_lists import LANGUAGES, read_toml

_DAYS = ("first_day", "last_day")
_MESSAGES = {"type": [str(DocumentType.CHAT), str(DocumentType.MAIL)]}
LONGEST_QUESTION = 1000
"""Characters of a question; a longer one contains pasted text, and filtering by its times would only cost searches."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The filter that a question implies; `topic` is the question without its names, times and verbs of saying.

    With `is_open`, the filter lets documents other than messages pass. Since they may contain the words of a time
    ("2026"), the whole question is searched for.
    """

    narrowing: Narrowing
    topic: str
    is_open: bool = False

    @property
    def where(self) -> dict[str, Any]:
        """The filter in the syntax of `answerable.filters`."""
        only = messages_of(self.narrowing)
        return {"or": [only, {"not": _MESSAGES}]} if self.is_open else only

    def attempts(self) -> tuple[Narrowed, ...]:
        """Return the filters to try one after another: if no document answers, search among messages only."""
        if not self.narrowing.applied:
            return ()
        return (self, replace(self, is_open=False)) if self.is_open else (self,)


def messages_of(narrowing: Narrowing) -> dict[str, Any]:
    """Return the filter for the messages of these senders and periods, in the syntax of `answerable.filters`."""
    conditions: list[dict[str, Any]] = [_MESSAGES]
    if narrowing.senders:
        conditions.append({"sender": list(narrowing.senders)})
    if narrowing.periods:
        conditions.append({"or": [{"date": _bounds(start, end)} for start, end in narrowing.periods]})
    return {"and": conditions}


def _bounds(start: datetime, end: datetime) -> dict[str, datetime]:
    return {**({"gte": start} if start > datetime.min else {}), **({"lt": end} if end < datetime.max else {})}


def narrow_among(store: Store, question: str, where: Mapping[str, Any] | None, now: datetime) -> Narrowed | None:
    """Return how a question narrows the search of a store; None if it doesn't, or if then no message passes `where`."""
    if len(question) > LONGEST_QUESTION:
        return None
    chats = [each for kind in (DocumentType.CHAT, DocumentType.MAIL) for each in store.documents(str(kind))]
    made_by = store.fingerprint if chats else None
    if made_by is None:
        return None
    senders = {sender for chat in chats for sender in chat.metadata.get("participants", ())}
    days = [date.fromisoformat(chat.metadata[key]) for chat in chats for key in _DAYS if key in chat.metadata]
    span = (min(days), max(days)) if days else (now.date(), now.date())
    narrowed = narrow(question, asked_language(question, store.languages()), senders, span, now)
    if narrowed is None:
        return None
    anywhere = np.ones(made_by.dimension, np.float32)
    found = store.search_vectors(anywhere, 1, parse_filter(both(where, messages_of(narrowed.narrowing))))
    is_open = not narrowed.narrowing.senders and len(chats) < store.count()[0]
    return replace(narrowed, narrowing=replace(narrowed.narrowing, applied=bool(found)), is_open=is_open)


def narrow(
    question: str, language: str, senders: Collection[str], span: tuple[date, date], now: datetime
) -> Narrowed | None:
    """Return how a question about chats and mail narrows the search, or None if it names no person and no time.

    `senders` are the senders of all messages, `span` is the first and the last day of the messages; "yesterday" is the
    day before `now`.
    """
    folded = fold_in_place(question)
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


def _without(question: str, folded: str, spans: Sequence[tuple[int, int]]) -> str:
    kept, reached = [], 0
    for start, end in sorted([*spans, *(match.span() for match in _patterns()["saying"].finditer(folded))]):
        if start >= reached:
            kept.append(question[reached:start])
            reached = end
    return " ".join("".join([*kept, question[reached:]]).split())


# Characters before a name that decide whether that person speaks. If all text before it were read, time would grow with
# the square of the number of names.
_BEFORE = 100

_WORD = re.compile(r"[^\W_]+")
_AND = re.compile(r"\s*(?:,|(?:,\s*)?\b(?:y|e|and|o|ou|or)\b)\s*(?:(?:el|la|o|a)\s+)?")


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """People named by `question[start:end]`; `senders` are the chat senders that these names may mean."""

    start: int
    end: int
    senders: tuple[str, ...]


def asked_who(question: str, folded: str, senders: Collection[str], language: str = "") -> list[NamedPeople]:
    """Return the people whose statements are asked for, in order.

    `folded` is `question` in lower case without accents.
    """
    return [
        people
        for people in _groups(folded, list(_names(question, folded, senders)))
        if _speaks(folded, people.start, people.end, question[people.start : people.end].islower(), language)
    ]


def _names(question: str, folded: str, senders: Collection[str]) -> Iterator[NamedPeople]:
    """Yield the longest names of senders, in order. "Ana" means the sender "Ana" or, without her, every "Ana …"."""
    called = _by_name(senders)
    words = list(_WORD.finditer(folded))
    longest = max((len(name) for name in called), default=0)
    types_capitals = any(question[word.start()].isupper() for word in words[1:])
    index = 0
    while index < len(words):
        for length in range(min(longest, len(words) - index), 0, -1):
            run = words[index : index + length]
            name = tuple(word[0] for word in run)
            has_capital = any(not question[word.start()].islower() for word in run)
            needs_capital = types_capitals or _is_common(name)
            if name in called and (has_capital or not needs_capital):
                yield NamedPeople(run[0].start(), run[-1].end(), called[name])
                index += length
                break
        else:
            index += 1


def _by_name(senders: Collection[str]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Map each part of a sender's name to the senders with exactly this name, or else to all whose name contains it."""
    whole: dict[tuple[str, ...], list[str]] = {}
    part: dict[tuple[str, ...], list[str]] = {}
    for sender in sorted(senders):
        words = tuple(word[0] for word in _WORD.finditer(fold(sender.lower())))
        whole.setdefault(words, []).append(sender)
        for first in range(len(words)):
            for last in range(first + 1, len(words) + 1):
                if first == 0 or _is_distinctive(words[first:last]):
                    part.setdefault(words[first:last], []).append(sender)
    return {name: tuple(dict.fromkeys(whole.get(name) or part[name])) for name in part}


def _is_distinctive(words: Sequence[str]) -> bool:
    """Return whether part of a name identifies a sender: six or more digits, or a word that isn't common ("de")."""
    digits = "".join(words)
    return len(digits) >= 6 if digits.isdigit() else not _is_common(words)


def _is_common(words: Sequence[str]) -> bool:
    """Return whether these words are probably no name unless capitalised, such as "may", "will" or "abril"."""
    return all(len(word) == 1 or word in _common_words() for word in words)


@cache
def _common_words() -> frozenset[str]:
    return frozenset[str]().union(*STOP_WORDS.values(), *(grammar_of(language).months for language in LANGUAGES))


def _groups(folded: str, names: Sequence[NamedPeople]) -> Iterator[NamedPeople]:
    """Join names linked by "and" or "or"."""
    index = 0
    while index < len(names):
        people = names[index]
        index += 1
        while index < len(names) and _AND.fullmatch(folded, people.end, names[index].start):
            senders = dict.fromkeys(people.senders + names[index].senders)
            people = NamedPeople(people.start, names[index].end, tuple(senders))
            index += 1
        yield people


def _speaks(folded: str, start: int, end: int, is_lower: bool, language: str) -> bool:
    """Return whether the named people said or did something, or are a source. In "cortó la luz", Luz isn't named."""
    patterns, near = _patterns(), max(start - _BEFORE, 0)
    if patterns["source_before"].search(folded, near, start) or patterns["said_by_before"].search(folded, near, start):
        return True
    if folded.startswith(("'s ", "’s "), end):
        return bool(patterns["said_after"].match(folded, end + 2))
    if patterns["auxiliary_before"].search(folded, near, start):
        return True
    article = patterns["portuguese_article"] if language == "pt" else patterns["spanish_article"]
    before = article.sub("", folded[near:start])
    has_article = len(before) < start - near
    verb = patterns["verb_before"].search(before)
    is_object = has_article and (is_lower or _ASKS_WHO.match(folded))
    if verb and not is_object and not patterns["before_noun"].search(before, 0, verb.start()):
        return True
    return not patterns["preposition_before"].search(before) and bool(patterns["verb_after"].match(folded, end))


_ASKS_WHO = re.compile(r"\W*(?:quem|quien|quienes|who)\b")


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    lists = {name: "|".join(words.split()) for name, words in read_toml(FOLDER / "speech.toml").items()}
    articles = rf"(?:(?:{lists['spanish_articles']}|{lists['portuguese_articles']})\s+)?"
    verbs = f"{lists['romance_verbs']}|{lists['english_verbs']}"

    def before(words: str, then: str = "") -> re.Pattern[str]:
        return re.compile(rf"\b(?:{words})\s+{then}$")

    return {
        "saying": re.compile(rf"(?<!\w)(?:{lists['saying']})(?!\w)"),
        "spanish_article": before(lists["spanish_articles"]),
        "portuguese_article": before(lists["portuguese_articles"]),
        "source_before": before(lists["sources"], articles),
        "said_by_before": before(lists["said_by"], rf"(?:{lists['of']})\s+"),
        "said_after": re.compile(rf"\s+(?:\w+\s+)?(?:{lists['said_by']})\b"),
        "auxiliary_before": before(lists["english_auxiliaries"]),
        "preposition_before": before(lists["prepositions"]),
        "verb_before": before(lists["romance_verbs"]),
        "before_noun": before(lists["before_nouns"]),
        "verb_after": re.compile(rf"\s+(?:(?:{lists['between']})\s+)*(?:{verbs})\b"),
    }
