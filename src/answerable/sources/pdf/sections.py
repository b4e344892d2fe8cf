"""Find where the sections of a PDF begin: from its outline, otherwise from lines in larger type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import accumulate, takewhile
from typing import NamedTuple

from answerable.datatypes import Span

LARGER = 1.15
LONGEST = 120
LEVELS = 4
MOST = 0.1
PREFIX = 16
SHORTEST = 4
LINES = 3
_LETTERS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+")
_LEVELS = re.compile(r"\s*(?:§\s*)?(?:\d+|[A-Z])(?:\.\d+)+\.?(?:\s|$)")
_NUMERAL = re.compile(
    r"(?:chapter|part|section|appendix|annex|cap[ií]tulo|parte|secci[oó]n|seç[aã]o|ap[eé]ndice|ap[eê]ndice|anexo)?"
    r"(?:[ivxlc]+|[a-z])"
)

Section = tuple[int, tuple[str, ...]]


class _Line(NamedTuple):
    start: int
    text: str
    size: float
    page: int


def outline_sections(
    outline: Iterable[tuple[int, str, int]],
    pages: Sequence[str],
    starts: Sequence[int],
    skipped: Sequence[Sequence[Span]],
) -> list[Section]:
    """Return where each entry (level, title, page) of an outline begins in the document, and its path of titles.

    An entry begins at the line of its page, after the previous entry, that matches its title best, with or without a
    number before it; without such a line, at the beginning of the page. Lines in the `skipped` spans are ignored.
    """
    sections: list[Section] = []
    path: list[str] = []
    for level, title, page in outline:
        path = [*path[:level], title]
        if 0 <= page < len(pages):
            reached = max(sections[-1][0] - starts[page], 0) if sections else 0
            offset = max(_find(title, pages[page], skipped[page], reached), reached)
            sections.append((starts[page] + offset, tuple(path)))
    return sections


def size_sections(
    pages: Sequence[str], starts: Sequence[int], sizes: Sequence[Sequence[float]], skipped: Sequence[Sequence[Span]]
) -> list[Section]:
    """Return where each heading in larger type begins, and the path of headings to it.

    `sizes` are the type sizes of the pages' lines. Conservative: headings are at least 15 % larger than the text and a
    small share of it. Consecutive lines of one size are one heading.
    """
    lines = list(_lines(pages, starts, sizes, skipped))
    levels = _levels(lines)
    sections: list[Section] = []
    path: dict[int, str] = {}
    before: tuple[float, int] | None = None
    for line in lines:
        level = levels.get(line.size)
        text = " ".join(line.text.split())
        if level is not None and before == (line.size, line.page) and len(path[level]) + len(text) < LONGEST:
            path[level] = f"{path[level]} {text}"
            sections[-1] = (sections[-1][0], tuple(path[key] for key in sorted(path)))
        elif level is not None and _is_heading(text):
            path = {key: path[key] for key in path if key < level} | {level: text}
            sections.append((line.start, tuple(path[key] for key in sorted(path))))
        else:
            before = None
            continue
        before = (line.size, line.page)
    return sections


def _lines(
    pages: Sequence[str], starts: Sequence[int], sizes: Sequence[Sequence[float]], skipped: Sequence[Sequence[Span]]
) -> Iterator[_Line]:
    for number, page in enumerate(pages):
        offset = 0
        for text, size in zip(page.split("\n"), sizes[number], strict=False):
            if text.strip() and not _within(offset, skipped[number]):
                yield _Line(starts[number] + offset, text, size, number)
            offset += len(text) + 1


def _levels(lines: Sequence[_Line]) -> dict[float, int]:
    """Map each type size of headings to its level, from 0."""
    characters: Counter[float] = Counter()
    for line in lines:
        characters[line.size] += len(line.text)
    body = max(characters, key=characters.__getitem__, default=0.0)
    large = sorted((size for size in characters if size >= body * LARGER), reverse=True)
    if sum(characters[size] for size in large) > MOST * characters.total():
        return {}
    return {size: min(level, LEVELS - 1) for level, size in enumerate(large)}


def _is_heading(text: str) -> bool:
    return 3 <= len(text) <= LONGEST and sum(map(str.isalpha, text)) * 2 > len(text) and text[-1] not in ".,;"


def _within(offset: int, spans: Sequence[Span]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _find(title: str, page: str, skipped: Sequence[Span], reached: int) -> int:
    """Return where one to three lines match the title, 0 without a match.

    "1.4. Setup" on the page may be "Setup" in the outline, and vice versa. A line that has a number of several levels
    before the title wins, then the title alone, then a plain number or a word before it.
    """
    wanted = _letters(title)
    best = len(_Rank), 0
    longest_line = 2 * (len(wanted) + PREFIX)
    for start in _candidates(title, page, reached) if wanted else ():
        if _within(start, skipped):
            continue
        for number, text in enumerate(accumulate(_short_lines(page, start, longest_line)), 1):
            rank = _rank(text, wanted, page[start:].split("\n", number)[:number])
            if rank is not None and rank < best[0]:
                best = rank, start
    return best[1]


class _Rank(IntEnum):
    """How well lines match a title, best first."""

    LEVELS = 0
    ALONE = 1
    NUMBER = 2
    WORDS = 3


def _rank(text: str, wanted: str, lines: Sequence[str]) -> _Rank | None:
    """Return how well the letters of lines match those of a title."""
    if text == wanted:
        return _Rank.LEVELS if _LEVELS.match(lines[0]) else _Rank.ALONE
    if text.endswith(wanted) and len(text) - len(wanted) <= PREFIX:
        if _LEVELS.match(lines[0]):
            return _Rank.LEVELS
        return _Rank.NUMBER if _is_number(text[: -len(wanted)]) else _Rank.WORDS
    if len(text) >= SHORTEST and wanted.endswith(text) and _is_number(wanted[: -len(text)]):
        return _Rank.WORDS
    return None


def _short_lines(page: str, start: int, longest: int) -> list[str]:
    """Return the letters of up to three lines from `start`; stop at a line longer than `longest`."""
    lines = page[start : start + LINES * (longest + 1)].split("\n")[:LINES]
    return [_letters(line) for line in takewhile(lambda line: len(line) <= longest, lines)]


def _candidates(title: str, page: str, reached: int) -> list[int]:
    """Return the starts of lines that contain the title's longest word, and of the two lines before each."""
    lower = page.lower()
    if len(lower) != len(page):
        # A few capitals are longer in lower case, which would shift the offsets.
        lower = page
    # The dash or apostrophe within a word may be another one on the page.
    words = sorted(set(_WORD.findall(title.lower())), key=len, reverse=True)
    word = next((word for word in words[:LINES] if word in lower), "")
    starts: set[int] = set()
    place = lower.find(word, reached) if word else -1
    while place >= 0:
        line_start = place
        for _ in range(LINES):
            line_start = page.rfind("\n", 0, max(line_start, 0)) + 1
            if line_start >= reached:
                starts.add(line_start)
            line_start -= 1
        place = lower.find(word, place + 1)
    return sorted(starts)


def _letters(text: str) -> str:
    return _LETTERS.sub("", text).casefold()


def _is_number(prefix: str) -> bool:
    """Whether letters and digits before a title are its number: `14`, `chapter3`, `iv`, `appendixa`."""
    return 0 < len(prefix) <= PREFIX and (any(map(str.isdigit, prefix)) or _NUMERAL.fullmatch(prefix) is not None)
