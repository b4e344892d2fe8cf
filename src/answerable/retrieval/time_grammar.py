"""Patterns of times in each language, compiled from the word lists in `words/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from answerable.text.word_lists import read_toml

FOLDER = Path(__file__).with_name("words")

_ISO = r"(?P<year>[12]\d{3})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_SLASHED = r"(?P<day>\d{1,2})(?P<sign>[/.-])(?P<month>\d{1,2})(?P=sign)(?P<year>[12]\d{3}|\d{2})"
_YEAR = r"(?P<year>(?:19|20)\d{2})"


class Role(Enum):
    """The meaning that the word before a date gives to that date."""

    AT = "in"
    SINCE = "since"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    OF = "of"
    FOR = "for"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Words and patterns of one language; `words/en.toml` describes them.

    `role`, `neutral` and `said` match at the end of the text before a time, `link` the text between two times.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    roles: Mapping[str, Role]
    dates: tuple[re.Pattern[str], ...]
    relative: tuple[tuple[str, int, re.Pattern[str]], ...]
    ago: tuple[re.Pattern[str], ...]
    last: tuple[re.Pattern[str], ...]
    month: re.Pattern[str]
    weekday: re.Pattern[str]
    neutral: re.Pattern[str]
    role: re.Pattern[str]
    said: re.Pattern[str]
    link: re.Pattern[str]
    past: re.Pattern[str]


@cache
def grammar_of(language: str) -> Grammar:
    """Return the grammar of a language of `text.word_lists.LANGUAGES`."""
    lists = read_toml(FOLDER / f"{language}.toml")
    months, weekdays, numbers = _numbered(lists["months"]), _numbered(lists["weekdays"], 0), _numbered(lists["numbers"])
    units = {word: unit for unit, words in lists["units"].items() for word in words.split("|")}
    roles = {word: Role(name) for name, words in lists["roles"].items() for word in words.split("|")}
    any_of = {"MONTH": _any_of(months), "WEEKDAY": _any_of(weekdays), "UNIT": f"(?P<unit>{_any_of(units)})"}
    any_of["NUMBER"] = rf"(?P<number>\d{{1,3}}|{_any_of(numbers)})"

    def filled(pattern: str) -> str:
        return re.sub("|".join(any_of), lambda name: any_of[name[0]], pattern)

    def whole(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w/.-])(?:{filled(pattern)})(?![\w/]|-\w)")

    neutral, messages = filled(lists["neutral"]), lists["messages"]
    gone = f"(?P<before>{lists['last_before']})?{{}}(?P<after>{lists['last_after']})?"
    roles_at = _any_of(word for word, role in roles.items() if role is Role.AT)
    return Grammar(
        months,
        weekdays,
        numbers,
        units,
        roles,
        dates=tuple(map(whole, (_ISO, _SLASHED, *lists["dates"], _YEAR))),
        relative=tuple((name[:-1], int(name[-1]), whole(pattern)) for name, pattern in lists["relative"].items()),
        ago=tuple(map(whole, lists["ago"])),
        last=tuple(map(whole, lists["last"])),
        month=whole(gone.format("(?P<month>MONTH)")),
        weekday=whole(gone.format("(?P<weekday>WEEKDAY)")),
        neutral=re.compile(rf"(?<!\w)(?:{neutral})[\s,]+$"),
        role=re.compile(rf"(?<!\w)({_any_of(roles)})\s+$"),
        said=re.compile(rf"(?<!\w)(?:{messages})\s+$"),
        link=re.compile(
            rf"\s*(?:(?P<range>(?:{lists['range']})\s|[-–])|(?:,|,?\s?(?:{lists['also']})\s))\s*"
            rf"(?:(?:{roles_at}|{neutral})\s+)*"
        ),
        past=re.compile(rf"(?<!\w)(?:{'|'.join(lists['past_verbs'].split())}|{messages})(?!\w)"),
    )


def _numbered(words: str, start: int = 1) -> dict[str, int]:
    return {word: number for number, same in enumerate(words.split(), start) for word in same.split("|")}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
