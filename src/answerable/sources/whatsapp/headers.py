"""Finds the lines of a WhatsApp export that begin a message: a date, a time and what sets them off from the rest.

One grammar instead of a list of layouts. What it lets through is then judged by the file as a whole: the layout that
most headers have is the phone's; a line in another layout is a message of its own only where it fits into the order
of time, otherwise it was quoted in a message.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from answerable.sources.whatsapp.dates import (
    BLANKS,
    MARKS,
    SECONDS_PER_DAY,
    DateOrder,
    DateText,
    decide_order,
    parse_clock,
    parse_date,
    resolve,
)


class Enclosure(str, Enum):
    """What sets date and time off: `[…] `, `… - `, `…: ` or a mere blank."""

    BRACKET = "bracket"
    DASH = "dash"
    COLON = "colon"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Layout:
    """All that the headers of one phone have in common. `order` is set where only that order makes a date."""

    enclosure: Enclosure
    time_first: bool
    separator: str
    year_at: int | None
    clock_parts: int
    has_half: bool
    has_unknown_words: bool
    order: DateOrder | None = None

    @property
    def is_weak(self) -> bool:
        """Whether other texts have such lines too, so that one alone proves nothing."""
        return self.enclosure is Enclosure.BLANK or self.has_unknown_words


@dataclass(frozen=True, slots=True)
class Headers:
    """The message headers of a text, as columns: an export may hold millions.

    `starts` and `ends` are the offsets of each header, its mark of direction included and the sender not;
    `days` are ordinals of `date`.
    """

    starts: array[int]
    ends: array[int]
    days: array[int]
    seconds: array[int]
    layouts: array[int]
    known_layouts: list[Layout]


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
_FIELDS = ("date", "gap", "clock", "tail", "open", "close")
_GAP_NEEDS = re.compile(f"[{BLANKS},،、日일]|^[Tt]$")

# A second layout is the phone's too, not a quotation, from so many headers and such a share of all of them.
_TRUSTED_COUNT = 10
_TRUSTED_SHARE = 0.2

# Begins both halves of the day in Korean, which puts the year first even if it has two digits.
_KOREAN_HALF = "오"


class _Stamp(NamedTuple):
    """A time of day, and the place among `_Scan.stamp_kinds` of how it was written."""

    seconds: int
    kind: int


@dataclass(slots=True)
class _Scan:
    """What the grammar lets through, before the file as a whole is known."""

    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    dates: array[int] = field(default_factory=lambda: array("l"))
    seconds: array[int] = field(default_factory=lambda: array("l"))
    layouts: array[int] = field(default_factory=lambda: array("l"))
    date_texts: list[DateText] = field(default_factory=list)
    known_layouts: dict[Layout, int] = field(default_factory=dict)
    stamp_kinds: dict[tuple[Enclosure, bool, int, bool, bool], int] = field(default_factory=dict)
    has_korean_halves: bool = False


def find_headers(content: str, date_order: DateOrder | None = None) -> Headers:
    """Every header of a message in the text."""
    scan = _scan(content, _HEADER)
    if not scan.starts or content[: scan.starts[0]].strip():
        # Old iPhones set nothing but a blank after the time. So do many logs, hence only where nothing else is found.
        blank = _scan(content, _BLANK_HEADER)
        if len(blank.starts) > 2 * len(scan.starts):
            scan = blank
    return _judge(content, scan, date_order)


def _scan(content: str, pattern: re.Pattern[str]) -> _Scan:
    scan = _Scan()
    dates: dict[str, int] = {}
    clocks: dict[tuple[str, ...], _Stamp | None] = {}
    layouts: dict[tuple[int, int], int] = {}
    for match in pattern.finditer(content):
        date_text, *around = match.group(*_FIELDS)
        time_first = date_text is None
        if time_first:
            date_text, *around[:2] = match.group("last_date", "first_gap", "first_clock")
        date_index = dates.get(date_text)
        if date_index is None:
            date_index = dates[date_text] = _add_date(scan, date_text)
        key = tuple(around)
        if key not in clocks:
            clocks[key] = _read_stamp(scan, time_first, *key)
        stamp = clocks[key]
        if date_index < 0 or stamp is None:
            continue
        layout_key = (date_index, stamp.kind)
        layout = layouts.get(layout_key)
        if layout is None:
            layout = layouts[layout_key] = _add_layout(scan, *layout_key)
        scan.starts.append(match.start())
        scan.ends.append(match.end())
        scan.dates.append(date_index)
        scan.seconds.append(stamp.seconds)
        scan.layouts.append(layout)
    return scan


def _read_stamp(
    scan: _Scan, time_first: bool, gap: str, clock_text: str, tail: str, opening: str | None, close: str
) -> _Stamp | None:
    clock = parse_clock(gap, clock_text, tail) if _GAP_NEEDS.search(gap) else None
    enclosure = _enclosure(opening, close)
    if clock is None or (enclosure is Enclosure.COLON and not clock.half and tail.strip()):
        return None
    scan.has_korean_halves |= _KOREAN_HALF in gap + clock_text
    kind = (enclosure, time_first, clock.parts, clock.half != "", clock.has_unknown_words)
    return _Stamp(clock.seconds, scan.stamp_kinds.setdefault(kind, len(scan.stamp_kinds)))


def _add_date(scan: _Scan, text: str) -> int:
    """The place of this date among the known ones, or -1 if it is none."""
    date_text = parse_date(text)
    if date_text is None or not any(resolve(date_text, order) for order in DateOrder):
        return -1
    scan.date_texts.append(date_text)
    return len(scan.date_texts) - 1


def _add_layout(scan: _Scan, date_index: int, stamp_kind: int) -> int:
    date_text = scan.date_texts[date_index]
    enclosure, time_first, parts, has_half, unknown = list(scan.stamp_kinds)[stamp_kind]
    layout = Layout(enclosure, time_first, date_text.separator, date_text.year_at, parts, has_half, unknown)
    return scan.known_layouts.setdefault(layout, len(scan.known_layouts))


def _enclosure(opening: str | None, end: str) -> Enclosure:
    if opening:
        return Enclosure.BRACKET
    end = end.strip()
    if not end:
        return Enclosure.BLANK
    return Enclosure.COLON if end[0] == ":" else Enclosure.DASH


def _judge(content: str, scan: _Scan, date_order: DateOrder | None) -> Headers:
    """Gives each candidate its date and drops those that can't have one or were quoted in a message."""
    orders = _orders(scan, date_order)
    layouts = list(scan.known_layouts)
    days: dict[tuple[int, int], tuple[int, int]] = {}
    headers = Headers(array("q"), array("q"), array("l"), array("l"), array("l"), layouts)
    for start, end, date_index, seconds, layout_index in zip(
        scan.starts, scan.ends, scan.dates, scan.seconds, scan.layouts, strict=True
    ):
        key = (date_index, layout_index)
        if key not in days:
            days[key] = _day(scan.date_texts[date_index], layout_index, orders[layout_index], layouts)
        day, actual_layout = days[key]
        if day:
            headers.starts.append(start)
            headers.ends.append(end)
            headers.days.append(day)
            headers.seconds.append(seconds)
            headers.layouts.append(actual_layout)
    return _without_quotations(content, headers)


