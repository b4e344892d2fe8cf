"""Find the lines of a WhatsApp export that begin a message: date, time and a separator.

One permissive grammar finds candidates in any layout; the whole file then decides. The most frequent layout is that of
the phone. A line in another layout begins a message only if its time fits those around it; otherwise it is quoted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, time
from enum import Enum
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from answerable.sources.whatsapp.dates import DateOrder, DateText, decide_order, parse_clock, parse_date, resolve
from answerable.text.whatsapp_words import BLANKS, MARKS


class Enclosure(str, Enum):
    """How date and time are separated from the rest: `[…] `, `… - `, `…: ` or one blank."""

    BRACKET = "bracket"
    DASH = "dash"
    COLON = "colon"
    BLANK = "blank"


class Layout(NamedTuple):
    """The format that all headers of one phone share. `order` is set if only this order makes valid dates."""

    enclosure: Enclosure
    time_first: bool
    clock_parts: int
    has_half: bool
    has_unknown_words: bool
    separator: str
    year_at: int | None
    order: DateOrder | None = None

    @property
    def is_weak(self) -> bool:
        """Whether other texts have such lines too, so that a single line doesn't prove that the text is a chat."""
        return self.enclosure is Enclosure.BLANK or self.has_unknown_words


class Header(NamedTuple):
    """The time of a message; `content[start:end]` is the header without the sender."""

    start: int
    end: int
    time: datetime
    layout: Layout


class _Candidate(NamedTuple):
    """What the grammar takes for a header; the whole file decides what its date means."""

    start: int
    end: int
    date: DateText
    clock: time
    layout: Layout


_FILL = f"[{MARKS}{BLANKS}]"
_DASHES = "-‐‑–—−"
_DATE_SEPARATOR = f"{_FILL}{{0,2}}[-/.／．‐‑–年월月년]{_FILL}{{0,3}}"
_DATE = rf"\d{{1,4}}{_DATE_SEPARATOR}\d{{1,4}}{_DATE_SEPARATOR}\d{{1,4}}"
_CLOCK_SEPARATOR = f"{_FILL}{{0,2}}(?:[:.：∶٫]|h|u|min|[时時시點点分분]){_FILL}{{0,2}}"
_CLOCK = rf"\d{{1,2}}{_CLOCK_SEPARATOR}\d{{2}}(?:{_CLOCK_SEPARATOR}\d{{2}})?(?!\d)"
_WORD = r'[^\d\n\[\]<>"=+*/#@_]'
_GAP = f"{_WORD}{{1,24}}?"
_TAIL = rf"[^\d\n\[\]<>=+*/#@_:{_DASHES[1:]}-]{{0,24}}?"
_STAMP = (
    rf"(?:(?P<date>{_DATE})(?P<gap>{_GAP})(?P<clock>{_CLOCK})"
    rf"|(?P<first_clock>(?:(?<=\[)[^\W\d_]{{1,6}}{_FILL}?)?{_CLOCK})(?P<first_gap>{_GAP})(?P<last_date>{_DATE}))"
)
_HEADER = re.compile(
    rf"^{_FILL}{{0,8}}(?P<open>\[)?(?:{_FILL}{{1,4}})?{_STAMP}(?P<tail>{_TAIL})"
    rf"(?P<close>(?(open){_FILL}{{0,3}}\](?:{_FILL}{{0,2}}[{_DASHES}:](?={_FILL}|$))?{_FILL}{{0,4}}"
    rf"|(?:{_FILL}{{0,3}}[{_DASHES}](?:{_FILL}{{1,3}}|$)|:{_FILL}{{1,3}})))",
    re.MULTILINE,
)
_BLANK_HEADER = re.compile(
    rf"^{_FILL}{{0,8}}(?P<open>)(?P<date>{_DATE})(?P<gap>{_GAP})(?P<clock>{_CLOCK})"
    rf"(?P<tail>(?:{_FILL}{{1,2}}[AaPp]\.?{_FILL}?[Mm]\b\.?)?)(?P<close>{_FILL}{{1,3}})(?=[^\s\[\d])",
    re.MULTILINE,
)
_GAP_NEEDS = re.compile(f"[{BLANKS},،、日일]|^[Tt]$")

# From this number and this share of all headers on, a second layout is the phone's too, rather than quoted text.
_TRUSTED_COUNT = 10
_TRUSTED_SHARE = 0.2  # share of all headers at least; a guess, not measured

# This character begins both halves of the day in Korean, which puts the year first even if it has two digits.
_KOREAN_HALF = "오"

# Millions of headers share few layouts.
_layout = lru_cache(maxsize=1024)(Layout)


def find_headers(content: str, date_order: DateOrder | None = None) -> list[Header]:
    """Return the headers of all messages in the text."""
    found = _candidates(content, _HEADER)
    if not found or content[: found[0].start].strip():
        # Old iPhones write only a blank after the time, but so do many logs: tried only if there is no other header.
        blank = _candidates(content, _BLANK_HEADER)
        if len(blank) > 2 * len(found):
            found = blank
    orders = _orders(content, found, date_order)
    days = ((each, _day(each.date, each.layout, orders[each.layout])) for each in found)
    headers = [Header(*each[:2], datetime.combine(day[0], each.clock), day[1]) for each, day in days if day]
    return _without_quotations(content, headers)


