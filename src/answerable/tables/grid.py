"""A grid of cell texts → a Table: its header, its columns' kinds, and the rows that repeat the header or are totals.

Grids are written with bars, `| a | b |`, with or without the line `|---|---|` below their header. This module also
parses front matter: the `key: value` lines between two rules at the top of a Markdown document.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from answerable.datatypes import Document
from answerable.tables.columns import read_columns
from answerable.tables.table import Kind, Line, Origin, Row, Table, folded, word_set
from answerable.tables.values import Customs, DayOrder, dollar_of, shape_of
from answerable.text.languages import question_language
from answerable.text.sentences import STRUCK

MOST_CELLS = 200_000
"""Cells (columns times rows) of a table that are kept at most."""
WIDEST = 1_000
"""Columns of a table that are kept at most."""
_HEADER_SAMPLE = 200  # rows that a header is compared with: enough to show the columns' kinds; a guess, not measured
_MOST_TITLES = 5  # lines above a table that may be titles; a guess, not measured
_SAMPLE = 20_000  # characters from which the language is detected; a guess, not measured
# The name of a column may be a year, "2023 Gas", a month or a day, which otherwise are figures.
_PERIOD = re.compile(r"((?:1[89]|20|21)\d\d(?:-\d\d){0,2})(?: \D+)?")
_AFTER_TOTAL = re.compile(r"(?:[:=.* ]|\([^()]{0,20}\)|\b\d{4}\b)*$")
_LONGEST_TOTAL = 40  # characters of a total's label at most: "Total general (IVA incluido) 2024" has 33
_LONGEST_NAME = 100  # characters of a name at most: longer text is a value


def customs_of(document: Document) -> Customs:
    """Return how a document writes numbers, dates and money, for tables that leave this open."""
    content = document.content
    language = document.language or question_language(content[:_SAMPLE])
    # English text without European currencies is most likely American.
    is_american = language == "en" and "£" not in content and "€" not in content
    return Customs(
        decimal="," if language in word_set("values", "codes", "comma_languages") else ".",
        order=DayOrder.MONTH_FIRST if is_american else DayOrder.DAY_FIRST,
        dollar=dollar_of(content),
    )


def make_table(
    lines: Iterable[Line],
    title: str,
    customs: Customs,
    *,
    origin: Origin = Origin.TABLE,
    names: Sequence[str] | None = None,
    has_header: bool = False,
    is_mark_known: bool = False,
) -> Table | None:
    """Return the table of some lines, or None if it has no rows.

    `names` are the columns' names; with None, the first line has the names if it looks like a header or `has_header` is
    true, otherwise the columns are named "1", "2" and so on. `is_mark_known`: the decimal mark is that of `customs`.
    """
    filled = (line for line in lines if names or any(cell.strip() for cell in line.cells))
    lines, is_cut = _bounded(filled, headers=int(names is None))
    header = list(names or ())
    if names is None:
        lines, title = _without_title(lines, title)
        header = header_of([line.cells for line in lines[:_HEADER_SAMPLE]], has_header)
        lines = [line for line in lines if not header or not _repeats(line.cells, header)]
    if not lines:
        return None
    width = min(max(len(header), *(len(line.cells) for line in lines)), WIDEST)
    grid = [_padded(line.cells, width) for line in lines]
    totals = {place for place, cells in enumerate(grid) if says_total(cells)}
    columns, values = read_columns(_distinct(header, width), grid, customs, is_mark_known, totals)
    rows = [Row(line.start, line.end, row) for line, row in zip(lines, values, strict=True)]
    numbers = [index for index, column in enumerate(columns) if column.kind is Kind.NUMBER]
    named = {place for place in totals if _is_total(grid[place])}
    kept, total = _without_totals(rows, totals, named, numbers)
    return Table(origin, title, columns, tuple(kept), total, is_cut) if kept else None


def _bounded(lines: Iterable[Line], headers: int) -> tuple[list[Line], bool]:
    """Return the lines that are kept, not counting the header lines, and whether there are more lines."""
    found: list[Line] = []
    widest = 1
    for line in lines:
        widest = max(widest, min(len(line.cells), WIDEST))
        if (len(found) + 1 - headers) * widest > MOST_CELLS:
            return found, True
        found.append(line)
    return found, False


def _without_title(lines: list[Line], title: str) -> tuple[list[Line], str]:
    """Return the lines from the header on, and the table's title: the text of a line above it with one filled cell."""
    filled = [[cell.strip() for cell in line.cells if cell.strip()] for line in lines[:_MOST_TITLES]]
    place = next((place for place, cells in enumerate(filled) if len(cells) > 1), 0)
    is_title = place and header_of([line.cells for line in lines[place : place + _HEADER_SAMPLE]])
    return (lines[place:], filled[0][0]) if is_title else (lines, title)


