"""Where the sections of a PDF begin: its outline found again in the text, or else lines set larger than the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, takewhile

from answerable.datatypes import Span

LARGER = 1.15
LONGEST = 120
LEVELS = 4
MOST = 0.1
PREFIX = 16
SHORTEST = 4
LINES = 3
_LETTERS = re.compile(r"[\W_]+")

Section = tuple[int, tuple[str, ...]]


def outline_sections(
    outline: Iterable[tuple[int, str, int]],
    pages: Sequence[str],
    starts: Sequence[int],
    skipped: Sequence[Sequence[Span]],
) -> list[Section]:
    """Where each entry (level, title, page) of an outline begins in the document, and the path of titles to it.

    An entry begins at the line that reads as its title (a number before it aside), if there is one on its page behind
    the entry before, otherwise at the beginning of the page. Lines of the `skipped` spans don't count.
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
    """Where headings stand that are set larger than the text, and the path of headings to each.

    `sizes` are those of the pages' lines. Conservative: a size is one of headings only if it is larger by 15 % and
    little of the text has it; neighbouring lines of one size are one heading.
    """
    if len(set(chain.from_iterable(sizes))) < 2:
        return []
    lines = [
        (starts[number] + offset, line, size, number)
        for number, page in enumerate(pages)
        for (offset, line), size in zip(_with_offsets(page), sizes[number], strict=False)
        if line.strip() and not _within(offset, skipped[number])
    ]
    characters: Counter[float] = Counter()
    for _, line, size, _ in lines:
        characters[size] += len(line)
    if not characters:
        return []
    body = characters.most_common(1)[0][0]
    large = sorted((size for size in characters if size >= body * LARGER), reverse=True)
    if sum(characters[size] for size in large) > MOST * characters.total():
        return []
    levels = {size: min(level, LEVELS - 1) for level, size in enumerate(large)}
    sections: list[Section] = []
    path: dict[int, str] = {}
    before: tuple[float, int] | None = None
    for offset, line, size, number in lines:
        level = levels.get(size)
        text = " ".join(line.split())
        if level is not None and before == (size, number) and len(path[level]) + len(text) < LONGEST:
            path[level] = f"{path[level]} {text}"
            sections[-1] = (sections[-1][0], tuple(path[key] for key in sorted(path)))
        elif level is not None and _is_heading(text):
            path = {key: path[key] for key in path if key < level} | {level: text}
            sections.append((offset, tuple(path[key] for key in sorted(path))))
        else:
            before = None
            continue
        before = (size, number)
    return sections


def _is_heading(text: str) -> bool:
    return 3 <= len(text) <= LONGEST and sum(map(str.isalpha, text)) * 2 > len(text) and text[-1] not in ".,;"


def _with_offsets(page: str) -> Iterable[tuple[int, str]]:
    offset = 0
    for line in page.split("\n"):
        yield offset, line
        offset += len(line) + 1


def _within(offset: int, spans: Sequence[Span]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _find(title: str, page: str, skipped: Sequence[Span], reached: int) -> int:
    """Where up to three lines read as the title, from an offset on; 0 where none do. Those without a prefix come first.

    "1.4. Setup" on the page may be "Setup" in the outline, or the other way round.
    """
    wanted = _letters(title)
    candidates = [start for start in _candidates(title, page, reached) if not _within(start, skipped)] if wanted else []
    longest_line = 2 * (len(wanted) + PREFIX)
    lines = {start: _short_lines(page, start, longest_line) for start in candidates}
    for longest in (0, PREFIX):
        for start in candidates:
            for text in accumulate(lines[start]):
                if text.endswith(wanted) and len(text) - len(wanted) <= longest:
                    return start
                if longest and len(text) >= SHORTEST and wanted.endswith(text) and _is_number(wanted[: -len(text)]):
                    return start
    return 0


def _short_lines(page: str, start: int, longest: int) -> list[str]:
    """The letters of up to three lines from a place on, until one is longer."""
    lines = page[start : start + LINES * (longest + 1)].split("\n")[:LINES]
    return [_letters(line) for line in takewhile(lambda line: len(line) <= longest, lines)]


def _candidates(title: str, page: str, reached: int) -> list[int]:
    """Where the lines begin, from an offset on, that hold the longest word of the title or stand just before it."""
    lower = page.lower()
    if len(lower) != len(page):
        # A few capitals are longer in lower case, and then its offsets aren't ours.
        lower = page
    word = max(title.lower().split(), key=len)
    starts: set[int] = set()
    place = lower.find(word, reached)
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
    return 0 < len(prefix) <= PREFIX and any(character.isdigit() for character in prefix)
