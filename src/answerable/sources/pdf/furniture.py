"""Find running heads, footers, page numbers and line numbers: lines that repeat or count from page to page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from answerable.datatypes import Span

EDGE = 3
LONGEST = 150
LONGEST_NUMBER = 30
SHORT = 12
WINDOW = 4
REPEATS = 2
MANY = 4
FEWEST_LETTERS = 5
MISPRINTS = 2
FEWEST_LINES = 8
FEWEST_FIFTHS = 4
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMERAL = r"(\d{1,4}|[ivxlc]{1,7})"
# "12", "- 12 -", "12 / 63", "Page 12 of 63", "Página 12 de 63".
_PAGE_NUMBER = re.compile(rf"\W*(?:p[aá]g(?:e|ina|\.)? |p\. ?)?{_NUMERAL}(?:(?: ?/ ?| of | de )\d+)?\W*")
_NUMBER_BESIDE = re.compile(_NUMERAL)
_LINE_NUMBER = re.compile(r"\n(\d{1,4}) *(?=\n)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

Edges = Sequence[tuple[str, Span]]


def furniture(pages: Sequence[str]) -> list[list[Span]]:
    """Return for each page the spans of its furniture, in order.

    A line is furniture if it is among the first or last three of its page and repeats on at least two of the four pages
    before and after; its numbers may grow by one per page. So is a number alone that counts the pages, and the first
    or last line with such a number at its side. Numbers of lines are furniture everywhere. If that would be most of the
    text, nothing is furniture.
    """
    edges = [[(page[start:end].strip().casefold(), (start, end)) for start, end in _edges(page)] for page in pages]
    found: list[set[Span]] = [set(_line_numbers(page)) for page in pages]
    for number, span in (*_repeated(edges, pages), *_counted(edges)):
        found[number].add(span)
    covered = sum(end - start for spans in found for start, end in spans)
    # Tickets and labels with a line or two per page have no other text.
    return [sorted(spans) for spans in found] if 2 * covered <= sum(map(len, pages)) else [[] for _ in pages]


def _edges(page: str) -> list[Span]:
    """Return the first and last three lines that aren't blank, with their line ends."""
    lines = [match.span() for match in _LINE.finditer(page) if not match[0].isspace()]
    edges = lines[:EDGE] + lines[EDGE:][-EDGE:]
    return [(start, end) for start, end in edges if end - start <= LONGEST]


def _repeated(edges: Sequence[Edges], pages: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Yield the page and span of each line that nearby pages repeat, apart from the numbers in it."""
    seen: defaultdict[str, dict[int, list[tuple[list[int], Span]]]] = defaultdict(dict)
    for number, lines in enumerate(edges):
        for text, span in lines:
            values = [_value(match[0]) for match in _NUMBER.finditer(text)]
            seen[_NUMBER.sub("#", text)].setdefault(number, []).append((values, span))
    for same in seen.values():
        for number, lines_of_page in same.items() if len(same) > REPEATS else ():
            for values, span in lines_of_page:
                near = [page for page in _near(number, len(pages)) if page in same]
                alike = [any(_alike(values, other, page - number) for other, _ in same[page]) for page in near]
                if sum(alike) >= REPEATS and not _recurs(pages[number], span):
                    yield number, span


def _near(number: int, count: int) -> list[int]:
    return [page for page in range(max(number - WINDOW, 0), min(number + WINDOW + 1, count)) if page != number]


def _recurs(page: str, span: Span) -> bool:
    """Whether the line stands again within the page, as a cell or a brace that happens to be at the edge does."""
    line = page[slice(*span)].strip()
    if page.count(line) < 2:
        return False
    return len(line) < SHORT or [other.strip() for other in page.split("\n")].count(line) > 1


def _counted(edges: Sequence[Edges]) -> Iterator[tuple[int, Span]]:
    """Yield the page and span of each line with a number that counts the pages."""
    marks = [list(_marks(lines)) for lines in edges]
    shifts = [{value - number for value, _, _ in page} for number, page in enumerate(marks)]
    texts = [[(text, value - number) for value, text, _ in page if text] for number, page in enumerate(marks)]
    for number, page in enumerate(marks):
        near = _near(number, len(edges)) if page else []
        support = {shift: sum(shift in shifts[other] for other in near) for shift in shifts[number]}
        best = max(support.values(), default=0)
        for value, text, span in page:
            shift = value - number
            needed = MANY if text else min(REPEATS, len(near))
            # Figures at the edge may seem to count, but hardly as many pages as the page numbers do.
            counts = 0 < needed <= support[shift] == best
            if counts or (text and sum(_names(texts[other], text, shift) for other in near) >= REPEATS):
                yield number, span


def _marks(lines: Edges) -> Iterator[tuple[int, str, Span]]:
    """Yield the numbers that may count pages, the letters beside them if any, and the span of the line.

    Text beside them is as in "Chapter 2: Setup 17" or "16 The Manual"; "1. Introduction" is a heading.
    """
    for place, (text, span) in enumerate(lines):
        if len(text) <= LONGEST_NUMBER and (alone := _PAGE_NUMBER.fullmatch(text)):
            yield _value(alone[1]), "", span
        elif place in (0, len(lines) - 1):
            first, _, after = text.partition(" ")
            before, _, last = text.rpartition(" ")
            for numeral, rest in ((first, after), (last, before)):
                letters = "".join(filter(str.isalpha, rest)) if _NUMBER_BESIDE.fullmatch(numeral) else ""
                if len(letters) >= FEWEST_LETTERS:
                    yield _value(numeral), letters, span


def _names(texts: Sequence[tuple[str, int]], text: str, shift: int) -> bool:
    """Whether a page has the text beside about the number expected there: scans lack pages, and misread some."""
    return any(other == text and abs(found - shift) <= MISPRINTS for other, found in texts)


def _line_numbers(page: str) -> Iterator[Span]:
    """Yield the spans of lines that are but a number of those that count the lines of a page: 1, 2, 3 or 5, 10, 15."""
    numbers = [(int(match[1]), match.start(), match.end()) for match in _LINE_NUMBER.finditer(f"\n{page}\n")]
    run = numbers[:1]
    for one, other in pairwise([*numbers, (0, -1, -1)]):
        step = other[0] - one[0]
        follows = other[1] == one[2] and step == (run[1][0] - run[0][0] if len(run) > 1 else step) and step in (1, 5)
        if follows:
            run.append(other)
            continue
        is_count = len(run) >= FEWEST_FIFTHS and len(run) * (run[1][0] - run[0][0]) >= FEWEST_LINES
        yield from ((start, min(end, len(page))) for _, start, end in run if is_count)
        run = [other]


def _alike(values: list[int], others: list[int], pages: int) -> bool:
    return all(other - value in (0, pages) for value, other in zip(values, others, strict=True))


def _value(numeral: str) -> int:
    if numeral.isdecimal():
        # Longer numbers aren't page numbers; their last digits suffice to compare them.
        return int(numeral[-9:])
    digits = [_ROMAN[letter] for letter in numeral]
    return sum(-digit if digit < max(digits[place:]) else digit for place, digit in enumerate(digits))