def header_of(rows: Sequence[Sequence[str]], is_certain: bool = False) -> list[str]:
    """Return the names in the first row, or [] if it is an ordinary row."""
    if len(rows) < 2:
        return []
    first = [cell.strip() for cell in rows[0]]
    if is_certain and sum(map(bool, first)) * 2 >= len(first):
        return first
    below = [row for row in islice(rows, 1, _HEADER_SAMPLE) if not _repeats(row, first)]
    others = [index for index, cell in enumerate(first) if not _PERIOD.fullmatch(cell)]
    if others and _are_periods(first, set(range(len(first))).difference(others), below):
        # In "Concept | 2023 | 2024", the columns other than the years decide.
        names = [first[index] for index in others]
        below = [[row[index] for index in others if index < len(row)] for row in below]
        return first if below and (not any(names) or is_header(names, below)) else []
    return first if is_header(first, below) else []


def _are_periods(first: Sequence[str], places: Collection[int], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row's cells at these places, at least two, are names of periods in order, over other than days."""
    found = [found[1] for index in sorted(places) if (found := _PERIOD.fullmatch(first[index]))]
    order, rising = list(dict.fromkeys(found)), sorted(set(found))
    if len({first[index] for index in places}) < max(len(places), 2) or order not in (rising, rising[::-1]):
        return False
    texts = (row[index] for row in below for index in places if index < len(row))
    return not any("-" in text and _PERIOD.fullmatch(text) for text in texts)


def is_header(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row of cells names the columns of the rows below."""
    names = [cell.strip() for cell in cells if cell.strip()]
    if not below or not names or len(names) * 2 < len(cells) or len(set(names)) < len(names):
        return False
    if all(map(shape_of, names)) or max(map(len, names)) > _LONGEST_NAME:
        return False
    for index, name in enumerate(cell.strip() for cell in cells):
        texts = [text for row in below if index < len(row) and (text := row[index].strip())]
        # "1T" names a column of states, "No" one of votes.
        same = [text for text in texts if shape_of(text) == shape_of(name)]
        if name and (name in texts or (shape_of(name) and len(same) * 2 >= len(texts))):
            return False
    return True


def _repeats(cells: Sequence[str], header: Sequence[str]) -> bool:
    return [cell.strip() for cell in cells[: len(header)]] == [cell.strip() for cell in header]


def _distinct(header: Sequence[str], width: int) -> list[str]:
    """Return a distinct name for every column; a column without a name is named by its number."""
    names = (" ".join(header[index].split()) if index < len(header) else "" for index in range(width))
    return [name or str(index + 1) for index, name in enumerate(names)]


def _padded(cells: Sequence[str], width: int) -> list[str]:
    kept = [cell.strip() for cell in cells[:width]]
    return kept + [""] * (width - len(kept))


def _without_totals(
    rows: Sequence[Row], totals: Collection[int], named: Collection[int], numbers: Sequence[int]
) -> tuple[list[Row], Row | None]:
    """Return the rows without those in `totals` that really are sums of others, and the last such row.

    The last row counts as a total even if it isn't the sum, if it is in `named`.
    """
    if not totals:
        return list(rows), None
    kept: list[Row] = []
    total = None
    whole, since = (dict.fromkeys(numbers, Decimal(0)) for _ in range(2))
    for place, row in enumerate(rows):
        figures = {column: Decimal(repr(row.values[column].number or 0)) for column in numbers}
        stated = (column for column in numbers if row.values[column].number is not None)
        is_sum = place in totals and any(figures[each] in (whole[each], since[each]) for each in stated)
        if kept and (is_sum or (place == len(rows) - 1 and place in named)):
            total = row
            since = dict.fromkeys(numbers, Decimal(0))
            continue
        kept.append(row)
        for column, figure in figures.items():
            whole[column] += figure
            since[column] += figure
    return kept, total


def _is_total(cells: Sequence[str]) -> bool:
    """Whether the first text of a row is a word for a total."""
    first = next(filter(None, cells), "")
    if len(first) > _LONGEST_TOTAL or not first[:1].isalpha():
        return False
    return _AFTER_TOTAL.sub("", folded(first)) in word_set("values", "totals")


def says_total(cells: Sequence[str]) -> bool:
    """Return whether a cell of a row begins or ends with a word for a total: "Subtotal May", "North Total"."""
    words = [_AFTER_TOTAL.sub("", folded(cell)).split() for cell in cells if 0 < len(cell) <= _LONGEST_TOTAL]
    return _is_total(cells) or any({each[0], each[-1]} & word_set("values", "totals") for each in words if each)


_PREFIX = re.compile(r"[ \t>]*")
# Org writes a plus between the columns.
_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*\|?")
_BORDER = re.compile(r"\+[-=+ ]+\+")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_MARKS = re.compile(r"\*\*|`")
_FURTHEST = 5_000_000  # characters: bounds the time if a table has no end; a guess, not measured
_WRAPPED = re.compile(r"([*_])([^*_].*)\1")


class _Text(NamedTuple):
    """A line of the document without its indentation and quotation marks, which begin at offset `line_start`."""

    line_start: int
    start: int
    end: int
    text: str


class BarTable(NamedTuple):
    """The rows of a table, and whether a line `|---|---|` follows the first row."""

    lines: list[Line]
    has_rule: bool


def bar_tables(content: str) -> Iterator[BarTable]:
    """Yield the tables of a text in order."""
    run: list[_Text] = []
    reached = -1
    for line in _lines_with_bars(content):
        if run and line.line_start > reached and not _only_border(content, reached, line.line_start):
            yield from _tables(run)
            run = []
        run.append(line)
        reached = content.find("\n", line.end) + 1 or len(content)
    yield from _tables(run)


def header_above(content: str, start: int) -> str:
    """Return the line with the names of the columns of the row at `start`, "" if there is none or it is too far above.

    It is the first line of its block, is followed by a line `| --- |`, and no blank line divides it from the row.
    """
    furthest = max(0, start - _FURTHEST)
    blank = content.rfind("\n\n", furthest, start)
    begin = blank + 2 if blank >= 0 else 0
    end = content.find("\n", begin, start)
    if end < 0 or (blank < 0 and furthest) or content[begin] != "|" or not content.startswith("| ---", end + 1):
        return ""
    return content[begin:end]


def plain_cell(cell: str) -> str:
    """Return the text of a cell without Markdown's marks, and without what is struck out."""
    cell = cell.strip()
    if "~~" in cell:
        cell = STRUCK.sub("", cell)
    if "\\" in cell:
        cell = cell.replace("\\|", "|")
    if "<" in cell:
        cell = _BREAK.sub(" ", cell)
    if "[" in cell:
        cell = _LINK.sub(r"\1", cell)
    if "**" in cell or "`" in cell:
        cell = _MARKS.sub("", cell)
    if cell[:1] in ("*", "_") and (wrapped := _WRAPPED.fullmatch(cell)):
        cell = wrapped[2]
    return cell.strip()


def _lines_with_bars(content: str) -> Iterator[_Text]:
    bar = content.find("|")
    reached = 0
    while bar >= 0:
        start = content.rfind("\n", reached, bar) + 1 or reached
        line_end = content.find("\n", bar)
        reached = line_end if line_end >= 0 else len(content)
        text = content[start:reached].rstrip()
        indentation = _PREFIX.match(text)
        skipped = indentation.end() if indentation else 0
        yield _Text(start, start + skipped, start + len(text), text[skipped:])
        bar = content.find("|", reached)


def _only_border(content: str, start: int, end: int) -> bool:
    """Whether there is only a line such as `+----+----+` between the two offsets."""
    between = content[start:end] if end - start < 5_000 else ""
    lines = [line.strip(" \t>") for line in between.splitlines()]
    return len(lines) == 1 and _BORDER.fullmatch(lines[0]) is not None


def _tables(run: list[_Text]) -> Iterator[BarTable]:
    """Yield the tables in a run of consecutive lines with bars."""
    place = 0
    while place < len(run):
        rule = place + 1 < len(run) and _is_rule(run[place + 1].text) and not _is_rule(run[place].text)
        if rule and len(_cells(run[place].text)) == len(_cells(run[place + 1].text.replace("+", "|"))):
            end = _end(run, place + 2, any_bars=True)
            if end > place + 2:
                yield BarTable([_line(line) for line in (run[place], *run[place + 2 : end])], True)
        else:
            end = _end(run, place, any_bars=False)
            found = [_line(line) for line in run[place:end] if not _is_rule(line.text)]
            if len(found) > 1 and max(len(line.cells) for line in found) > 1:
                yield BarTable(found, False)
            end = max(end, place + 1)
        place = end


def _end(run: list[_Text], place: int, any_bars: bool) -> int:
    """Return where the rows that begin at `place` end: at another table's header, or at a line without outer bars."""
    while place < len(run):
        is_row = any_bars or (run[place].text[0] == "|" and run[place].text[-1] == "|" and len(run[place].text) > 1)
        starts_other = place + 1 < len(run) and _is_rule(run[place + 1].text) and not _is_rule(run[place].text)
        if not is_row or (starts_other and any_bars):
            break
        place += 1
    return place


def _is_rule(text: str) -> bool:
    return text[:2].strip("|:- \t") == "" and "-" in text and _RULE.fullmatch(text) is not None


def _line(line: _Text) -> Line:
    return Line(line.start, line.end, [plain_cell(cell) for cell in _cells(line.text)])


def _cells(text: str) -> list[str]:
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return _BAR.split(text) if "\\" in text else text.split("|")


_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_COMMENT = re.compile(r"(?<=\s)#")


def front_matter(content: str) -> tuple[dict[str, str], int]:
    """Return the metadata at the top of a file, and the offset at which its text begins.

    Understands `key: value` lines, quoted values, comments, and lists (as comma-separated text); nested values are
    skipped. A block with any other line isn't front matter, but text between two rules.
    """
    match = _FRONT_MATTER.match(content)
    if not match:
        return {}, 0
    values: dict[str, list[str]] = {}
    key = ""
    for line in match[1].splitlines():
        entry = line.strip()
        found = _KEY.match(line)
        if not entry or entry.startswith("#"):
            continue
        if found:
            key = found[1]
            values[key] = [found[2] or ""]
        elif key and entry.startswith("- ") and ":" not in entry:
            values[key].append(entry[2:])
        elif not key or not line[0].isspace():
            return {}, 0
    joined = {key: ", ".join(filter(None, map(_plain, lines))) for key, lines in values.items()}
    return {key: value for key, value in joined.items() if value}, match.end()


def _plain(value: str) -> str:
    """Return a front matter value without quotes, a trailing comment, or the brackets of a list."""
    value = value.strip()
    if value[:1] in ("'", '"'):
        closing = value.find(value[0], 1)
        return value[1:closing] if closing > 0 else value[1:]
    if comment := _COMMENT.search(value):
        value = value[: comment.start()].rstrip()
    if value.startswith("[") and value.endswith("]"):
        items = (item.strip() for item in value[1:-1].split(","))
        return ", ".join(_plain(item) for item in items if item and item[0] != "[")
    # Nested and multi-line values are skipped.
    return "" if value[:1] in ("{", "|", ">", "&", "*", "!") else value
