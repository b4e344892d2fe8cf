"""Whether a reader tells the place of a passage.

Ours is right if the citation of the words says the place, and nothing wider: one page, one row, one message. Markdown
has no citations. It is right if a person can tell the place from the text: see `_TOLD`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from format_files.sample import Probe

Place = Mapping[str, Any]
BEFORE, AFTER = 2500, 300
"""A sender and a time are told if they stand at most so many characters before or after what was written."""
_CELLS = re.compile(r"(?P<sheet>.+)!(?P<first>[A-Z]+)(?P<top>\d+)(?::(?P<last>[A-Z]+)(?P<bottom>\d+))?")
_LINES = re.compile(r"L(\d+)(?:-L(\d+))?")
_CUE = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})[ \t]+-->")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
_MARK = re.compile(r"(?<!\S)#{1,6} +")
_TAG = re.compile(r"<(/?)[a-zA-Z][^<>]*?(/?)>")
_SLIDE = re.compile(r"<!-- Slide number: (\d+) -->")
_SHEET = re.compile(r"^## (.+)$", re.MULTILINE)
_MEMBER = re.compile(r"^#+ File: (.+)$", re.MULTILINE)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
SECONDS = 2
MARGIN = 0.02


def cited(places: list[Place], probe: Probe) -> bool:
    """Whether one of our citations of the probe's words is right."""
    return any(all(_CITED[fact](place, value) for fact, value in probe.place.items()) for place in places)


def told(markdown: str, spans: list[tuple[int, int]], probe: Probe) -> bool:
    """Whether Markdown tells the place of one of these spans."""
    return any(all(_tells(markdown, start, fact, value) for fact, value in probe.place.items()) for start, _ in spans)


def _tells(markdown: str, start: int, fact: str, value: Any) -> bool:
    return fact in _TOLD and _TOLD[fact](markdown, start, value)


def _numbered(unit: str) -> Callable[[Place, int], bool]:
    return lambda place, number: place["unit"] == unit and place["pages"] == [number, number]


def _is_in_cells(place: Place, cell: str) -> bool:
    """Whether the place is the cell, or a part of its row that has the cell in it."""
    named, wanted = _CELLS.match(place["place"] or ""), _CELLS.match(cell)
    if named is None or wanted is None or named["sheet"].strip("'") != wanted["sheet"]:
        return False
    columns = (named["first"], wanted["first"], named["last"] or named["first"])
    left, column, right = ((len(name), name) for name in columns)
    rows = {named["top"], named["bottom"] or named["top"]}
    return rows == {wanted["top"]} and left <= column <= right


def _is_between(place: Place, lines: list[int]) -> bool:
    match = _LINES.search(place["place"] or "")
    return match is not None and [int(match[1]), int(match[2] or match[1])] == lines


def _is_on_point(place: Place, point: list[float]) -> bool:
    if place["box"] is None:
        return False
    left, top, right, bottom = place["box"]
    return left - MARGIN <= point[0] <= right + MARGIN and top - MARGIN <= point[1] <= bottom + MARGIN


def _title(text: str) -> str:
    return " ".join(re.sub(r"[*_`\\\u200b]|\]\([^)]*\)|\[", "", text).split())


_CITED: dict[str, Callable[[Place, Any], bool]] = {
    "page": _numbered("page"),
    "slide": _numbered("slide"),
    "notebook": _numbered("cell"),
    "cell": _is_in_cells,
    "line": lambda place, line: bool(place["lines"]) and place["lines"][0] == line,
    "lines": _is_between,
    "heading": lambda place, title: bool(place["headings"]) and _title(place["headings"][-1]) == title,
    "time": lambda place, time: place["times"] == [time, time] or place["times"] == [time],
    "sender": lambda place, sender: [each.lower() for each in place["senders"]] == [sender.lower()],
    "second": lambda place, second: bool(place["seconds"]) and abs(place["seconds"][0] - second) <= SECONDS,
    "member": lambda place, name: place["source"].rpartition("!/")[2].endswith(name),
    "point": _is_on_point,
}


