"""Find the periods to search from times in a question ("in March", "hace dos semanas", "entre 3 e 5 de maio de 2023").

Only the time at which something was said narrows the search, not a time that was talked about ("para el lunes", "the
meeting of 12 May"). A month without a year means that month in every year of the documents. The patterns of each
language are compiled from the word lists in `words/`.

dateparser isn't used: it fails 27 of 128 cases of this project's tests (ranges, "in March" of each year, 31 February,
"may", "ano"), and takes 2.9 ms a question instead of .09 ms. text2num isn't used for number words: it needs the accents
that questions often lack, and shifts the offsets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from functools import cache
from pathlib import Path

from answerable.text.word_lists import LANGUAGES, read_toml

FOLDER = Path(__file__).with_name("words")

_ISO = r"(?P<year>[12]\d{3})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_SLASHED = r"(?P<day>\d{1,2})(?P<sign>[/.-])(?P<month>\d{1,2})(?P=sign)(?P<year>[12]\d{3}|\d{2})"
_YEAR = r"(?P<year>(?:19|20)\d{2})"

Period = tuple[datetime, datetime]

_EARLIER_DAY = re.compile(r"(?<![\w/.-])(\d{1,2})(?:st|nd|rd|th)?(?: (?:and|to|y|e|al?|ao) (?:the |el |o )?| ?[-–] ?)$")
# Characters of words such as "3rd and the " before a date; the longest have 20. A guess, not measured.
_LONGEST_EARLIER = 40
# The largest number of units ("… months ago") that may mean a document's time. A round number, not measured.
_LONGEST_AGO = 1200


class Role(Enum):
    """The meaning that the word before a date gives it: "since", "before" …"""

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


@dataclass(frozen=True, slots=True)
class Time:
    """A time named by `text[start:end]`; the ends of `periods` are exclusive.

    `needs_past` (a weekday, a day or month without a year): the time may lie in the future, unless a verb in the
    question is in the past tense. `needs_role` (a month or year alone): it is a time only after a word such as "in".
    """

    start: int
    end: int
    periods: tuple[Period, ...]
    needs_past: bool = False
    needs_role: bool = False
    is_range: bool = False


def times_in(folded: str, grammar: Grammar, now: datetime, years: Sequence[int]) -> list[Time]:
    """Return the times in order; of overlapping ones, keep the more specific."""
    kept: list[Time] = []
    for time in _candidates(folded, grammar, now, years):
        if not any(time.start < other.end and other.start < time.end for other in kept):
            kept.append(time)
    return sorted(kept, key=lambda time: time.start)


def _candidates(folded: str, grammar: Grammar, now: datetime, years: Sequence[int]) -> Iterator[Time]:
    today = now.date()
    for pattern in grammar.dates:
        for match in pattern.finditer(folded):
            yield from _dated(match, grammar, years)
    for unit, count, pattern in grammar.relative:
        for match in pattern.finditer(folded):
            yield Time(*match.span(), (_ago(today, unit, count),))
    for is_last, patterns in ((False, grammar.ago), (True, grammar.last)):
        for match in (match for pattern in patterns for match in pattern.finditer(folded)):
            unit = grammar.units[match["unit"]]
            count = grammar.numbers.get(match["number"]) or int(match["number"])
            if count <= _LONGEST_AGO:
                period = _ago(today, unit, count)
                yield Time(*match.span(), ((period[0], now) if is_last else period,))
    for match in grammar.month.finditer(folded):
        month, is_gone = grammar.months[match["month"]], bool(match["before"] or match["after"])
        if is_gone:
            year = today.year - (month >= today.month)
            yield Time(*match.span(), (_month(year, month),))
        else:
            yield Time(*match.span(), tuple(_month(year, month) for year in years), needs_past=True, needs_role=True)
    for match in grammar.weekday.finditer(folded):
        is_gone = bool(match["before"] or match["after"])
        back = (today.weekday() - grammar.weekdays[match["weekday"]] - 1) % 7 + 1
        yield Time(*match.span(), (_period(today - timedelta(back)),), needs_past=not is_gone)


def _dated(match: re.Match[str], grammar: Grammar, years: Sequence[int]) -> Iterator[Time]:
    """Yield a date with at least a year, or a day and a month."""
    groups = match.groupdict()
    start, day_text, month_text, year_text = match.start(), groups.get("day"), groups.get("month"), groups.get("year")
    if year_text:
        year = int(year_text) + (2000 if len(year_text) == 2 else 0)
    if not month_text:
        if year in years:
            yield Time(start, match.end(), (_period(date(year, 1, 1), date(year, 12, 31)),), needs_role=True)
        return
    month = grammar.months.get(month_text) or int(month_text)
    if not day_text:
        yield Time(start, match.end(), (_month(year, month),))
        return
    day = int(day_text) if day_text.isdigit() else 1
    first = day
    if earlier := _EARLIER_DAY.search(match.string, max(start - _LONGEST_EARLIER, 0), start):
        first, start = min(int(earlier[1]), day), earlier.start()
    periods = []
    for one in [year] if year_text else years:
        try:
            periods.append(_period(date(one, month, first), date(one, month, day)))
        except ValueError:
            continue
    if periods:
        yield Time(start, match.end(), tuple(periods), needs_past=not year_text, is_range=first != day)


def _ago(today: date, unit: str, count: int) -> Period:
    """Return the day, week (from Monday), month, year or weekend that was `count` ago."""
    if unit == "day":
        return _period(today - timedelta(count))
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * count)
        return _period(monday, monday + timedelta(6))
    if unit == "weekend":
        saturday = today - timedelta(today.weekday() + 2)
        return _period(saturday, saturday + timedelta(1))
    if unit == "year":
        return _period(date(max(today.year - count, 1), 1, 1), date(max(today.year - count, 1), 12, 31))
    months = max(12 * today.year + today.month - 1 - count, 12)
    return _month(months // 12, months % 12 + 1)


def _month(year: int, month: int) -> Period:
    return datetime(year, month, 1), datetime(year + month // 12, month % 12 + 1, 1)


def _period(first: date, last: date | None = None) -> Period:
    last = last or first
    return datetime(first.year, first.month, first.day), datetime(last.year, last.month, last.day) + timedelta(1)


def fold_in_place(text: str) -> str:
    """Return the text in lower case without accents, with the same offsets."""
    return "".join(_folded_character(character) for character in text)


def _folded_character(character: str) -> str:
    lower = unicodedata.normalize("NFD", character)[0].lower()
    return lower if len(lower) == 1 else character


BEFORE = 40
"""Characters before a time that are searched for words that belong to it."""

_ISO_MONTH = re.compile(r"([12]\d{3})-(0?[1-9]|1[0-2])")
# Years that include those of any document, and few enough to loop over.
_YEARS = range(1900, 2101)
# "Since March" and "in March" name March itself; "before March" does not.
_ROLES = (None, Role.AT, Role.SINCE, Role.UNTIL)


def asked_when(
    folded: str, now: datetime, span: tuple[date, date], language: str = "", is_past: bool | None = None
) -> list[Time]:
    """Return the times that narrow a question, in order; `folded` is its text in lower case without accents.

    `span` is the first and the last day of the documents. `language` is tried first, then the other languages.
    `is_past`: whether days without a year lie in the past; by default a verb in the question decides.
    """
    years = range(span[0].year, span[1].year + 1)
    for known in sorted(LANGUAGES, key=lambda one: one != language):
        grammar = grammar_of(known)
        if named := list(_named(times_in(folded, grammar, now, years), folded, grammar, now, is_past)):
            return named
    return []


def relative_times(folded: str, now: datetime, language: str) -> list[Time]:
    """Return the times of a text that only its own time tells ("yesterday", "hace dos semanas"), in order.

    `folded` is the text in lower case without accents; a language without times of its own has none.
    """
    if language not in LANGUAGES:
        return []
    grammar = grammar_of(language)
    patterns = (*(pattern for *_, pattern in grammar.relative), *grammar.ago)
    spans = {match.span() for pattern in patterns for match in pattern.finditer(folded)}
    times = times_in(folded, grammar, now, ())
    return [each for each in times if (each.start, each.end) in spans]


def _named(times: Sequence[Time], folded: str, grammar: Grammar, now: datetime, is_past: bool | None) -> Iterator[Time]:
    """Apply roles ("since") and ranges ("from … to"); drop times that were only talked about."""
    if is_past is None:
        is_past = bool(grammar.past.search(folded))
    index = 0
    while index < len(times):
        start, role = role_of(times[index], folded, grammar)
        needs_past, needs_role = times[index].needs_past, times[index].needs_role
        end, periods = times[index].end, times[index].periods
        index += 1
        while index < len(times) and (link := grammar.link.fullmatch(folded, end, times[index].start)):
            following = times[index]
            index += 1
            end, needs_past = following.end, needs_past and following.needs_past
            if link["range"] or role is Role.BETWEEN:
                periods = _ranges(periods, following.periods)
                role = Role.FOR if role is Role.FOR else Role.AT
            else:
                periods += following.periods
        if (role is not None or not needs_role) and (is_past or not needs_past):
            periods = _in_role(role or Role.AT, periods, now)
            if periods:
                yield Time(start, end, periods)


def role_of(time: Time, folded: str, grammar: Grammar) -> tuple[int, Role | None]:
    """Return the offset where the words that belong to a time begin, and the role they give it ("since", "before")."""
    start = time.start
    while start > time.start - BEFORE and (neutral := _ends(grammar.neutral, folded, start)):
        start = neutral.start()
    found = _ends(grammar.role, folded, start)
    if found is None:
        return start, None
    role = grammar.roles[found[1]]
    if role is Role.OF and (time.is_range or _ends(grammar.said, folded, found.start())):
        role = Role.AT
    return found.start(), role


def _ends(pattern: re.Pattern[str], folded: str, end: int) -> re.Match[str] | None:
    """Match a pattern that ends at `end`, within the last BEFORE characters: searching the whole text is slow."""
    return pattern.search(folded, max(end - BEFORE, 0), end)


def _ranges(firsts: Sequence[Period], lasts: Sequence[Period]) -> tuple[Period, ...]:
    """Return a range for each period of `lasts`, from the nearest period of `firsts` before it."""
    pairs = [(max((first for first in firsts if first[0] <= last[0]), default=None), last) for last in lasts]
    return tuple((first[0], last[1]) for first, last in pairs if first)


def _in_role(role: Role, periods: Sequence[Period], now: datetime) -> tuple[Period, ...]:
    if role in (Role.AT, Role.BETWEEN):
        return tuple(periods)
    # "Since March" means the most recent March.
    begun = [period for period in periods if period[0] <= now]
    if not begun:
        return ()
    start, end = max(begun)
    match role:
        case Role.SINCE:
            return ((start, datetime.max),)
        case Role.AFTER:
            return ((end, datetime.max),)
        case Role.UNTIL:
            return ((datetime.min, end),)
        case Role.BEFORE:
            return ((datetime.min, start),)
    return ()


def typed_when(text: str, now: datetime) -> Period | None:
    """Return the period that the whole text names, its end exclusive, or None.

    A month, day or weekday without a year is the last one that has begun. Weeks begin on Monday.
    """
    plain = fold_in_place(" ".join(text.split()))
    if month := _ISO_MONTH.fullmatch(plain):
        return _month(int(month[1]), int(month[2]))
    for language in LANGUAGES:
        grammar = grammar_of(language)
        for time in times_in(plain, grammar, now, _YEARS):
            start, role = role_of(time, plain, grammar)
            if (start, time.end) == (0, len(plain)) and role in _ROLES:
                begun = [period for period in time.periods if period[0] <= now]
                return max(begun) if begun else min(time.periods)
    return None


def days_of(period: Period) -> tuple[date, date]:
    """Return the first and the last day of a period."""
    return period[0].date(), (period[1] - datetime.resolution).date()
