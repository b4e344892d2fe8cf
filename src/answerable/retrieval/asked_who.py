"""The people whose words a question asks for: "¿qué dijo Ana…?", "what did Ana and Ben decide?", "segundo o Pedro".

A name counts where it is the subject of what was said or done, or its source; not where a message is merely about
somebody ("what do we give Ana?").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from answerable.retrieval import speech_words as known
from answerable.retrieval.time_words import TIME_WORDS
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold

# Characters before a name that tell whether it speaks: a few words. To look at all would take the square of the names.
_BEFORE = 100

_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset[str]().union(*STOP_WORDS.values(), *(time.months for time in TIME_WORDS.values()))
_AND = re.compile(r"\s*(?:,|(?:,\s*)?\b(?:y|e|and|o|ou|or)\b)\s*(?:(?:el|la|o|a)\s+)?")


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """People in a question: `question[start:end]` are their names, `senders` those of the chats that they may mean."""

    start: int
    end: int
    senders: tuple[str, ...]


def asked_who(question: str, folded: str, senders: Collection[str], language: str = "") -> list[NamedPeople]:
    """Those whose words are asked for, in order; `folded` is the question in lower case and without accents."""
    return [
        people
        for people in _groups(folded, list(_names(question, folded, senders)))
        if _speaks(folded, people.start, people.end, question[people.start : people.end].islower(), language)
    ]


def _names(question: str, folded: str, senders: Collection[str]) -> Iterator[NamedPeople]:
    """The longest names of senders, in order. "Ana" is one of "Ana" where there is one, otherwise every "Ana …"."""
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
    """Whom each run of words in senders' names may mean: those of just that name, or else all who have it in theirs."""
    whole: dict[tuple[str, ...], list[str]] = {}
    part: dict[tuple[str, ...], list[str]] = {}
    for sender in sorted(senders):
        words = tuple(word[0] for word in _WORD.finditer(fold(sender.lower())))
        whole.setdefault(words, []).append(sender)
        for first in range(len(words)):
            for last in range(first + 1, len(words) + 1):
                if first == 0 or _is_telling(words[first:last]):
                    part.setdefault(words[first:last], []).append(sender)
    return {name: tuple(dict.fromkeys(whole.get(name) or part[name])) for name in part}


def _is_telling(words: Sequence[str]) -> bool:
    """Whether words from within a name can stand for it: six digits of a number, or more than "de la"."""
    digits = "".join(words)
    return len(digits) >= 6 if digits.isdigit() else not _is_common(words)


def _is_common(words: Sequence[str]) -> bool:
    """Whether words in lower case are more likely to be no name: "may" and "will", "abril"."""
    return all(len(word) == 1 or word in _COMMON for word in words)


def _groups(folded: str, names: Sequence[NamedPeople]) -> Iterator[NamedPeople]:
    """Names with those that an "and" or "or" joins to them."""
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
    """Whether those named are who said or did something, or a source. "Cortó la luz" isn't about a Luz."""
    near = max(start - _BEFORE, 0)
    if _SOURCE_BEFORE.search(folded, near, start) or _SAID_BY_BEFORE.search(folded, near, start):
        return True
    if folded.startswith(("'s ", "’s "), end):
        return bool(_SAID_BEHIND.match(folded, end + 2))
    if _AUXILIARY_BEFORE.search(folded, near, start):
        return True
    article = _PORTUGUESE_ARTICLE if language == "pt" else _SPANISH_ARTICLE
    before = article.sub("", folded[near:start])
    has_article = len(before) < start - near
    verb = _VERB_BEFORE.search(before)
    is_object = has_article and (is_lower or _ASKS_WHO.match(folded))
    if verb and not is_object and not _BEFORE_NOUN.search(before, 0, verb.start()):
        return True
    return not _PREPOSITION_BEFORE.search(before) and bool(_VERB_BEHIND.match(folded, end))


def _either(*tables: str) -> str:
    return "|".join(word for table in tables for word in table.split())


_SPANISH_ARTICLE = re.compile(rf"\b(?:{_either(known.SPANISH_ARTICLES)})\s+$")
_PORTUGUESE_ARTICLE = re.compile(rf"\b(?:{_either(known.PORTUGUESE_ARTICLES)})\s+$")
_ANY_ARTICLE = rf"(?:(?:{_either(known.SPANISH_ARTICLES, known.PORTUGUESE_ARTICLES)})\s+)?"
_SOURCE_BEFORE = re.compile(rf"\b(?:{_either(known.SOURCES)})\s+{_ANY_ARTICLE}$")
_SAID_BY_BEFORE = re.compile(rf"\b(?:{_either(known.SAID_BY)})\s+(?:{_either(known.OF)})\s+$")
_SAID_BEHIND = re.compile(rf"\s+(?:\w+\s+)?(?:{_either(known.SAID_BY)})\b")
_AUXILIARY_BEFORE = re.compile(rf"\b(?:{_either(known.ENGLISH_AUXILIARIES)})\s+$")
_PREPOSITION_BEFORE = re.compile(rf"\b(?:{_either(known.PREPOSITIONS)})\s+$")
_VERB_BEFORE = re.compile(rf"\b(?:{_either(known.ROMANCE_VERBS)})\s+$")
_BEFORE_NOUN = re.compile(rf"\b(?:{_either(known.BEFORE_NOUNS)})\s+$")
_VERB_BEHIND = re.compile(
    rf"\s+(?:(?:{_either(known.BETWEEN)})\s+)*(?:{_either(known.ROMANCE_VERBS, known.ENGLISH_VERBS)})\b"
)
_ASKS_WHO = re.compile(r"\W*(?:quem|quien|quienes|who)\b")
