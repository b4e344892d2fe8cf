"""Find tables drawn with bars, `| a | b |`, with or without the line `|---|---|` below their header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from answerable.tables.grid import Line

_PREFIX = re.compile(r"[ \t>]*")
# Org puts a plus between the columns.
_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*\|?")
_BORDER = re.compile(r"\+[-=+ ]+\+")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_MARKS = re.compile(r"\*\*|`|~~")
_FURTHEST = 5_000_000
_WRAPPED = re.compile(r"([*_])([^*_].*)\1")


class _Text(NamedTuple):
    """A line of the document without its indentation or quotation marks; `line_start` is where they begin."""

    line_start: int
    start: int
    end: int
    text: str


class BarTable(NamedTuple):
    """The rows of a table, and whether a line `|---|---|` follows the first."""

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
    """Return the line that names the columns of the row at `start`, "" if there is none or it is far above.

    It is the first line of the block, with a line `| --- |` below it; no blank line is between it and the row.
    """
    furthest = max(0, start - _FURTHEST)
    blank = content.rfind("\n\n", furthest, start)
    begin = blank + 2 if blank >= 0 else 0
    end = content.find("\n", begin, start)
    if end < 0 or (blank < 0 and furthest) or content[begin] != "|" or not content.startswith("| ---", end + 1):
        return ""
    return content[begin:end]


def plain_cell(cell: str) -> str:
    """Return the text of a cell without Markdown's marks."""
    cell = cell.strip()
    if "\\" in cell:
        cell = cell.replace("\\|", "|")
    if "<" in cell:
        cell = _BREAK.sub(" ", cell)
    if "[" in cell:
        cell = _LINK.sub(r"\1", cell)
    if "**" in cell or "`" in cell or "~~" in cell:
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
    """Whether there is only a line such as `+----+----+` between two places."""
    between = content[start:end] if end - start < 5_000 else ""
    lines = [line.strip(" \t>") for line in between.splitlines()]
    return len(lines) == 1 and _BORDER.fullmatch(lines[0]) is not None


def _tables(run: list[_Text]) -> Iterator[BarTable]:
    """Yield the tables in consecutive lines with bars."""
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
    """Return where the rows that begin at a place end: before another table's header, or a line without outer bars."""
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
