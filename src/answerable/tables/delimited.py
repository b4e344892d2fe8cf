"""Tables of delimited lines (CSV, TSV): their delimiter, the lines above the header, the header and the rows."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Literal, NamedTuple

from answerable.tables.grid import WIDEST, header_of
from answerable.tables.table import Line
from answerable.tables.values import TYPED

DELIMITED = frozenset({".csv", ".tsv", ".tab"})
"""Suffixes of files whose rows are lines of delimited fields."""
Quoting = Literal[0, 1, 2, 3]
# With invalid quotes, a second attempt reads quotes as ordinary characters.
_QUOTING: tuple[Quoting, ...] = (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)
# The likeliest delimiters come first: decimal numbers and prose contain commas too.
_DELIMITERS = "\t;|,"
SAMPLE_ROWS = 200  # rows from which the delimiter is detected; a guess, not measured
_LONGEST_SAMPLE = 200_000  # characters from which the delimiter is detected if rows are long; a guess, not measured
_SAME_WIDTH = 0.7  # share of rows with one number of fields; the others are titles and notes; a guess, not measured
_HEADER_WITHIN = 30  # rows, among which the header is looked for: banks write a dozen lines above it
_DECLARED = re.compile(r"sep=(.)[ \t]*\n", re.IGNORECASE)
_WORD = re.compile(r"\w")
_MOST_NOTES = 3  # rows below a table that may be notes; a round number, not measured


class Delimited(NamedTuple):
    """A table: the lines above its header, the header, None without one, and the rows below."""

    above: Sequence[Line]
    header: Line | None
    rows: Iterator[Line]


def readings(content: str) -> Iterator[Delimited]:
    """Yield the table for each way to read its quotes; iterating its rows may raise csv.Error."""
    declared = _DECLARED.match(content)
    start = declared.end() if declared else 0
    for quoting in _QUOTING:
        every = (_reading(content, start, each, quoting) for each in (declared[1] if declared else _DELIMITERS))
        if found := [each for each in every if each]:
            yield max(found, key=lambda each: each[0])[1]


def _reading(content: str, start: int, delimiter: str, quoting: Quoting) -> tuple[tuple[bool, float], Delimited] | None:
    """Return the table with this delimiter and how good it is; None if the lines make none.

    It is better if its first row has the usual number of fields, and if more rows have this number.
    """
    found = rows(content, start, delimiter, quoting)
    sample: list[Line] = []
    try:
        for row in islice(found, SAMPLE_ROWS):
            sample.append(row)
            if row.end - start > _LONGEST_SAMPLE:
                break
    except csv.Error:
        return None
    widths = [len(row.cells) for row in sample]
    for width in dict.fromkeys(widths):
        first, count = widths.index(width), widths.count(width)
        if width < 2 or count < 2 or count < _SAME_WIDTH * (len(widths) - first):
            continue
        place = _header_place(sample, first)
        header = None if place is None else replace(sample[place], cells=_apart(sample[place].cells))
        above, below = ([], sample) if place is None else (sample[:place], sample[place + 1 :])
        # Lines of prose differ in their number of commas, but the last few may be alike.
        if count >= _SAME_WIDTH * len(widths) or (header and has_values(below)):
            return (not first, count / len(widths)), Delimited(above, header, chain(below, found))
    return None


def rows(content: str, start: int, delimiter: str, quoting: Quoting = csv.QUOTE_MINIMAL) -> Iterator[Line]:
    """Yield the rows of a table except those without words; quoted cells may contain line ends. Raises csv.Error."""
    position = begin = start

    def lines() -> Iterator[str]:
        nonlocal position
        while position < len(content):
            line_start = position
            position = content.find("\n", line_start) + 1 or len(content)
            yield content[line_start:position]

    for cells in csv.reader(lines(), delimiter=delimiter, quoting=quoting, strict=True):
        text = content[begin:position]
        if any(map(_WORD.search, cells)):
            # A row may begin with blank delimiters, so only the line end is removed.
            yield Line(begin, begin + len(text.rstrip("\n")), cells)
        begin = position


def _header_place(sample: Sequence[Line], first: int) -> int | None:
    """Return the place of the row with the columns' names: `first`, or one below it that has all names; or None."""
    cells = [row.cells for row in sample]
    lower = cells[len(cells) // 2 :]
    counts = Counter(index for row in lower for index, cell in enumerate(row) if index and cell.strip())
    usual = {index for index, count in counts.items() if count * 2 > len(lower)}
    places = range(first, min(first + _HEADER_WITHIN, len(cells)))
    full = next(
        (each for each in places if usual <= {at for at, cell in enumerate(cells[each]) if cell.strip()}), first
    )
    # Over figures a name may come twice: a currency for each amount.
    if has_values(sample[full + 1 :]) and header_of([_apart(cells[full]), *cells[full + 1 :]]):
        return full
    return first if header_of(cells[first:]) else None


def _apart(names: Sequence[str]) -> list[str]:
    """Return names with a number at those that came before: "Currency", "Currency 2"."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if seen[name] > 1 and name.strip() else name)
    return found


def has_values(below: Sequence[Line]) -> bool:
    """Whether a column has numbers, dates, times or words for yes and no."""
    for column in zip_longest(*(row.cells for row in below), fillvalue=""):
        values = [cell.strip() for cell in column if cell.strip()]
        if values and sum(bool(TYPED.fullmatch(each)) for each in values) * 10 >= len(values) * 9:
            return True
    return False


def without_notes(rows: Iterable[Line], content: str) -> Iterator[Line]:
    """Yield the rows without those at the end that a blank line sets apart and that lack a cell which all others have.

    A bank writes the balance there.
    """
    last: deque[Line] = deque()
    always, end = set(range(WIDEST)), len(content)
    for row in rows:
        last.append(row)
        if len(last) > _MOST_NOTES:
            always, end = always & _filled(last[0]), last[0].end
            yield last.popleft()
    for row in last:
        if content.count("\n", end, row.start) > 1 and not always <= _filled(row):
            return
        always, end = always & _filled(row), row.end
        yield row


def _filled(row: Line) -> set[int]:
    return {index for index, cell in enumerate(row.cells) if cell.strip()}
