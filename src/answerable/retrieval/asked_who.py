"""Find the people whose statements a question asks for: "¿qué dijo Ana…?", "what did Ana decide?", "segundo Pedro".

A name counts if it is the subject of the verb, or the source of a statement; not if that person is only talked about
("what do we give Ana?").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from answerable.retrieval.time_grammar import FOLDER, grammar_of
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold
from answerable.text.word_lists import LANGUAGES, read_toml

# Characters before a name that decide whether that person speaks. With all of them, time grows with the square of the
# number of names.
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
    """Yield the longest names of senders, in order. "Ana" means the sender "Ana" or, without one, every "Ana …"."""
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
    """Return whether part of a name identifies it: six digits or more, or any word but common ones ("de", "la")."""
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
    """Return whether the named people said or did something, or are a source; Luz isn't in "cortó la luz"."""
    patterns, near = _patterns(), max(start - _BEFORE, 0)
    if patterns.source_before.search(folded, near, start) or patterns.said_by_before.search(folded, near, start):
        return True
    if folded.startswith(("'s ", "’s "), end):
        return bool(patterns.said_after.match(folded, end + 2))
    if patterns.auxiliary_before.search(folded, near, start):
        return True
    article = patterns.portuguese_article if language == "pt" else patterns.spanish_article
    before = article.sub("", folded[near:start])
    has_article = len(before) < start - near
    verb = patterns.verb_before.search(before)
    is_object = has_article and (is_lower or _ASKS_WHO.match(folded))
    if verb and not is_object and not patterns.before_noun.search(before, 0, verb.start()):
        return True
    return not patterns.preposition_before.search(before) and bool(patterns.verb_after.match(folded, end))


_ASKS_WHO = re.compile(r"\W*(?:quem|quien|quienes|who)\b")


class _Patterns(NamedTuple):
    spanish_article: re.Pattern[str]
    portuguese_article: re.Pattern[str]
    source_before: re.Pattern[str]
    said_by_before: re.Pattern[str]
    said_after: re.Pattern[str]
    auxiliary_before: re.Pattern[str]
    preposition_before: re.Pattern[str]
    verb_before: re.Pattern[str]
    before_noun: re.Pattern[str]
    verb_after: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    lists = {name: "|".join(words.split()) for name, words in read_toml(FOLDER / "speech.toml").items()}
    articles = rf"(?:(?:{lists['spanish_articles']}|{lists['portuguese_articles']})\s+)?"
    verbs = f"{lists['romance_verbs']}|{lists['english_verbs']}"

    def before(words: str, then: str = "") -> re.Pattern[str]:
        return re.compile(rf"\b(?:{words})\s+{then}$")

    return _Patterns(
        spanish_article=before(lists["spanish_articles"]),
        portuguese_article=before(lists["portuguese_articles"]),
        source_before=before(lists["sources"], articles),
        said_by_before=before(lists["said_by"], rf"(?:{lists['of']})\s+"),
        said_after=re.compile(rf"\s+(?:\w+\s+)?(?:{lists['said_by']})\b"),
        auxiliary_before=before(lists["english_auxiliaries"]),
        preposition_before=before(lists["prepositions"]),
        verb_before=before(lists["romance_verbs"]),
        before_noun=before(lists["before_nouns"]),
        verb_after=re.compile(rf"\s+(?:(?:{lists['between']})\s+)*(?:{verbs})\b"),
    )
