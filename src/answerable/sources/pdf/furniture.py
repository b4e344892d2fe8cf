"""Find running heads, footers and page numbers: lines at the edges of pages that repeat from page to page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from answerable.datatypes import Span

EDGE = 3
LONGEST = 150
WINDOW = 4
REPEATS = 2
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def furniture(pages: Sequence[str]) -> list[list[Span]]:
    """Return for each page the spans of its furniture, in order.

    A line is furniture if it is among the first or last three of its page and repeats on at least two of the four pages
    before and after; its numbers may grow by one per page. If that would be most of the text, nothing is furniture.
    """
    seen: defaultdict[str, dict[int, list[Span]]] = defaultdict(dict)
    for number, page in enumerate(pages):
        for start, end in _edges(page):
            if end - start <= LONGEST:
                key = _NUMBER.sub("#", page[start:end].strip().casefold())
                seen[key].setdefault(number, []).append((start, end))
    found: list[list[Span]] = [[] for _ in pages]
    for spans in seen.values():
        if len(spans) > REPEATS:
            for number, span in _repeated(spans, pages):
                found[number].append(span)
    covered = sum(end - start for spans in found for start, end in spans)
    # Tickets and labels with a line or two per page have no other text.
    return [sorted(spans) for spans in found] if 2 * covered <= sum(map(len, pages)) else [[] for _ in pages]


def _repeated(spans: dict[int, list[Span]], pages: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Yield the page and span of each line that nearby pages repeat, apart from the numbers in it."""
    values = {
        (number, span): [_value(match[0]) for match in _NUMBER.finditer(pages[number][slice(*span)].casefold())]
        for number, lines in spans.items()
        for span in lines
    }
    for (number, span), numbers in values.items():
        # A cell or a brace that happens to be at the edge occurs again within the page.
        if pages[number].count(pages[number][slice(*span)].strip()) > 1:
            continue
        near = [page for page in range(number - WINDOW, number + WINDOW + 1) if page != number and page in spans]
        alike = [any(_alike(numbers, values[page, other], page - number) for other in spans[page]) for page in near]
        if sum(alike) >= REPEATS:
            yield number, span


def _edges(page: str) -> list[Span]:
    """Return the first and last three lines that aren't blank, with their line ends."""
    lines = [match.span() for match in _LINE.finditer(page) if not match[0].isspace()]
    return lines[:EDGE] + lines[EDGE:][-EDGE:]


def _alike(values: list[int], others: list[int], pages: int) -> bool:
    return all(other - value in (0, pages) for value, other in zip(values, others, strict=True))


def _value(numeral: str) -> int:
    if numeral.isdecimal():
        # Longer numbers aren't page numbers; their last digits suffice to compare them.
        return int(numeral[-9:])
    digits = [_ROMAN[letter] for letter in numeral]
    return sum(-digit if digit < max(digits[place:]) else digit for place, digit in enumerate(digits))