def _last(pattern: re.Pattern[str], markdown: str, start: int) -> str:
    """What the last match before a passage names, or nothing."""
    line_end = markdown.find("\n", start)
    found = list(pattern.finditer(markdown, 0, len(markdown) if line_end < 0 else line_end))
    return next((match[1] for match in reversed(found) if match.start() <= start), "")


def _page(markdown: str, start: int, page: int) -> bool:
    """Form feeds between pages tell the page."""
    return "\f" in markdown.strip("\f") and markdown.count("\f", 0, start) == page - 1


def _row(markdown: str, start: int, first: int) -> int:
    """The number of a table's row, counted from its head, 1; 0 outside of tables."""
    lines = markdown[first:start].split("\n")
    rows = [line for line in lines if line.startswith("|") and not _RULE.fullmatch(line.strip())]
    current = markdown[markdown.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return len(rows) if current.startswith("|") else 0


def _cell(markdown: str, start: int, cell: str) -> bool:
    """The heading names the sheet; the row can be counted if no row before was left out."""
    wanted = _CELLS.match(cell)
    sheet = _last(_SHEET, markdown, start)
    first = markdown.rfind(f"## {sheet}", 0, start)
    return wanted is not None and sheet == wanted["sheet"] and _row(markdown, start, first) == int(wanted["top"])


def _line(markdown: str, start: int, line: int) -> bool:
    """The line can be counted if the text is kept as it is, or the row if it is made a table."""
    first = max((match.end() for match in _MEMBER.finditer(markdown, 0, start)), default=0)
    text = markdown[first:].lstrip("\n")
    begin = len(markdown) - len(text)
    return line in (text.count("\n", 0, start - begin) + 1, _row(markdown, start, begin))


def _lines(markdown: str, start: int, lines: list[int]) -> bool:
    return lines[0] <= markdown.count("\n", 0, start) + 1 <= lines[1]


def _heading(markdown: str, start: int, title: str) -> bool:
    """A heading of Markdown stands above, also within a line; in the source of XML, the element that it is in."""
    if markdown.startswith("<?xml"):
        return title in _element(markdown, start)
    marks = list(_MARK.finditer(markdown, 0, start))
    after = markdown[marks[-1].end() : marks[-1].end() + 400] if marks else ""
    return title in (_title(_last(_HEADING, markdown, start)), _title(after)[: len(title)])


def _element(markdown: str, start: int) -> str:
    """The tag of the innermost element of XML around a passage."""
    open_tags = [""]
    for tag in _TAG.finditer(markdown, 0, start):
        if tag[1]:
            open_tags.pop()
        elif not tag[2]:
            open_tags.append(tag[0])
    return open_tags[-1]


def _near(markdown: str, start: int) -> str:
    return markdown[max(start - BEFORE, 0) : start + AFTER]


def _time(markdown: str, start: int, time: str) -> bool:
    """The time of day stands near, as clocks show it."""
    hour, minute = int(time[-5:-3]), time[-2:]
    return re.search(rf"(?<!\d)(?:0?{hour}|0?{hour % 12 or 12}):{minute}", _near(markdown, start)) is not None


def _second(markdown: str, start: int, second: float) -> bool:
    cues = list(_CUE.finditer(markdown, 0, start))
    if not cues:
        return False
    hours, minutes, seconds, thousandths = (int(each or 0) for each in cues[-1].groups())
    return abs(hours * 3600 + minutes * 60 + seconds + thousandths / 1000 - second) <= SECONDS


_TOLD: dict[str, Callable[[str, int, Any], bool]] = {
    "page": _page,
    "slide": lambda markdown, start, slide: _last(_SLIDE, markdown, start) == str(slide),
    "cell": _cell,
    "line": _line,
    "lines": _lines,
    "heading": _heading,
    "time": _time,
    "sender": lambda markdown, start, sender: sender in _near(markdown, start),
    "second": _second,
    "member": lambda markdown, start, name: _last(_MEMBER, markdown, start).endswith(name),
}
"""How Markdown tells each fact of a place. Cells of notebooks and points of pictures have no mark in it."""