def _orders(scan: _Scan, date_order: DateOrder | None) -> list[DateOrder]:
    """The order of day, month and year in each layout: the file's, unless that makes dates impossible."""
    if date_order is not None:
        return [date_order] * len(scan.known_layouts)
    preferred = [DateOrder.DMY, DateOrder.MDY, DateOrder.YMD]
    if scan.has_korean_halves:
        preferred = [DateOrder.YMD, DateOrder.DMY, DateOrder.MDY]
    # The most frequent layout decides; what it leaves open, the other frequent ones do. A quoted line has no say.
    counts = Counter(scan.layouts)
    main_count = max(counts.values(), default=0)
    frequent = {layout for layout, count in counts.items() if count >= _TRUSTED_SHARE * main_count}
    order = decide_order(_runs(scan, frequent), preferred)
    if len(counts) < 2:
        return [order]
    order = decide_order(_runs(scan, {counts.most_common(1)[0][0]}), [order, *preferred])
    orders = []
    for layout_index in range(len(counts)):
        runs = _runs(scan, {layout_index})
        is_possible = all(resolve(text, order) for text, _ in runs)
        orders.append(order if is_possible else decide_order(runs, [order, *preferred]))
    return orders


def _runs(scan: _Scan, layouts: set[int]) -> list[tuple[DateText, int]]:
    """The dates of the headers in these layouts, each with how often it follows upon itself."""
    dates = (date for date, layout in zip(scan.dates, scan.layouts, strict=True) if layout in layouts)
    return [(scan.date_texts[index], sum(1 for _ in group)) for index, group in groupby(dates)]


def _day(text: DateText, layout_index: int, order: DateOrder, layouts: list[Layout]) -> tuple[int, int]:
    """The ordinal of the day and the layout: another one if the date only exists in another order. 0 is no day."""
    for actual in (order, *DateOrder):
        day = resolve(text, actual)
        if day is None:
            continue
        if actual is order:
            return day.toordinal(), layout_index
        layout = replace(layouts[layout_index], order=actual)
        if layout not in layouts:
            layouts.append(layout)
        return day.toordinal(), layouts.index(layout)
    return 0, layout_index


def _without_quotations(content: str, headers: Headers) -> Headers:
    counts = Counter(headers.layouts)
    if len(counts) < 2:
        return headers
    total = len(headers.starts)
    main, main_count = counts.most_common(1)[0]
    trusted = {layout for layout, n in counts.items() if n >= _TRUSTED_COUNT and n >= _TRUSTED_SHARE * total} | {main}
    if 2 * main_count < total:
        trusted |= {layout for layout in counts if not headers.known_layouts[layout].is_weak}
    kept = _in_order(content, headers, trusted)
    columns = (headers.starts, headers.ends, headers.days, headers.seconds, headers.layouts)
    starts, ends, days, seconds, layouts = (array(column.typecode, (column[i] for i in kept)) for column in columns)
    return Headers(starts, ends, days, seconds, layouts, headers.known_layouts)


def _in_order(content: str, headers: Headers, trusted: set[int]) -> list[int]:
    """The places of the headers in a trusted layout, and of others with a sender that time allows where they stand."""
    moments = [day * SECONDS_PER_DAY + second for day, second in zip(headers.days, headers.seconds, strict=True)]
    latest: list[float] = []
    bound = float("inf")
    for place in range(len(moments) - 1, -1, -1):
        latest.append(bound)
        if headers.layouts[place] in trusted:
            bound = moments[place]
    latest.reverse()
    kept, earliest = [], float("-inf")
    for place, moment in enumerate(moments):
        layout = headers.layouts[place]
        if layout not in trusted:
            fits = not headers.known_layouts[layout].is_weak and earliest <= moment <= latest[place]
            if not fits or not _has_sender(content, headers.ends[place]):
                continue
        kept.append(place)
        earliest = moment
    return kept


def _has_sender(content: str, start: int) -> bool:
    line_end = content.find("\n", start)
    return ": " in content[start : line_end if line_end >= 0 else len(content)]