def _candidates(content: str, pattern: re.Pattern[str]) -> list[_Candidate]:
    found = []
    for match in pattern.finditer(content):
        date_text, *around = match.group("date", "gap", "clock", "tail", "open", "close")
        time_first = date_text is None
        if time_first:
            date_text, *around[:2] = match.group("last_date", "first_gap", "first_clock")
        date_read, clock = _possible_date(date_text), _clock(time_first, *around)
        if date_read and clock:
            layout = _layout(*clock[1:], date_read.separator, date_read.year_at)
            found.append(_Candidate(*match.span(), date_read, clock[0], layout))
    return found


@lru_cache(maxsize=10_000)
def _possible_date(text: str) -> DateText | None:
    found = parse_date(text)
    return found if found and any(resolve(found, order) for order in DateOrder) else None


@lru_cache(maxsize=100_000)
def _clock(
    time_first: bool, gap: str, clock_text: str, tail: str, opening: str | None, close: str
) -> tuple[time, Enclosure, bool, int, bool, bool] | None:
    """Return the time of day and the first fields of its layout; None if it isn't a time."""
    clock = parse_clock(gap, clock_text, tail) if _GAP_NEEDS.search(gap) else None
    enclosure = _enclosure(opening, close.strip())
    if clock is None or (enclosure is Enclosure.COLON and not clock.half and tail.strip()):
        return None
    has_half = clock.half != ""
    return clock.time, enclosure, time_first, clock.parts, has_half, clock.has_unknown_words


def _enclosure(opening: str | None, close: str) -> Enclosure:
    if opening:
        return Enclosure.BRACKET
    if not close:
        return Enclosure.BLANK
    return Enclosure.COLON if close[0] == ":" else Enclosure.DASH


def _orders(content: str, found: list[_Candidate], date_order: DateOrder | None) -> Mapping[Layout, DateOrder]:
    """Return the order of day, month and year for each layout: the file's order, unless it makes dates impossible."""
    counts = Counter(each.layout for each in found)
    if date_order is not None or not counts:
        return dict.fromkeys(counts, date_order or DateOrder.DMY)
    preferred = [DateOrder.DMY, DateOrder.MDY, DateOrder.YMD]
    if any(_KOREAN_HALF in content[each.start : each.end] for each in found):
        preferred = [DateOrder.YMD, DateOrder.DMY, DateOrder.MDY]
    # The most frequent layout decides, with the help of other frequent layouts. Quoted lines have no influence.
    main, main_count = counts.most_common(1)[0]
    frequent = {layout for layout, count in counts.items() if count >= _TRUSTED_SHARE * main_count}
    order = decide_order(_runs(found, frequent), preferred)
    order = decide_order(_runs(found, {main}), [order, *preferred])
    orders = {}
    for layout in counts:
        runs = _runs(found, {layout})
        is_possible = all(resolve(text, order) for text, _ in runs)
        orders[layout] = order if is_possible else decide_order(runs, [order, *preferred])
    return orders


def _runs(found: list[_Candidate], layouts: set[Layout]) -> list[tuple[DateText, int]]:
    """Return the dates of the headers in these layouts, each with its number of consecutive headers."""
    dates = (each.date for each in found if each.layout in layouts)
    return [(text, sum(1 for _ in group)) for text, group in groupby(dates)]


@lru_cache(maxsize=10_000)
def _day(text: DateText, layout: Layout, order: DateOrder) -> tuple[date, Layout] | None:
    """Return the date and its layout, which is another one if only another order makes it valid; None if none does."""
    for actual in (order, *DateOrder):
        if day := resolve(text, actual):
            return day, layout if actual is order else layout._replace(order=actual)
    return None


def _without_quotations(content: str, headers: list[Header]) -> list[Header]:
    """Keep headers in a trusted layout, and others that have a sender and a time between those of their neighbours."""
    counts = Counter(header.layout for header in headers)
    if len(counts) < 2:
        return headers
    total = len(headers)
    main, main_count = counts.most_common(1)[0]
    trusted = {layout for layout, n in counts.items() if n >= _TRUSTED_COUNT and n >= _TRUSTED_SHARE * total} | {main}
    if 2 * main_count < total:
        trusted |= {layout for layout in counts if not layout.is_weak}
    latest: list[datetime] = []
    bound = datetime.max
    for header in reversed(headers):
        latest.append(bound)
        if header.layout in trusted:
            bound = header.time
    kept: list[Header] = []
    earliest = datetime.min
    for header, bound in zip(headers, reversed(latest), strict=True):
        if header.layout not in trusted:
            fits = not header.layout.is_weak and earliest <= header.time <= bound
            line_end = content.find("\n", header.end)
            if not fits or content.find(": ", header.end, line_end if line_end >= 0 else None) < 0:
                continue
        kept.append(header)
        earliest = header.time
    return kept
