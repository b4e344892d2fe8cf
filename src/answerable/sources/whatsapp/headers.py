"""Find the lines of a WhatsApp export that begin a message: date, time and a separator.

One permissive grammar finds candidates in any layout; the whole file then decides. The most frequent layout is that of
the phone. A line in another layout begins a message only if its time fits those around it; otherwise it is quoted.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby

from answerable.sources.whatsapp.dates import (
    SECONDS_PER_DAY,
    DateOrder,
    DateText,
    decide_order,
    parse_clock,
    parse_date,
    resolve,
)
from answerable.text.whatsapp_words import BLANKS, MARKS


class Enclosure(str, Enum):
    """How date and time are separated from the rest: `[…] `, `… - `, `…: ` or one blank."""

    BRACKET = "bracket"
    DASH = "dash"
    COLON = "colon"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Layout:
    """The format that all headers of one phone share. `order` is set if only this order makes valid dates."""

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
        """Whether other texts have such lines too, so that a single line doesn't prove that the text is a chat."""
        return self.enclosure is Enclosure.BLANK or self.has_unknown_words


@dataclass(frozen=True, slots=True)
class Headers:
    """The message headers of a text, stored in columns because an export may contain millions.

    `starts` and `ends` are offsets of the header without the sender, `days` ordinals of `date`, `layouts` indexes into
    `known_layouts`.
    """

    known_layouts: list[Layout]
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    days: array[int] = field(default_factory=lambda: array("l"))
    seconds: array[int] = field(default_factory=lambda: array("l"))
    layouts: array[int] = field(default_factory=lambda: array("l"))

    def rows(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield start, end, day, seconds and layout of each header."""
        return zip(self.starts, self.ends, self.days, self.seconds, self.layouts, strict=True)

    def append(self, start: int, end: int, day: int, seconds: int, layout: int) -> None:
        """Add one row."""
        self.starts.append(start)
        self.ends.append(end)
        self.days.append(day)
        self.seconds.append(seconds)
        self.layouts.append(layout)


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

_ClockKind = tuple[Enclosure, bool, int, bool, bool]


@dataclass(slots=True)
class _Scan:
    """The headers that the grammar finds; the values in `headers.days` are indexes into `dates`."""

    headers: Headers = field(default_factory=lambda: Headers([]))
    dates: list[DateText] = field(default_factory=list)
    layouts: dict[Layout, int] = field(default_factory=dict)
    clock_kinds: dict[_ClockKind, int] = field(default_factory=dict)
    has_korean_halves: bool = False


def find_headers(content: str, date_order: DateOrder | None = None) -> Headers:
    """Return the headers of all messages in the text."""
    scan = _scan(content, _HEADER)
    if not scan.headers.starts or content[: scan.headers.starts[0]].strip():
        # Old iPhones write only a blank after the time, but so do many logs: tried only if there is no other header.
        blank = _scan(content, _BLANK_HEADER)
        if len(blank.headers.starts) > 2 * len(scan.headers.starts):
            scan = blank
    return _without_quotations(content, _resolved(scan, date_order))


def _scan(content: str, pattern: re.Pattern[str]) -> _Scan:
    scan = _Scan()
    dates: dict[str, int] = {}
    clocks: dict[tuple[str, ...], tuple[int, int] | None] = {}
    layouts: dict[tuple[int, int], int] = {}
    for match in pattern.finditer(content):
        date_text, *around = match.group("date", "gap", "clock", "tail", "open", "close")
        time_first = date_text is None
        if time_first:
            date_text, *around[:2] = match.group("last_date", "first_gap", "first_clock")
        date_index = dates.get(date_text)
        if date_index is None:
            date_index = dates[date_text] = _add_date(scan, date_text)
        key = tuple(around)
        if key not in clocks:
            clocks[key] = _read_clock(scan, time_first, *key)
        clock = clocks[key]
        if date_index < 0 or clock is None:
            continue
        seconds, kind = clock
        layout = layouts.get((date_index, kind))
        if layout is None:
            layout = layouts[date_index, kind] = _add_layout(scan, date_index, kind)
        scan.headers.append(match.start(), match.end(), date_index, seconds, layout)
    return scan


def _read_clock(
    scan: _Scan, time_first: bool, gap: str, clock_text: str, tail: str, opening: str | None, close: str
) -> tuple[int, int] | None:
    """Return the time of day in seconds and the index of its format in `clock_kinds`; None if it isn't a time."""
    clock = parse_clock(gap, clock_text, tail) if _GAP_NEEDS.search(gap) else None
    enclosure = _enclosure(opening, close)
    if clock is None or (enclosure is Enclosure.COLON and not clock.half and tail.strip()):
        return None
    scan.has_korean_halves |= _KOREAN_HALF in gap + clock_text
    kind = (enclosure, time_first, clock.parts, clock.half != "", clock.has_unknown_words)
    return clock.seconds, scan.clock_kinds.setdefault(kind, len(scan.clock_kinds))


def _add_date(scan: _Scan, text: str) -> int:
    """Return the index of this date in `dates`, or -1 if it isn't a date."""
    date_text = parse_date(text)
    if date_text is None or not any(resolve(date_text, order) for order in DateOrder):
        return -1
    scan.dates.append(date_text)
    return len(scan.dates) - 1


def _add_layout(scan: _Scan, date_index: int, clock_kind: int) -> int:
    date_text = scan.dates[date_index]
    enclosure, time_first, parts, has_half, unknown = list(scan.clock_kinds)[clock_kind]
    layout = Layout(enclosure, time_first, date_text.separator, date_text.year_at, parts, has_half, unknown)
    return scan.layouts.setdefault(layout, len(scan.layouts))


def _enclosure(opening: str | None, end: str) -> Enclosure:
    if opening:
        return Enclosure.BRACKET
    end = end.strip()
    if not end:
        return Enclosure.BLANK
    return Enclosure.COLON if end[0] == ":" else Enclosure.DASH


def _resolved(scan: _Scan, date_order: DateOrder | None) -> Headers:
    """Return the candidates whose dates are valid, with these dates."""
    orders = _orders(scan, date_order)
    headers = Headers(list(scan.layouts))
    days: dict[tuple[int, int], tuple[int, int]] = {}
    for start, end, date_index, seconds, layout in scan.headers.rows():
        key = (date_index, layout)
        if key not in days:
            days[key] = _day(scan.dates[date_index], layout, orders[layout], headers.known_layouts)
        day, actual_layout = days[key]
        if day:
            headers.append(start, end, day, seconds, actual_layout)
    return headers


def _orders(scan: _Scan, date_order: DateOrder | None) -> list[DateOrder]:
    """Return the order of day, month and year for each layout: the file's order, unless it makes dates impossible."""
    if date_order is not None:
        return [date_order] * len(scan.layouts)
    preferred = [DateOrder.DMY, DateOrder.MDY, DateOrder.YMD]
    if scan.has_korean_halves:
        preferred = [DateOrder.YMD, DateOrder.DMY, DateOrder.MDY]
    # The most frequent layout decides, with the help of other frequent layouts. Quoted lines have no influence.
    counts = Counter(scan.headers.layouts)
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
    """Return the dates of the headers in these layouts, each with its number of consecutive headers."""
    columns = zip(scan.headers.days, scan.headers.layouts, strict=True)
    dates = (date for date, layout in columns if layout in layouts)
    return [(scan.dates[index], sum(1 for _ in group)) for index, group in groupby(dates)]


def _day(text: DateText, layout_index: int, order: DateOrder, layouts: list[Layout]) -> tuple[int, int]:
    """Return the date's ordinal (0 if invalid) and its layout's index; add a layout if only another order is valid."""
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
    return _in_order(content, headers, trusted)


def _in_order(content: str, headers: Headers, trusted: set[int]) -> Headers:
    """Keep headers in a trusted layout, and others that have a sender and a time between those of their neighbours."""
    moments = [day * SECONDS_PER_DAY + second for day, second in zip(headers.days, headers.seconds, strict=True)]
    latest: list[float] = []
    bound = float("inf")
    for moment, layout in zip(reversed(moments), reversed(headers.layouts), strict=True):
        latest.append(bound)
        if layout in trusted:
            bound = moment
    kept, earliest = Headers(headers.known_layouts), float("-inf")
    for row, moment, bound in zip(headers.rows(), moments, reversed(latest), strict=True):
        layout = row[-1]
        if layout not in trusted:
            fits = not headers.known_layouts[layout].is_weak and earliest <= moment <= bound
            line_end = content.find("\n", row[1])
            if not fits or content.find(": ", row[1], line_end if line_end >= 0 else None) < 0:
                continue
        kept.append(*row)
        earliest = moment
    return kept
