"""Running heads, footers and page numbers: the lines at the edges of pages that come back page after page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from answerable.datatypes import Span

EDGE = 3
LONGEST = 150
WINDOW = 4
REPEATS = 2
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def furniture(pages: Sequence[str]) -> list[list[Span]]:
    """For each page the spans of its lines that are furniture, in order.

    A line is, if it stands among the first or last three of its page and reads the same on two more pages of the four
    before and after, but for numbers that go on by one with each page. Where that is most of the text, it is the text.
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
    # Tickets and labels, a line or two a page, say nothing else.
    return [sorted(spans) for spans in found] if 2 * covered <= sum(map(len, pages)) else [[] for _ in pages]


def _repeated(spans: dict[int, list[Span]], pages: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Those of the lines that are alike but for their numbers which come back on pages near them."""
    values = {
        (number, span): [_value(match[0]) for match in _NUMBER.finditer(pages[number][slice(*span)].casefold())]
        for number, lines in spans.items()
        for span in lines
    }
    for (number, span), numbers in values.items():
        # A cell or a brace that happens to stand at the edge has its like within the page.
        if pages[number].count(pages[number][slice(*span)].strip()) > 1:
            continue
        near = [page for page in range(number - WINDOW, number + WINDOW + 1) if page != number and page in spans]
        alike = [any(_alike(numbers, values[page, other], page - number) for other in spans[page]) for page in near]
        if sum(alike) >= REPEATS:
            yield number, span


def _edges(page: str) -> Iterator[Span]:
    """The first and last lines that aren't blank, with their line ends."""
    first: list[Span] = []
    last: list[Span] = []
    start = 0
    while start < len(page) and len(first) < EDGE:
        end = page.find("\n", start) + 1 or len(page)
        if not page[start:end].isspace():
            first.append((start, end))
        start = end
    reached, end = start, len(page)
    while end > reached and len(last) < EDGE:
        start = page.rfind("\n", reached, end - 1) + 1 or reached
        if not page[start:end].isspace():
            last.append((start, end))
        end = start
    yield from first
    yield from reversed(last)


def _alike(values: list[int], others: list[int], pages: int) -> bool:
    return all(other - value in (0, pages) for value, other in zip(values, others, strict=True))


def _value(numeral: str) -> int:
    if numeral.isdecimal():
        # Longer ones count no pages; what they are modulo this is as good for telling whether they are the same.
        return int(numeral[-9:])
    digits = [_ROMAN[letter] for letter in numeral]
    return sum(-digit if digit < max(digits[place:]) else digit for place, digit in enumerate(digits))
